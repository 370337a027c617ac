/**
 * Calls with arguments of wrong types: from every method of a tensor, every function on tensors, every layer and optimizer an error of
 * Kiln comes, or a result, never one of the engine. Generated from what the packages export.
 */
import * as ir from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cases } from "../nn/module-cases.ts";
import { faultsOf } from "./wrong-calls.ts";

type Any = (...args: never[]) => unknown;

const x = ir.tensor([
  [1, 2, 3],
  [4, 5, 6],
]);
const image = ir.tensor(new Float32Array(96), { shape: [1, 2, 6, 8] });
const sequence = ir.tensor(new Float32Array(30), { shape: [2, 5, 3] });
const w = ir.param(ir.tensor([1, 2, 3]), { name: "w" });

const isClass = (f: unknown): boolean =>
  typeof f === "function" && /^class\b/.test(Function.prototype.toString.call(f));

test("every method of a tensor answers wrong arguments with an error of Kiln", () => {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(ir.Tensor.prototype)).flatMap(
    ([name, { value }]) =>
      typeof value === "function" && name !== "constructor" ? [[name, value as Any] as const] : [],
  );
  assert.ok(methods.length > 120);
  for (const [name, method] of methods)
    for (const right of [[], [x], [0], [[0, 1]]])
      assert.equal(faultsOf(`x.${name}`, method, right, x), []);
});

/** Composites whose first argument is a tensor and nothing else; as methods they are called on one. */
const composites = new Set(
  "square softsign softplus silu selu relu relu6 mish logSigmoid leakyRelu hardSwish hardSigmoid hardTanh gelu geluTanh elu celu mean variance std norm softmax maskedSoftmax logSoftmax logSumExp normalize lerp clamp where".split(
    " ",
  ),
);
const others = [
  "tensor", "param", "concat", "stack", "select", "full", "zeros", "ones", "scan", "cond", "whileLoop", "grad",
  "gradWhereReached", "valueAndGrad", "assign", "dimValue", "randomBits", "einsum", "tril", "triu", "tri", "diagonal", "diag",
  "traceOf", "interpolate", "gridSample", "affineGrid", "pixelShuffle", "pixelUnshuffle", "nonzero", "unique", "det", "slogdet",
  "maxPoolWithIndices", "maxUnpool", "roll", "tile", "repeat", "repeatInterleave", "movedim", "swapDims", "unfold", "rot90", "diff",
  "meshgrid", "isInf", "isClose", "allClose", "nanToNum", "remainder", "floorDivide", "hypot", "deg2rad", "rad2deg", "clampMin",
  "clampMax", "logCumSumExp", "lgamma", "digamma", "erfc", "erfinv", "maxWithIndices", "minWithIndices", "sortWithIndices",
  "median", "quantile", "varMean", "countNonzero", "cov", "searchsorted", "bucketize", "bincount", "histogram", "isIn",
  "scatterAlongAxis", "segmentSum", "segmentMean", "segmentMax", "segmentMin", "segmentSoftmax", "cross", "kron", "cdist",
  "cosineSimilarity", "arange", "logspace", "empty", "emptyLike",
  "deformConv", "quantize", "dequantize", "quantizeDynamic",
]; // biome-ignore format: a list

test("every function on tensors answers wrong arguments with an error of Kiln", () => {
  const functions = Object.entries({ ...ir, ...ir.random }).filter(
    ([name]) =>
      !composites.has(name) &&
      name !== "inFull" &&
      name !== "trace" &&
      (name in ir.Tensor.prototype || name in ir.random || others.includes(name)),
  ) as [string, Any][];
  assert.ok(functions.length > 100);
  for (const [name, f] of functions)
    for (const right of [[x], [x, x], [x, 0], [[2, 3]]]) assert.equal(faultsOf(name, f, right), []);
});

test("every layer answers wrong inputs with an error of Kiln", () => {
  const arguments_: Readonly<Record<string, readonly unknown[]>> = {
    ...Object.fromEntries(Object.values(cases).map((c) => [c.type, c.args])),
    Linear: [3, 2], Conv1d: [2, 3, 3], Conv2d: [2, 3, 3], BatchNorm1d: [3], BatchNorm2d: [2], LayerNorm: [3], RmsNorm: [3],
    GroupNorm: [1, 2], Embedding: [5, 2], MultiHeadAttention: [4, 2], LSTM: [3, 4], GRU: [3, 4], RNN: [3, 4], MaxPool2d: [2],
    AvgPool2d: [2], AdaptiveAvgPool2d: [1], Dense: [4], GCNConv: [2, 3], GATConv: [2, 3], SAGEConv: [2, 3],
    GINConv: [new nn.Linear(2, 2)], RNNCell: [3, 4], GRUCell: [3, 4], LSTMCell: [3, 4], Upsample: [{ scale: 2 }],
    DeformConv2d: [2, 3, 3],
  }; // biome-ignore format: a table
  // What a module is made of, and a function of the user's, are no layers.
  const layers = Object.entries(nn).filter(
    ([name, type]) => isClass(type) && !["Module", "Input", "Lambda", "KeyStream"].includes(name),
  ) as unknown as [string, new (...args: unknown[]) => nn.Module][];
  assert.ok(layers.length > 30);
  for (const [name, Type] of layers) {
    const layer = new Type(...(arguments_[name] ?? []));
    for (const given of [x, image, sequence])
      assert.equal(faultsOf(`${name}.forward`, layer.forward, [given], layer).filter((f) => !f.includes("argument 1")), []); // biome-ignore format: one line
    for (const key of ["load", "apply", "map", "train"] as const)
      assert.equal(faultsOf(`${name}.${key}`, layer[key] as Any, [], layer), []);
  }
});

test("every optimizer answers wrong arguments with an error of Kiln", () => {
  for (const [name, Type] of Object.entries({
    SGD: optim.SGD,
    Adam: optim.Adam,
    AdamW: optim.AdamW,
    RMSProp: optim.RMSProp,
  })) {
    // biome-ignore format: one line
    const make = (...args: unknown[]) => new (Type as new (...a: unknown[]) => unknown)(...args);
    assert.equal(faultsOf(`new ${name}`, make as Any, [[w], { lr: 0.1 }]), []);
    const opt = new Type([w], { lr: 0.1 });
    assert.equal(faultsOf(`${name}.step`, opt.step as Any, [w.sum()], opt), []);
    assert.equal(faultsOf(`${name}.apply`, opt.apply as Any, [[w]], opt), []);
  }
  const [scaler, sgd] = [new optim.GradScaler(), new optim.SGD([w], { lr: 1 })];
  assert.equal(faultsOf("scaler.step", scaler.step as Any, [sgd, w.sum()], scaler), []);
  assert.equal(faultsOf("scaler.apply", scaler.apply as Any, [sgd, [w]], scaler), []);
  for (const f of [optim.clipByGlobalNorm, optim.clipByValue, optim.polyak])
    assert.equal(faultsOf(f.name, f as Any, [[w], 1]), []);
});

test("wrong calls say what they got and what they take", () => {
  const message = (run: () => unknown): string => {
    try {
      run();
    } catch (e) {
      return (e as Error).message;
    }
    return "nothing was thrown";
  };
  const i = ir.tensor([0], { dtype: "i32" });
  assert.is(
    message(() => x.gather([i], { axes: [0] } as never)),
    "gather: axes must be a list, got Object",
  );
  assert.is(
    message(() => x.transpose(1 as never)),
    "transpose: perm must be a list, got 1",
  );
  assert.is(
    message(() => x.reshape("6" as never)),
    'reshape: the shape must be a list, got "6"',
  );
  assert.is(
    message(() => x.sum(0, null as never)),
    "sum: argument 2 is null\n  leave it out, or pass undefined",
  );
  assert.is(
    message(() => x.reshape([1.5, 4])),
    "reshape: an entry of the shape must be a whole number or a symbol, got 1.5",
  );
  assert.is(
    message(() => nn.attention(x, x, null as never)),
    "attention: operands must be tensors, got null",
  );
  assert.is(
    message(() => new optim.Adam([w], undefined as never)),
    "adam: lr is missing",
  );
});

test.run();
