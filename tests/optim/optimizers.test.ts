/**
 * Optimizers and clipping against PyTorch over five steps of a small regression.
 */
import { grad, param, type Tensor, trace } from "@kiln-ml/ir";
import { mse } from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { close, fixture, type Packed, Session, tensorOf } from "../nn/fixture.ts";

interface Config {
  readonly lr: number;
  readonly betas?: readonly [number, number];
  readonly weight_decay?: number;
  readonly [option: string]: unknown;
}
interface Step {
  readonly loss: Packed;
  readonly w: Packed;
  readonly b: Packed;
}
interface Clip {
  readonly limit: number;
  readonly before: readonly Packed[];
  readonly after: readonly Packed[];
  readonly norm: Packed;
}
type Problem = Record<"w" | "b" | "x" | "t", Packed>;
type Cases = { cases: Record<string, { config: Config; steps: readonly Step[] }> };
const data = fixture<
  Problem & Cases & Record<"clip norm" | "clip norm loose" | "clip value", Clip>
>("optimizers");

const kinds = {
  sgd: optim.SGD,
  adam: optim.Adam,
  adamw: optim.AdamW,
  rmsprop: optim.RMSProp,
} as const;

function problem(): { w: Tensor; b: Tensor; loss: () => Tensor } {
  const [w, b] = (["w", "b"] as const).map((name) => param(tensorOf(data[name]), { name })) as [
    Tensor,
    Tensor,
  ];
  const loss = () => mse(tensorOf(data.x).matmul(w).add(b).tanh(), tensorOf(data.t));
  return { w, b, loss };
}

function optionsOf({ weight_decay, ...rest }: Config): optim.OptimizerOptions {
  return { ...rest, ...(weight_decay === undefined ? {} : { weightDecay: weight_decay }) };
}

for (const [name, { config, steps }] of Object.entries(data.cases))
  test(`${name} moves as PyTorch's does`, () => {
    const { w, b, loss } = problem();
    const kind = kinds[name.split(" ")[0] as keyof typeof kinds];
    const optimizer = new kind([w, b], optionsOf(config));
    const { value, updates } = trace(() => {
      const y = loss();
      optimizer.step(y);
      return y;
    });
    const session = new Session();
    for (const step of steps) {
      const [y] = session.run([value], updates);
      close("loss", y!, step.loss, 2e-6);
      close("w", session.valueOf(w), step.w, 2e-6);
      close("b", session.valueOf(b), step.b, 2e-6);
    }
  });

for (const name of ["clip norm", "clip norm loose", "clip value"] as const)
  test(`${name} agrees with PyTorch`, () => {
    const c = data[name];
    const grads = c.before.map((g) => tensorOf(g));
    const byNorm = name !== "clip value" && optim.clipByGlobalNorm(grads, c.limit);
    const clipped = byNorm ? byNorm.grads : optim.clipByValue(grads, c.limit);
    const got = new Session().run([...clipped, ...(byNorm ? [byNorm.norm] : [])]);
    close("w", got[0]!, c.after[0]!);
    close("b", got[1]!, c.after[1]!);
    if (byNorm) close("norm", got[2]!, c.norm);
  });

test("clipping inside an optimizer is clipping before it", () => {
  const after = (options: Partial<optim.OptimizerOptions>, clip: (g: Tensor[]) => Tensor[]) => {
    const { w, b, loss } = problem();
    const optimizer = new optim.SGD([w, b], { lr: 1, ...options });
    const { updates } = trace(() => optimizer.apply(clip(grad(loss(), [w, b]))));
    const session = new Session();
    session.run([], updates);
    return [...session.valueOf(w).data];
  };
  const whole = (g: Tensor[]) => g;
  assert.equal(
    after({ clipNorm: 0.1 }, whole),
    after({}, (g) => optim.clipByGlobalNorm(g, 0.1).grads),
  );
  assert.equal(
    after({ clipValue: 0.05 }, whole),
    after({}, (g) => optim.clipByValue(g, 0.05)),
  );
});

test("two steps in one trace are two steps", () => {
  const run = (traces: number, steps: number): number[] => {
    const { w, b, loss } = problem();
    const optimizer = new optim.Adam([w, b], { lr: 0.05 });
    const { updates } = trace(() => {
      for (let i = 0; i < steps; i++) optimizer.step(loss());
    });
    const session = new Session();
    for (let i = 0; i < traces; i++) session.run([], updates);
    return [...session.valueOf(w).data];
  };
  assert.equal(run(1, 2), run(2, 1));
});

test("a loss built before another optimizer's step is differentiated where it was built", () => {
  const after = (other: boolean): number[] => {
    const { w, b, loss } = problem();
    const { updates } = trace(() => {
      const y = loss();
      if (other) new optim.SGD([b], { lr: 5 }).step(y);
      new optim.SGD([w], { lr: 1 }).step(y);
    });
    const session = new Session();
    session.run([], updates);
    return [...session.valueOf(w).data];
  };
  assert.equal(after(true), after(false));
});

test("all parameters share one counter, and state is named after parameters", () => {
  const { w, b, loss } = problem();
  const optimizer = new optim.Adam([w, b], { lr: 0.1 });
  trace(() => optimizer.step(loss()));
  assert.equal([...optimizer.states.keys()], ["adam.step", "adam.w.moments", "adam.b.moments"]);
  assert.ok([...optimizer.states.values()].every((p) => p.attrs.trainable === false));
});

test("plain descent keeps no state", () => {
  const { w, b, loss } = problem();
  const optimizer = new optim.SGD([w, b], { lr: 0.1 });
  const { updates } = trace(() => optimizer.step(loss()));
  assert.equal([...updates.keys()], [w, b]);
});

test("a group has a rate and a decay of its own", () => {
  const { w, b, loss } = problem();
  const groups = [{ params: [w], lr: 0 }, { params: [b] }];
  const { updates } = trace(() => new optim.SGD(groups, { lr: 0.1 }).step(loss()));
  const session = new Session();
  session.run([], updates);
  close("w", session.valueOf(w), data.w, 1e-8);
  close("b", session.valueOf(b), data.cases.sgd!.steps[0]!.b, 2e-6);
});

test("a parameter in half precision keeps its moments in single", () => {
  const w = param(tensorOf(data.w, "f16"), { name: "w" });
  const optimizer = new optim.AdamW([w], { lr: 0.1, clipNorm: 1 });
  const { updates } = trace(() => optimizer.step(w.mul(w).sum()));
  assert.is(updates.get(w)!.dtype, "f16");
  assert.is(optimizer.states.get("adamw.w.moments")!.dtype, "f32");
});

test.run();
