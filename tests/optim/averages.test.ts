/**
 * Lookahead and SWA against their formulas in doubles, and what they refuse.
 */
import {
  GraphError,
  input,
  makeValue,
  param,
  Stateful,
  type Tensor,
  tensor,
  trace,
} from "@kiln-ml/ir";
import * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Session } from "../nn/fixture.ts";

class Held extends Stateful {
  readonly w: Tensor;
  constructor(values: number[]) {
    super();
    this.w = param(tensor(values, { dtype: "f64" }), { name: "w" });
  }
  checkpoint(): Map<string, Tensor> {
    return new Map([["w", this.w]]);
  }
}

const near = (got: ArrayLike<number>, want: readonly number[]): void => {
  for (const [i, w] of want.entries())
    assert.ok(Math.abs(got[i]! - w) < 1e-7, `${i}: ${got[i]}, want ${w}`);
};

test("lookahead steps back to slow weights at each kth step, and a skipped step does not count", () => {
  const { w } = new Held([1, -2]);
  const inner = new optim.SGD([w], { lr: 0.1, momentum: 0.9 });
  const lookahead = new optim.Lookahead(inner, { k: 3, alpha: 0.4 });
  const when = input("when", "bool", []);
  const { updates } = trace(() => lookahead.apply([w.mul(2)], { when }));
  const session = new Session();
  let [fast, slow, velocity] = [
    [1, -2],
    [1, -2],
    [0, 0],
  ];
  let count = 0;
  for (const flag of [1, 1, 0, 1, 1, 1, 0, 1, 1]) {
    session.run([], updates, new Map([[when, makeValue("bool", [], [flag])]]));
    if (flag) {
      velocity = velocity.map((v, i) => 0.9 * v + 2 * fast[i]!);
      fast = fast.map((x, i) => x - 0.1 * velocity[i]!);
      if (++count % 3 === 0) {
        slow = slow.map((x, i) => x + 0.4 * (fast[i]! - x));
        fast = [...slow];
      }
    }
    near(session.valueOf(w).data, fast);
  }
  assert.equal(
    [...lookahead.checkpoint().keys()],
    ["sgd.w.velocity", "lookahead.step", "lookahead.0.w"],
  );
});

test("an average of weights is their mean over the calls that count", () => {
  const [source, target] = [new Held([3, 1]), new Held([7, 7])];
  const swa = new optim.SWA(target, source, { start: 2, every: 3 });
  const { updates } = trace(() => {
    new optim.SGD([source.w], { lr: 0.1 }).step(source.w.square().sum());
    swa.update();
  });
  const session = new Session();
  let w = [3, 1];
  const taken: number[][] = [];
  for (let call = 0; call < 12; call++) {
    session.run([], updates);
    w = w.map((x) => x - 0.2 * x);
    if (call >= 2 && (call - 2) % 3 === 0) taken.push(w);
    const mean = taken.length
      ? [0, 1].map((i) => taken.reduce((sum, v) => sum + v[i]!, 0) / taken.length)
      : [7, 7];
    near(session.valueOf(target.w).data, mean);
  }
  assert.is(taken.length, 4);
});

const w = param([1, 2], { name: "w" });
const sgd = new optim.SGD([w], { lr: 1 });
const { schedule } = optim;

// biome-ignore format: one refusal a row
const refusals: readonly (readonly [string, string, () => unknown])[] = [
  ["accumulating no step", "sgd: accumulate must be an integer of 1 or more, got 0\n  give the number of calls whose gradients make one step", () => new optim.SGD([w], { lr: 1, accumulate: 0 })],
  ["a limit of 0 for each", "adan: clipEach must be positive, got 0\n  give a number above 0; what is left out has its default", () => new optim.Adan([w], { lr: 1, clipEach: 0 })],
  ["two betas for three", "adan: betas must be 3 numbers, got [0.9, 0.99]\n  leave them out for 0.98, 0.92, 0.99", () => new optim.Adan([w], { lr: 1, betas: [0.9, 0.99] as never })],
  ["too many iterations", "muon: nsSteps must be an integer from 1 to 99, got 100\n  leave it out for 5", () => new optim.Muon([w], { lr: 1, nsSteps: 100 })],
  ["an unknown adjustment", 'muon: adjustLr must be "original" or "matchRmsAdamW", got rms\n  leave it out for "original"', () => new optim.Muon([w], { lr: 1, adjustLr: "rms" as never })],
  ["a module to look ahead for", "lookahead: takes an optimizer first, got Object", () => new optim.Lookahead({} as never)],
  ["looking ahead half a step", "lookahead: k must be an integer of 1 or more, got 0.5\n  give a whole number of steps; what is left out has its default", () => new optim.Lookahead(sgd, { k: 0.5 })],
  ["averaging tensors", "swa: takes two modules, got Tensor", () => new optim.SWA(w as never, w as never)],
  ["a plateau that rises", "reduceOnPlateau: factor must be in [0, 1), got 2\n  give a number of that range; what is left out has its default", () => new optim.ReduceOnPlateau(1, { factor: 2 })],
  ["an unknown mode", 'reduceOnPlateau: mode must be "min" or "max", got low', () => new optim.ReduceOnPlateau(1, { mode: "low" as never })],
  ["milestones out of order", "multiStep: milestones must rise from 0 or more, got [3, 2]\n  give the steps at which the rate changes, in order", () => schedule.multiStep(1, [3, 2])],
  ["a sequence without milestones", "sequential: needs a milestone between each two schedules: 2 schedules, 0 milestones", () => schedule.sequential([schedule.constant(1), schedule.constant(2)], [])],
  ["a number among schedules", "sum: entry 0 must be a schedule, got 1\n  pass schedule.constant(…) for a fixed rate", () => schedule.sum([1 as never])],
  ["a cycle that shrinks", "cosineRestarts: factor must be an integer of 1 or more, got 0.5\n  leave it out for cycles of one length", () => schedule.cosineRestarts(1, 5, { factor: 0.5 })],
];

for (const [name, message, call] of refusals)
  test(`refused: ${name}`, () => {
    let error: Error | undefined;
    try {
      call();
    } catch (e) {
      error = e as Error;
    }
    assert.instance(error, GraphError);
    assert.is(error!.message, message);
  });

test.run();
