/** The transducer loss against the sum over all ways through the lattice, written out; compiled, with lengths and symbols. */
import {
  dim,
  evaluate,
  GraphError,
  grad,
  input,
  makeValue,
  ShapeError,
  type Tensor,
  tensor,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runProgram } from "../support/run.ts";
import { agreesOnJs } from "../support/targets.ts";
import { variants, wasmDevice } from "../support/wasm.ts";

const [N, T, U, C] = [3, 4, 3, 4];
const targets = [
  [1, 2, 0],
  [2, 2, 1],
  [0, 3, 3],
];
const lengths = [
  [4, 3],
  [3, 2],
  [1, 0],
] as const;
const scores = Array.from({ length: N * T * (U + 1) * C }, (_, i) => 1.5 * Math.sin(1 + 1.7 * i));

const logp = (x: readonly number[], n: number, t: number, u: number): number[] => {
  const row = x.slice(((n * T + t) * (U + 1) + u) * C, ((n * T + t) * (U + 1) + u + 1) * C);
  const sum = Math.log(row.reduce((s, v) => s + Math.exp(v), 0));
  return row.map((v) => v - sum);
};

/** −ln Σ over all ways, by walking each. */
function byWays(
  x: readonly number[],
  n: number,
  steps: number,
  labels: number,
  blank: number,
): number {
  const label = (u: number) => targets[n]![u]!;
  const walk = (t: number, u: number): number => {
    const p = logp(x, n, t, u);
    const stay = t + 1 < steps ? walk(t + 1, u) : u === labels ? 1 : 0;
    return Math.exp(p[blank]!) * stay + (u < labels ? Math.exp(p[label(u)]!) * walk(t, u + 1) : 0);
  };
  return -Math.log(walk(0, 0));
}

const i32 = (values: readonly number[] | readonly (readonly number[])[]) =>
  tensor(values as number[], { dtype: "i32" });
const feed = (x: Tensor) => new Map([[x, makeValue("f64", [N, T, U + 1, C], scores)]]);
const withLengths = () => ({
  inputLengths: i32(lengths.map((l) => l[0])),
  targetLengths: i32(lengths.map((l) => l[1])),
});
const near = (got: ArrayLike<number>, want: readonly number[], digits: number) => {
  for (const [i, w] of want.entries())
    assert.ok(
      Math.abs(got[i]! - w) <= digits * Math.max(1, Math.abs(w)),
      `[${i}]: ${got[i]}, want ${w}`,
    );
};

for (const blank of [-1, 0, 2])
  test(`losses are those of all ways, with lengths of samples and without, blank ${blank}`, () => {
    const x = input("x", "f64", [N, T, U + 1, C]);
    const at = blank < 0 ? C + blank : blank;
    const of = (o: nn.RnntOptions) =>
      evaluate([nn.rnnt(x, i32(targets), { reduction: "none", blank, ...o })], {
        inputs: feed(x),
      })[0]!.data;
    near(
      of({}),
      [0, 1, 2].map((n) => byWays(scores, n, T, U, at)),
      1e-9,
    );
    near(
      of(withLengths()),
      lengths.map(([t, u], n) => byWays(scores, n, t, u, at)),
      1e-9,
    );
  });

test("the mean, log-probabilities given, and the gradient by differences", () => {
  const x = input("x", "f64", [N, T, U + 1, C]);
  const loss = nn.rnnt(x, i32(targets), withLengths());
  const mean = (v: readonly number[]) =>
    lengths.reduce((s, [t, u], n) => s + byWays(v, n, t, u, C - 1), 0) / N;
  const [value, slope] = evaluate([loss, grad(loss, [x])[0]!], { inputs: feed(x) });
  near(value!.data, [mean(scores)], 1e-9);
  const same = nn.rnnt(x.logSoftmax(-1), i32(targets), { softmax: false, ...withLengths() });
  near(evaluate([same], { inputs: feed(x) })[0]!.data, [mean(scores)], 1e-9);
  const h = 1e-5;
  for (let i = 0; i < scores.length; i += 7) {
    const moved = (by: number) => mean(scores.map((v, k) => (k === i ? v + by : v)));
    near([slope!.data[i]!], [(moved(h) - moved(-h)) / (2 * h)], 1e-6);
  }
});

test("js and wasm agree with the reference, of symbolic extents", async () => {
  const [n, t] = [dim("N"), dim("T")];
  const x = input("x", "f32", [n, t, U + 1, C]);
  const y = input("y", "i32", [n, U]);
  const loss = nn.rnnt(x, y);
  const outputs = [loss, grad(loss, [x])[0]!].map((value, i) => ({ name: `y${i}`, value }));
  const program = { inputs: [x, y], outputs, updates: [] };
  const feeds = new Map([
    [x, makeValue("f32", [N, T, U + 1, C], scores.map(Math.fround))],
    [y, makeValue("i32", [N, U], targets.flat())],
  ]);
  await agreesOnJs(program, feeds, { N, T });
  const want = evaluate(
    outputs.map((o) => o.value),
    { inputs: feeds, dims: { N, T } },
  );
  const { values } = await runProgram(program, feeds, { N, T }, wasmDevice(variants[0]!), {
    target: "wasm",
  });
  for (const [i, v] of values.entries()) near(v.data, [...want[i]!.data], 2e-5);
});

test("what does not fit is refused", () => {
  const message = (run: () => unknown, kind: typeof ShapeError | typeof GraphError): string => {
    try {
      run();
    } catch (error) {
      assert.instance(error, kind);
      return (error as Error).message;
    }
    return assert.unreachable() as never;
  };
  const x = input("x", "f32", [N, T, U, C]);
  assert.is(
    message(() => nn.rnnt(x, i32(targets)), ShapeError),
    "rnnt: needs logits [N,T,U+1,C] and targets [N,U], got [3,4,3,4] and [3,3]\n  the joint network gives a place more than there are labels",
  );
  assert.is(
    message(
      () => nn.rnnt(input("x", "f32", [N, T, U + 1, C]), i32(targets), { blank: 4 }),
      GraphError,
    ),
    "rnnt: blank must be a class of [4], got 4\n  leave it out for the last",
  );
});

test.run();
