/** L-BFGS against its formula in doubles, step by step, on the reference numbers of js and wasm; what it cannot do is refused. */
import { GraphError, param, type Tensor, tensor } from "@kiln-ml/ir";
import * as optim from "@kiln-ml/optim";
import { compile } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const begin = [
  [1.2, -0.7],
  [0.4, -1.5, 0.9],
] as const;
const flat = begin.flat();
const dot = (a: readonly number[], b: readonly number[]) => a.reduce((s, x, i) => s + x * b[i]!, 0);
/** Of Σ aᵢ·wᵢ² + ¼·(Σ w)⁴ with aᵢ = ½ + i. */
const slope = (w: readonly number[]) =>
  w.map((x, i) => 2 * (0.5 + i) * x + w.reduce((s, v) => s + v, 0) ** 3);

function rule(steps: number, lr: number, m: number, decay = 0): number[][] {
  let w: number[] = [...flat];
  const seen: number[][] = [];
  const pairs: { s: number[]; y: number[] }[] = [];
  let [h, before, moved] = [1, [] as number[], [] as number[]];
  for (let n = 1; n <= steps; n++) {
    const g = slope(w).map((v, i) => v + decay * w[i]!);
    if (n > 1) {
      const y = g.map((v, i) => v - before[i]!);
      const ys = dot(moved, y);
      if (ys > 1e-10) {
        pairs.push({ s: moved, y });
        if (pairs.length > m) pairs.shift();
        h = ys / dot(y, y);
      }
    }
    let q = g.map((v) => -v);
    const al: number[] = [];
    for (let i = pairs.length - 1; i >= 0; i--) {
      const { s, y } = pairs[i]!;
      al[i] = dot(s, q) / dot(y, s);
      q = q.map((v, k) => v - al[i]! * y[k]!);
    }
    let d = q.map((v) => v * h);
    for (const [i, { s, y }] of pairs.entries()) {
      const be = dot(y, d) / dot(y, s);
      d = d.map((v, k) => v + s[k]! * (al[i]! - be));
    }
    const t = n === 1 ? Math.min(1, 1 / g.reduce((s, v) => s + Math.abs(v), 0)) * lr : lr;
    moved = d.map((v) => v * t);
    before = g;
    w = w.map((v, i) => v + moved[i]!);
    seen.push(w);
  }
  return seen;
}

function problem(options: Partial<optim.LbfgsOptions>) {
  const params = begin.map((v, i) => param(tensor([...v]), { name: `w${i}` }));
  const opt = new optim.LBFGS(params, { lr: 0.6, ...options });
  const loss = (): Tensor => {
    const [a, b] = params as [Tensor, Tensor];
    const own = tensor([0.5, 1.5])
      .mul(a.square())
      .sum()
      .add(tensor([2.5, 3.5, 4.5]).mul(b.square()).sum());
    const sum = a.sum().add(b.sum());
    return own.add(sum.square().square().mul(0.25));
  };
  return { params, opt, loss };
}

for (const target of ["js", "wasm"] as const)
  for (const [m, decay] of [
    [10, 0],
    [2, 0.1],
    [1, 0],
  ] as const)
    test(`${target}: steps with ${m} pairs and decay ${decay} are those of the formula`, async () => {
      const { params, opt, loss } = problem({ historySize: m, weightDecay: decay });
      const step = compile(() => opt.step(loss()), { target });
      for (const [n, want] of rule(7, 0.6, m, decay).entries()) {
        await step();
        const got = ((await Promise.all(params.map((p) => p.toList()))) as number[][]).flat();
        for (const [i, w] of want.entries())
          assert.ok(
            Math.abs(got[i]! - w) < 2e-3 * Math.max(0.1, Math.abs(w)),
            `step ${n + 1} [${i}]: ${got[i]}, want ${w}`,
          );
      }
    });

test("it comes to the minimum in few steps, and stays there", async () => {
  const { opt, loss, params } = problem({ lr: 1 });
  const step = compile(
    () => {
      const value = loss();
      opt.step(value);
      return value;
    },
    { target: "js" },
  );
  let last = 0;
  for (let i = 0; i < 40; i++) last = await (await step()).item();
  assert.ok(last < 1e-8, `${last}`);
  for (const p of params)
    assert.ok(((await p.toList()) as number[]).every((v) => Math.abs(v) < 1e-3));
});

test("its state is saved whole before a step", () => {
  const { opt } = problem({ historySize: 3 });
  const shapes = [...opt.checkpoint()].map(([name, t]) => `${name} ${t.shape}`).sort();
  assert.equal(shapes, [
    "lbfgs.gradient 5",
    "lbfgs.moved 5",
    "lbfgs.scale ",
    "lbfgs.slopes 3,5",
    "lbfgs.step ",
    "lbfgs.steps 3,5",
  ]);
});

test("a parameter without a gradient, and a history of nothing, are refused", () => {
  const message = (run: () => unknown): string => {
    try {
      run();
    } catch (error) {
      assert.instance(error, GraphError);
      return (error as Error).message;
    }
    return assert.unreachable() as never;
  };
  const { opt, params } = problem({});
  assert.is(
    message(() => opt.apply([params[0]!, undefined])),
    "lbfgs: w1 has no gradient, and the step is one of all parameters\n  give the optimizer those that are trained",
  );
  assert.is(
    message(() => problem({ historySize: 0 })),
    "lbfgs: historySize must be a whole number from 1 to 100, got 0\n  leave it out for 10",
  );
});

test.run();
