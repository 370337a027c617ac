/**
 * Every optimizer over several steps, in f64, against its formula in doubles: two groups, weight decay, clipping, a frozen
 * parameter, steps that are skipped, accumulation.
 */
import { input, makeValue, setFrozen, trace } from "@kiln-ml/ir";
import type * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Session } from "../nn/fixture.ts";
import { groupsOf, kinds, near, problem, settings, slope, starts } from "./kinds.ts";

type Clip = (grads: number[][]) => number[][];
const whole: Clip = (g) => g;
const byNorm = (g: number[], limit: number, norm: number): number[] =>
  g.map((x) => x * Math.min(1, limit / (norm + 1e-6)));

// biome-ignore format: one way a row
const clips: Readonly<Record<string, readonly [Partial<optim.OptimizerOptions>, Clip]>> = {
  "": [{}, whole],
  " clipNorm": [{ clipNorm: 0.7 }, (g) => g.map((x) => byNorm(x, 0.7, Math.hypot(...g.flat())))],
  " clipEach": [{ clipEach: 0.4 }, (g) => g.map((x) => byNorm(x, 0.4, Math.hypot(...x)))],
  " clipValue": [{ clipValue: 0.3 }, (g) => g.map((x) => x.map((v) => Math.min(0.3, Math.max(-0.3, v))))],
};

const steps = 8;
/** State in f32 of the counter and the rounding of constants leave about this. */
const tolerance = 1e-9;

for (const [name, [make, rule]] of Object.entries(kinds))
  for (const [how, [options, clip]] of Object.entries(clips))
    test(`${name}${how} moves as its formula says`, () => {
      const { params, loss } = problem("f64");
      const optimizer = make(groupsOf(params), options);
      const { updates } = trace(() => optimizer.step(loss()));
      const session = new Session();
      const own = settings.map((s) => rule(s));
      let values: number[][] = starts;
      for (let t = 1; t <= steps; t++) {
        session.run([], updates);
        const grads = clip(values.map(slope));
        values = values.map((w, i) => own[i]!(w, grads[i]!, t));
        for (const [i, p] of params.entries())
          near(`step ${t}, w${i}`, session.valueOf(p).data, values[i]!, tolerance);
      }
    });

const plain = Object.entries(kinds).filter(([name]) => !name.includes(" "));

for (const [name, [make, rule]] of plain)
  test(`${name}: a step of three accumulated gradients is one of their mean, and nothing moves between`, () => {
    const { params } = problem("f64");
    const optimizer = make(groupsOf(params), { accumulate: 3, clipNorm: 2 });
    const given = params.map((p) => input("g", "f64", p.shape));
    const { updates } = trace(() => optimizer.apply(given));
    const session = new Session();
    const own = settings.map((s) => rule(s));
    const gradient = (k: number) => starts.map((w) => w.map((x, i) => Math.sin(x + i * k)));
    let values: number[][] = starts;
    for (let call = 1; call <= 9; call++) {
      const feeds = given.map(
        (g, i) => [g, makeValue("f64", g.shape as number[], gradient(call)[i]!)] as const,
      );
      session.run([], updates, new Map(feeds));
      if (call % 3 === 0) {
        const mean = starts.map((w, i) =>
          w.map((_, j) => [0, 1, 2].reduce((sum, k) => sum + gradient(call - k)[i]![j]!, 0) / 3),
        );
        const norm = Math.hypot(...mean.flat());
        values = values.map((w, i) => own[i]!(w, byNorm(mean[i]!, 2, norm), call / 3));
      }
      for (const [i, p] of params.entries())
        near(`call ${call}, w${i}`, session.valueOf(p).data, values[i]!, tolerance);
    }
  });

for (const [name, [make]] of plain)
  test(`${name}: a skipped step changes no state, and a frozen parameter stays`, () => {
    const { params } = problem("f64");
    const optimizer = make(groupsOf(params), { accumulate: 2 });
    const when = input("when", "bool", []);
    setFrozen(params[1]!, true);
    const { updates } = trace(() =>
      optimizer.apply(
        params.map((p) => p.mul(2)),
        { when },
      ),
    );
    setFrozen(params[1]!, false);
    assert.not(updates.has(params[1]!));
    const session = new Session();
    const course = (flags: readonly number[]) => {
      for (const flag of flags)
        session.run([], updates, new Map([[when, makeValue("bool", [], [flag])]]));
      return [...updates.keys()].map((p) => [...session.valueOf(p).data]);
    };
    const before = course([1, 1, 1]);
    assert.equal(course([0, 0, 0]), before);
    const after = course([1]);
    for (const [i, p] of [...updates.keys()].entries())
      if (p.attrs.trainable) assert.not.equal(after[i], before[i]);
    assert.equal([...session.valueOf(params[1]!).data], starts[1]);
  });

test.run();
