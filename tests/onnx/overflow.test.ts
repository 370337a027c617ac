/** 64-bit integers that a run computes: right, or an error that names the node. */
import { DtypeError } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { OnnxTensor } from "../../packages/kiln/src/onnx.ts";
import { type Attribute, float32, int64, loadSmall, numbers } from "./small-model.ts";

interface Case {
  readonly op: string;
  readonly inputs: readonly (readonly bigint[])[];
  /** What ONNX gives; undefined where that needs more than 32 bits. */
  readonly wanted?: readonly bigint[];
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** Initializers after the inputs. */
  readonly rest?: readonly ReturnType<typeof int64>[];
  readonly type?: "uint64";
  /** The type of the result, where it is another. */
  readonly result?: "int64" | "uint64";
}

const limit = 2147483647n;

// biome-ignore format: one case a row
const cases: readonly Case[] = [
  { op: "Add", inputs: [[1n, 2n], [3n, 4n]], wanted: [4n, 6n] },
  { op: "Add", inputs: [[limit, 2n], [0n, 4n]], wanted: [limit, 6n] },
  { op: "Add", inputs: [[limit, 2n], [1n, 4n]] },
  { op: "Add", inputs: [[-limit, 2n], [-2n, 4n]] },
  { op: "Sub", inputs: [[-limit, 2n], [1n, 4n]], wanted: [-limit - 1n, -2n] },
  { op: "Sub", inputs: [[-limit, 2n], [2n, 4n]] },
  { op: "Mul", inputs: [[100000n, 2n], [100000n, 4n]] },
  { op: "Mul", inputs: [[65536n, 2n], [65536n, 4n]] },
  { op: "Mul", inputs: [[46341n, 2n], [46340n, 4n]], wanted: [2147441940n, 8n] },
  { op: "Mul", inputs: [[46341n, 2n], [46341n, 4n]] },
  { op: "Mul", inputs: [[-65536n, 2n], [32768n, 4n]], wanted: [-2147483648n, 8n] },
  { op: "Sum", inputs: [[limit, 2n], [-5n, 4n], [5n, 1n]], wanted: [limit, 7n] },
  { op: "Sum", inputs: [[limit, 2n], [5n, 4n], [5n, 1n]] },
  { op: "Neg", inputs: [[limit, -5n]], wanted: [-limit, 5n] },
  { op: "Neg", inputs: [[-limit - 1n, -5n]] },
  { op: "Abs", inputs: [[-limit - 1n, -5n]] },
  { op: "Pow", inputs: [[3n, 2n], [19n, 30n]], wanted: [1162261467n, 1073741824n] },
  { op: "Pow", inputs: [[3n, 2n], [20n, 30n]] },
  { op: "ReduceSum", inputs: [[limit, -2n, 2n]], wanted: [limit] },
  { op: "ReduceSum", inputs: [[limit, -2n, 3n]] },
  { op: "Pow", inputs: [[0n, -1n, 2n, -1n], [32n, 32n, 0n, 33n]], wanted: [0n, 1n, 1n, -1n] },
  { op: "Pow", inputs: [[65536n]], rest: [float32([1], [2])] },
  { op: "Pow", inputs: [[1000n]], rest: [float32([1], [2])], wanted: [1000000n] },
  { op: "PRelu", inputs: [[-100000n, 5n], [100000n, 1n]] },
  { op: "PRelu", inputs: [[-46340n, 5n], [46340n, 1n]], wanted: [-2147395600n, 5n] },
  { op: "ReduceL2", inputs: [[3n, -4n]], wanted: [5n] },
  { op: "ReduceL2", inputs: [[limit, limit]] },
  { op: "ReduceL2", inputs: [[-limit - 1n]] },
  { op: "ReduceProd", inputs: [[100000n, 3n, 7n]], wanted: [2100000n] },
  { op: "ReduceProd", inputs: [[100000n, 300n, 100n]] },
  { op: "ReduceSumSquare", inputs: [[46340n, 1n]], wanted: [2147395601n] },
  { op: "ReduceSumSquare", inputs: [[46341n, 1n]] },
  { op: "CumSum", inputs: [[limit, -2n, 2n]], rest: [int64(0)], wanted: [limit, limit - 2n, limit] },
  { op: "CumSum", inputs: [[limit, 2n, -2n]], rest: [int64(0)] },
  { op: "MatMul", inputs: [[40000n, 3n], [50000n, 7n]], wanted: [2000000021n] },
  { op: "MatMul", inputs: [[50000n, 3n], [50000n, 7n]] },
  { op: "Div", inputs: [[-limit - 1n, 7n], [1n, -1n]], wanted: [-limit - 1n, -7n] },
  { op: "Div", inputs: [[-limit - 1n, 7n], [-1n, 2n]] },
  { op: "Cast", inputs: [[limit, 0n]], attributes: { to: 13 }, wanted: [limit, 0n] },
  { op: "Cast", inputs: [[-1n, 0n]], attributes: { to: 13 }, result: "uint64" },
  { op: "Cast", inputs: [[2n * limit, 0n]], attributes: { to: 7 }, type: "uint64", result: "int64" },
  { op: "Cast", inputs: [[2n * limit, 0n]], attributes: { to: 12 }, type: "uint64", wanted: [2n * limit, 0n] },
  { op: "CastLike", inputs: [[2n * limit, 0n]], rest: [int64(0)], type: "uint64", result: "int64" },
  { op: "CastLike", inputs: [[limit, 0n]], rest: [int64(0)], type: "uint64", wanted: [limit, 0n] },
  { op: "BitwiseNot", inputs: [[5n, -1n]], wanted: [-6n, 0n] },
  { op: "BitwiseNot", inputs: [[5n, 1n]], type: "uint64" },
  { op: "ScatterElements", inputs: [[limit, 5n]], rest: [int64([1]), int64([7])], attributes: { reduction: "add" }, wanted: [limit, 12n] },
  { op: "ScatterElements", inputs: [[limit, 5n]], rest: [int64([0]), int64([1])], attributes: { reduction: "add" } },
  { op: "ScatterElements", inputs: [[limit, 5n]], rest: [int64([0]), int64([3])], attributes: { reduction: "mul" } },
  { op: "ScatterElements", inputs: [[limit, 5n]], rest: [int64([0]), int64([-3])], wanted: [-3n, 5n] },
  { op: "BitShift", inputs: [[1n, 3n], [31n, 2n]], attributes: { direction: "LEFT" }, type: "uint64", wanted: [2147483648n, 12n] },
  { op: "BitShift", inputs: [[1n, 3n], [32n, 2n]], attributes: { direction: "LEFT" }, type: "uint64" },
];

for (const c of cases) {
  const values = c.inputs.map((v) => v.join(", ")).join("; ");
  test(`${c.op} of ${values} is ${c.wanted?.join(", ") ?? "refused"}`, async () => {
    const names = c.inputs.map((_, i) => `x${i}`);
    const type = c.type ?? "int64";
    const model = loadSmall({
      inputs: Object.fromEntries(names.map((name, i) => [name, [c.inputs[i]!.length]])),
      types: Object.fromEntries(names.map((name) => [name, type])),
      initializers: Object.fromEntries((c.rest ?? []).map((t, i) => [`r${i}`, t])),
      nodes: [
        {
          op: c.op,
          inputs: [...names, ...(c.rest ?? []).map((_, i) => `r${i}`)],
          attributes: c.op.startsWith("Reduce") ? { keepdims: 1 } : (c.attributes ?? {}),
        },
      ],
    });
    const feeds = Object.fromEntries(
      names.map((name, i): [string, OnnxTensor] => {
        const data =
          type === "uint64" ? BigUint64Array.from(c.inputs[i]!) : BigInt64Array.from(c.inputs[i]!);
        return [name, { type, dims: [data.length], data }];
      }),
    );
    if (c.wanted) {
      const { y } = await model.run(feeds);
      assert.equal([...(y as OnnxTensor).data].map(BigInt), c.wanted);
      return;
    }
    const error = await model.run(feeds).then(
      () => assert.unreachable("it wrapped"),
      (e: Error) => e,
    );
    assert.instance(error, DtypeError);
    assert.is(
      (error as Error).message,
      `${c.op} ${c.op}0: a result is beyond the 32 bits that hold ${c.result ?? type}\n  cast to float32 before, or keep the numbers small`,
    );
  });
}

const cast = (values: readonly number[]) =>
  loadSmall({
    inputs: { x: [values.length] },
    nodes: [{ op: "Cast", inputs: ["x"], attributes: { to: 7 } }],
  }).run({ x: float32([values.length], values) });

test("Cast to int64 refuses what 32 bits do not hold", async () => {
  const { y } = await cast([2147483520, -2147483648, 1.9]);
  assert.equal(numbers(y as OnnxTensor), [2147483520, -2147483648, 1]);
  for (const x of [3e9, 2147483648, -2147483904, Infinity, Number.NaN])
    assert.is(
      await cast([1, x]).then(
        () => "fits",
        (e: Error) => e.constructor.name,
      ),
      "DtypeError",
      String(x),
    );
});

test("Cast to uint64 drops a fraction before it looks at the sign", async () => {
  const to = (x: number) =>
    loadSmall({
      inputs: { x: [1] },
      nodes: [{ op: "Cast", inputs: ["x"], attributes: { to: 13 } }],
    }).run({ x: float32([1], [x]) });
  assert.equal(numbers((await to(-0.5)).y as OnnxTensor), [0]);
  assert.is(
    await to(-1).then(
      () => "fits",
      (e: Error) => e.constructor.name,
    ),
    "DtypeError",
  );
});

const constant = (op: string, value: bigint) =>
  loadSmall({
    inputs: { x: [1] },
    types: { x: "int64" },
    initializers: { c: int64([value]) },
    nodes: [{ op, inputs: ["x", "c"] }],
  }).run({ x: int64([5]) });

for (const value of [2n ** 63n - 1n, -(2n ** 63n)])
  test(`nothing is computed of the constant ${value}`, async () => {
    for (const op of ["Add", "Mul", "Sub"])
      assert.is(
        await constant(op, value).then(
          () => "fits",
          (e: Error) => e.message,
        ),
        `${op} ${op}0: input 1 is ${value}, beyond the 32 bits that hold int64`,
      );
  });

test("constants of the file are looked at when the model is imported", async () => {
  const model = loadSmall({
    inputs: { x: [1] },
    types: { x: "int64" },
    initializers: { a: int64([100000]), b: int64([100000]) },
    nodes: [
      { op: "Mul", inputs: ["a", "b"], outputs: ["p"] },
      { op: "Add", inputs: ["x", "p"] },
    ],
  });
  assert.match(
    await model.run({ x: int64([5]) }).then(
      () => "fits",
      (e: Error) => e.message,
    ),
    "Mul Mul0: a result is beyond the 32 bits that hold int64",
  );
});

test("indices, extents and counts have no flag", async () => {
  const model = loadSmall({
    inputs: { x: ["N", 3], i: ["M"] },
    types: { i: "int64" },
    initializers: { two: int64([2]) },
    nodes: [
      { op: "Shape", inputs: ["x"], outputs: ["s"] },
      { op: "Mul", inputs: ["s", "two"], outputs: ["t"] },
      { op: "Add", inputs: ["t", "two"], outputs: ["u"] },
      { op: "Gather", inputs: ["x", "i"], outputs: ["g"] },
      { op: "NonZero", inputs: ["x"], outputs: ["z"] },
    ],
    outputs: ["u", "g"],
  });
  const run = await model.run({ x: float32([2, 3], [1, 2, 3, 4, 5, 6]), i: int64([1]) });
  assert.equal(numbers(run.u as OnnxTensor), [6, 8]);
  const seen = await model.profile({ x: float32([1, 3], [1, 2, 3]), i: int64([0]) });
  assert.is(seen.length, 2, "a kernel for each result and none for flags");
});

test.run();
