/**
 * Functions whose weights became few bits, whatever read them: what stands for a weight is within
 * the format's error, what cannot be a product's matrix stays and is named, and results are those
 * of the weights that now stand there.
 */
import { exportArtifact, loadWeights, nn, outputErrors, quantizeFunctions } from "kiln-ml";
import { assign, param, quantized, type Tensor, take, tensor } from "kiln-ml/ir";
import { exportOnnx, loadOnnx } from "kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";

const wave = (seed: number, ...shape: number[]): Tensor => {
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) =>
    Math.sin((i + 1) * (seed + 0.37)),
  );
  return tensor(data, { shape });
};

/** One weight a kind of reading. */
function every() {
  const weight = (name: string, seed: number, ...shape: number[]) =>
    param(wave(seed, ...shape), { name });
  const w = {
    inner: weight("inner", 1, 40, 8),
    outer: weight("outer", 2, 8, 40),
    table: weight("table", 3, 5, 8),
    both: weight("both", 4, 8, 8),
    bias: weight("bias", 5, 8),
    kernel: weight("kernel", 6, 2, 8, 8),
    count: param(wave(7, 8, 8), { name: "count", trainable: false }),
  };
  const fn = (x: Tensor, rows: Tensor): Record<string, Tensor> => {
    const y = x.matmul(w.inner).add(w.bias);
    const z = x.matmul(w.outer.transpose([1, 0])).mul(y);
    const square = z.matmul(w.both).add(z.matmul(w.both.transpose([1, 0])));
    assign(w.count, w.count.add(1));
    return {
      y: square.add(z.matmul(w.count)),
      stacked: z.matmul(w.kernel),
      rows: take(w.table, rows, 0),
    };
  };
  const inputs = [["N", 40], { shape: ["R"], dtype: "i32" as const }];
  return { w, model: { fn: fn as never, inputs } };
}

test("each weight is a product's matrix or says why it is none", async () => {
  const { model } = every();
  const { weights, kept, written } = await quantizeFunctions({ model }, { weights: "int8" });
  assert.equal(weights.map((r) => r.name).sort(), ["inner", "outer"]);
  assert.equal(Object.fromEntries(kept.map((k) => [k.name, k.why])), {
    table: "is read by gather",
    both: "is summed over along both axes",
    bias: "a vector",
    kernel: "has 3 axes",
    count: "changes as it runs",
  });
  assert.equal([...written], ["count"]);
});

for (const [format, bits] of [
  ["int8", 8],
  ["int4", 4],
] as const)
  test(`${format} stands for weights as quantized() has them, along the axis of the sum`, async () => {
    const w = param(wave(1, 70, 6), { name: "w" });
    const turned = w.transpose([1, 0]);
    const model = { fn: ((x: Tensor) => x.matmul(w)) as never, inputs: [["N", 70]] };
    const { functions, weights } = await quantizeFunctions({ model }, { weights: format });
    const wanted = quantized(turned, { bits }).dequantize().transpose([1, 0]);
    const same = { fn: ((x: Tensor) => x.matmul(wanted)) as never, inputs: [["N", 70]] };
    const [found] = await outputErrors(same, functions.model!, [wave(2, 3, 70)]);
    assert.ok(found!.maxError <= 1e-5 * found!.rms, `${found!.maxError}`);
    const [report] = weights;
    // Blocks of 32 of elements in [-1, 1]: half a step, or a whole one of the sign that has fewer.
    const most = bits === 8 ? 1 / 254 : 1 / 8;
    assert.ok(report!.maxError > 0 && report!.maxError <= most + 1e-6, `${report!.maxError}`);
    assert.is(report!.bytesBefore, 70 * 6 * 4);
    assert.is(report!.bytesAfter, 6 * 96 * (bits / 8) + 6 * 3 * 4);
  });

test("halves are for whatever has two axes, and within half of a unit in their last place", async () => {
  const { model } = every();
  const { weights, kept } = await quantizeFunctions({ model }, { weights: "f16" });
  assert.equal(weights.map((r) => r.name).sort(), ["both", "inner", "kernel", "outer", "table"]);
  for (const r of weights) assert.ok(r.maxError <= 2 ** -12, `${r.name} ${r.maxError}`);
  assert.equal(kept.map((k) => k.name).sort(), ["bias", "count"]);
});

test("what is to be kept is kept, for all functions that share it", async () => {
  const [a, b] = [1, 2].map((seed) => param(wave(seed, 8, 8), { name: `w${seed}` }));
  const of = (fn: (x: Tensor) => Tensor) => ({ fn: fn as never, inputs: [[2, 8]] });
  const functions = {
    one: of((x) => x.matmul(a!).matmul(b!)),
    two: of((x) => x.add(take(a!, tensor([0, 1], { dtype: "i32" }), 0))),
    three: of((x) => x.matmul(b!)),
  };
  const made = await quantizeFunctions(functions, { weights: "int8" });
  assert.equal(
    made.weights.map((w) => w.name),
    ["w2"],
  );
  const all = await Promise.all(
    Object.values(made.functions).map((f) =>
      exportArtifact(f.fn as never, { inputs: f.inputs, target: "js", weights: false }),
    ),
  );
  assert.equal(
    all.map((artifact) => artifact.signature.states.map((s) => s.name).sort()),
    [
      ["w1", "w2.scales", "w2.words"],
      ["data", "w1"],
      ["w2.scales", "w2.words"],
    ],
  );
  const { kept } = await quantizeFunctions(
    { three: functions.three, one: of((x) => x.matmul(a!)) },
    { weights: "int4", keep: /2$/ },
  );
  assert.equal(kept, [{ name: "w2", bytes: 256, why: "is to be kept" }]);
});

test("a network out of ONNX tells what its layers tell, less an error of few bits", async () => {
  nn.seed(3);
  const net = new nn.Sequential(new nn.Linear(32, 64), new nn.ReLU(), new nn.Linear(64, 10));
  const fn = (x: Tensor): Tensor => net.forward(x);
  const file = await exportOnnx(fn as never, { inputs: [["N", 32]] });
  const { program } = await loadOnnx(file);
  for (const [weights, most] of [
    ["int8", 0.01],
    ["int4", 0.15],
    ["f16", 1e-3],
  ] as const) {
    const made = await quantizeFunctions({ net: program as never }, { weights });
    assert.is(made.weights.length, 2);
    const [y] = await outputErrors(program as never, made.functions.net!, [wave(1, 7, 32)]);
    assert.ok(y!.rmsError > 0 && y!.rmsError < most * y!.rms, `${weights}: ${y!.rmsError}`);
    assert.is(y!.rows, 7);
    if (weights !== "int4") assert.is(y!.sameLargest, 7);
  }
});

test("weights may change afterwards, and the compiled function sees them", async () => {
  const net = new nn.Linear(32, 4);
  const model = { fn: ((x: Tensor) => net.forward(x)) as never, inputs: [["N", 32]] };
  const { functions } = await quantizeFunctions({ model }, { weights: "int8" });
  await loadWeights(net, { weight: zeros([4, 32]), bias: zeros([4]) });
  const [y] = await outputErrors(model, functions.model!, [wave(2, 2, 32)]);
  // The bias is shared and is zero now; the matrix is what it was quantized from.
  assert.ok(y!.rms === 0 && y!.rmsError > 0);
});

const zeros = (shape: number[]) => ({
  dtype: "f32" as const,
  shape,
  data: new Uint8Array(4 * shape.reduce((a, b) => a * b, 1)),
});

const refused = (functions: unknown, options: unknown): Promise<string> =>
  quantizeFunctions(functions as never, options as never).then(
    () => "",
    (e: Error) => e.message,
  );

test("a weight whose numbers a format has not stays, with the reason", async () => {
  const w = (name: string, odd: number) => {
    const data = Float32Array.from({ length: 280 }, (_, i) => (i === 3 ? odd : Math.sin(i)));
    return param(data, { name, shape: [70, 4] });
  };
  const all = [w("plain", 0), w("large", 1e5), w("endless", Infinity), w("none", NaN)];
  const fn = (x: Tensor): Tensor[] => all.map((m) => x.matmul(m));
  const model = { fn: fn as never, inputs: [[2, 70]] };
  for (const [format, names] of [
    ["int8", ["plain", "large"]],
    ["int4", ["plain", "large"]],
    ["f16", ["plain"]],
  ] as const) {
    const { weights, kept } = await quantizeFunctions({ model }, { weights: format });
    assert.equal(
      weights.map((x) => x.name),
      names,
      format,
    );
    for (const { why } of kept) assert.is(why, `holds numbers that ${format} has not`);
    assert.is(kept.length, 4 - names.length);
  }
});

test("a pattern is tested anew for each name, and one of no name is refused", async () => {
  const all = ["aa", "ab", "ac"].map((name) => param(wave(1, 64, 4), { name }));
  const other = param(wave(2, 64, 4), { name: "other" });
  const fn = (x: Tensor): Tensor[] => [...all, other].map((m) => x.matmul(m));
  const model = { fn: fn as never, inputs: [[2, 64]] };
  const { kept } = await quantizeFunctions({ model }, { weights: "int8", keep: /a/g });
  assert.equal(
    kept.map((k) => k.name),
    ["aa", "ab", "ac"],
  );
  try {
    await quantizeFunctions({ model }, { weights: "int8", keep: /lm_head/ });
    assert.unreachable();
  } catch (e) {
    assert.is(
      (e as Error).message,
      "quantizeFunctions: keep /lm_head/ is like no name of a weight\n  names are aa, ab, ac, other",
    );
  }
});

test("of rows with NaN it is the largest, and equal infinities are no error", async () => {
  const of = (row: number[]) => ({
    fn: ((x: Tensor) => x.mul(tensor([row]))) as never,
    inputs: [[1, 3]],
  });
  const ones = tensor([[1, 1, 1]]);
  const [odd] = await outputErrors(of([1, 2, 3]), of([1, 2, NaN]), [ones]);
  assert.ok(Number.isNaN(odd!.maxError));
  assert.is(odd!.sameLargest, 1);
  const [first] = await outputErrors(of([1, 2, 3]), of([NaN, 2, 3]), [ones]);
  assert.is(first!.sameLargest, 0);
  const [same] = await outputErrors(of([1, Infinity, 3]), of([1, Infinity, 3]), [ones]);
  assert.is(same!.maxError, 0);
});

test("what cannot be quantized is refused, with the reason", async () => {
  const bias = param(wave(1, 8), { name: "bias" });
  const model = { fn: (x: Tensor) => x.add(bias), inputs: [["N", 8]] };
  assert.is(
    await refused({ model }, { weights: "int8" }),
    "quantizeFunctions: no weight of model is a matrix that products alone read\n  weights are bias (a vector)",
  );
  assert.is(
    await refused({ model: { ...model, fn: (x: Tensor) => x } }, { weights: "f16" }),
    "quantizeFunctions: no weight of model is a matrix of f32\n  the functions have no parameters",
  );
  assert.is(
    await refused({ model }, { weights: "int3" }),
    'quantizeFunctions: weights "int3" are not known\n  take one of int8, int4, f16',
  );
  assert.is(
    await refused({ model: () => bias }, { weights: "int8" }),
    'quantizeFunctions: model is not { fn, inputs }\n  give { fn: (x) => net.forward(x), inputs: [["N", 4]] }',
  );
  const two = (n: number) => ({ fn: (x: Tensor) => x, inputs: [[n]] }) as never;
  assert.is(
    await outputErrors(two(2), two(3), [tensor([1, 2])]).catch((e: Error) => e.name),
    "ShapeError",
  );
});

test.run();
