/** What the exported graph looks like, and what cannot be exported. */
import {
  avgPool,
  bitcast,
  constant,
  convolution,
  dim,
  GraphError,
  gather,
  input,
  maxPool,
  param,
  random,
  type Tensor,
  tensor,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { checkGraph, type ExportOptions, exportModel, exportOnnx } from "@kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { readModel } from "../../packages/onnx/src/proto/read.ts";

const modelOf = (inputs: readonly Tensor[], value: Tensor, options?: ExportOptions) =>
  exportModel({ inputs, outputs: [{ name: "y", value }] }, options);

const opsOf = (inputs: readonly Tensor[], value: Tensor): string[] =>
  modelOf(inputs, value).graph.nodes.map((n) => n.op);

function refuses(build: () => unknown, message: string): void {
  try {
    build();
  } catch (error) {
    assert.instance(error, GraphError);
    assert.is((error as Error).message, message);
    return;
  }
  assert.unreachable(`exported, though: ${message}`);
}

test("the model declares its inputs, outputs and symbols", () => {
  const x = input("x", "f32", ["N", 4]);
  const unused = input("unused", "i32", []);
  const w = param([1, 2, 3, 4], { name: "w" });
  const bytes = exportOnnx(
    { inputs: [x, unused], outputs: [{ name: "y", value: x.mul(w) }] },
    { name: "scaled" },
  );
  const model = checkGraph(readModel(bytes));
  const rows = { kind: "tensor", type: "float32", shape: ["N", 4] };
  assert.equal(model.graph, {
    name: "scaled",
    nodes: [
      {
        op: "Mul",
        domain: "",
        overload: "",
        name: "mul",
        inputs: ["x", "w"],
        outputs: ["y"],
        attributes: new Map(),
      },
    ],
    initializers: [{ name: "w", type: "float32", dims: [4], data: Float32Array.of(1, 2, 3, 4) }],
    inputs: [
      { name: "x", type: rows },
      { name: "unused", type: { kind: "tensor", type: "int32", shape: [] } },
    ],
    outputs: [{ name: "y", type: rows }],
    values: [],
  });
  assert.equal([model.irVersion, ...model.opsets], [10, ["", 21]]);
});

test("a layer is the nodes that a reader expects", () => {
  const x = input("x", "f32", ["N", 3, 8, 8]);
  const [dense, flat] = [new nn.Linear(4, 2), input("x", "f32", ["N", 4])];
  assert.equal(opsOf([flat], dense.forward(flat)), ["Transpose", "MatMul", "Add"]);
  assert.equal(opsOf([flat], flat.relu()), ["Max"]);
  assert.equal(opsOf([x], new nn.Flatten().forward(x)), ["Reshape"]);
  assert.equal(opsOf([x], maxPool(x, { size: 3, padding: 1 })), ["MaxPool"]);
  assert.equal(opsOf([x], avgPool(x, { size: 2 })), ["AveragePool"]);
  const w = param(new Float32Array(54), { name: "w", shape: [2, 3, 3, 3] });
  assert.equal(opsOf([x], convolution(x, w, { padding: 1 })), ["Conv"]);
  const table = param(new Float32Array(8), { name: "w", shape: [4, 2] });
  const i = input("i", "i32", ["N"]);
  assert.equal(opsOf([i], gather(table, [i], [0])), [
    "Less",
    "Add",
    "Where",
    "Cast",
    "Min",
    "Max",
    "Gather",
  ]);
});

test("weights come from the option, else from the first values", () => {
  const x = input("x", "f32", [2]);
  const w = param([1, 2], { name: "w" });
  const dataOf = (options?: ExportOptions) =>
    modelOf([x], x.add(w), options).graph.initializers[0]!.data;
  assert.equal(dataOf(), Float32Array.of(1, 2));
  assert.equal(dataOf({ weights: () => Float32Array.of(5, 6) }), Float32Array.of(5, 6));
  refuses(
    () => dataOf({ weights: () => new Float32Array(3) }),
    "exportOnnx: parameter w of [2] has 2 elements, its values are 3",
  );
  const computed = param(tensor([1, 2]).mul(2), { name: "c" });
  refuses(
    () => modelOf([x], x.add(computed)),
    "exportOnnx: parameter c begins as the result of mul, not as data\n  give its values by the option weights",
  );
});

test("names stay distinct", () => {
  const x = input("mul", "f32", [2]);
  const [a, b] = [param([1, 2], { name: "w" }), param([3, 4], { name: "w" })];
  const model = modelOf([x], x.mul(a).mul(b));
  assert.equal(
    checkGraph(model).graph.initializers.map((t) => t.name),
    ["w", "w_1"],
  );
});

test("an output may be an input, a constant, or another output", () => {
  const x = input("x", "f32", [2]);
  const y = x.neg();
  const outputs = [x, constant(1), y, y].map((value, i) => ({ name: `y${i}`, value }));
  const { nodes } = checkGraph(exportModel({ inputs: [x], outputs })).graph;
  assert.equal(
    nodes.map(({ op, inputs, outputs: [out] }) => `${out} = ${op}(${inputs})`),
    ["y2 = Neg(x)", "y0 = Identity(x)", "y1 = Identity(constant)", "y3 = Identity(y2)"],
  );
});

test("all that ONNX has nothing for is told at once", () => {
  const x = input("x", "f32", ["N", 4]);
  const key = random.key(1);
  const bits = bitcast(x, "u32")
    .add(random.bits(key, [4]))
    .add(random.bits(key, [1, 4]))
    .add(bitcast(x.neg(), "u32"));
  refuses(
    () => modelOf([x], bits),
    "exportOnnx: ONNX has nothing for bitcast before opset 26 (2 times), randomBits (2 times)",
  );
  const late = modelOf([x], bitcast(x, "i32"), { opset: 26 });
  assert.equal(
    late.graph.nodes.map((n) => n.op),
    ["BitCast"],
  );
});

test("a program that is not whole is refused", () => {
  const [x, z] = [input("x", "f32", ["N"]), input("z", "f32", ["N"])];
  refuses(
    () => modelOf([x], x.add(z)),
    "exportOnnx: an output needs the input z, which is not among the inputs",
  );
  refuses(
    () => modelOf([x, input("x", "f32", [])], x),
    'exportOnnx: the input name "x" is given twice',
  );
  refuses(() => modelOf([x.neg()], x), "exportOnnx: an input is a neg node, not an input");
  refuses(
    () => modelOf([input("y", "f32", [])], constant(1)),
    'exportOnnx: the output name "y" is given twice',
  );
  refuses(() => modelOf([x], x, { opset: 17 }), "exportOnnx: opset is 17, not an integer from 18");
  refuses(
    () => modelOf([], tensor([1]).broadcastTo([dim("M")])),
    "exportOnnx: the symbol M can be read off no input's shape\n  export an input one of whose extents is M",
  );
});

test.run();
