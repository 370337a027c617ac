/** Arguments, results and donation of exported programs, and the text of small ones. */
import {
  allOps,
  assign,
  constant,
  input,
  param,
  random,
  type Tensor,
  tensor,
  trace,
} from "@kiln-ml/ir";
import { exportStableHlo, parseStableHlo, rows, withoutRow } from "@kiln-ml/stablehlo";
import { test } from "uvu";
import * as assert from "uvu/assert";

const program = (inputs: readonly Tensor[], value: Tensor) => ({
  inputs,
  outputs: [{ name: "y", value }],
  updates: [],
});

test("every primitive has a row, and every row is of a primitive", () => {
  // A kernel of the user is text of another target.
  const known = [...Object.keys(rows), ...withoutRow, "customKernel"].sort();
  const all = allOps().map((r) => r.name);
  assert.equal(known, all.sort());
});

test("the text of a small program", () => {
  const [x, w] = [
    input("x", "f32", [2, 3]),
    param(
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
      { name: "w" },
    ),
  ];
  const { updates, value } = trace(() => {
    const y = x.matmul(w);
    assign(w, w.mul(0.5));
    return y;
  });
  const { text, args, results } = exportStableHlo(
    { inputs: [x], outputs: [{ name: "y", value }], updates: [...updates] },
    { name: "small" },
  );
  assert.is(
    text,
    `module @small attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<2x2xf32>, tensor<3x2xf32>) {
    %0 = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %1 = "stablehlo.constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
    %2 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<3x2xf32>
    %3 = "stablehlo.multiply"(%arg1, %2) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    "func.return"(%0, %3) : (tensor<2x2xf32>, tensor<3x2xf32>) -> ()
  }
}
`,
  );
  const brief = args.map(({ name, kind, alias }) => [name, kind, alias]);
  assert.equal(brief, [
    ["x", "input", undefined],
    ["w", "param", 1],
  ]);
  assert.equal(
    results.map((r) => r.name),
    ["y", "w"],
  );
  const main = parseStableHlo(text).functions.get("main")!;
  assert.equal(main.aliases, [undefined, 1]);
});

test("without donation no argument gives up its memory", () => {
  const w = param([1, 2], { name: "w" });
  const p = { inputs: [], outputs: [], updates: [[w, w.add(1)] as const] };
  assert.ok(exportStableHlo(p).text.includes("tf.aliasing_output = 0 : i32"));
  assert.not(exportStableHlo(p, { donate: false }).text.includes("aliasing"));
});

test("a graph is a program without updates, and data is an argument", () => {
  const x = input("x", "f32", [2]);
  const { args } = exportStableHlo({ params: [x], results: [x.add(tensor([1, 2]))] });
  assert.equal(
    args.map((a) => [a.name, a.kind]),
    [
      ["x", "input"],
      ["data0", "data"],
    ],
  );
});

test("the function of random bits is written once for each shape", () => {
  const key = input("key", "u32", [2]);
  const [a, b] = [random.bits(key, [3]), random.bits(random.fold(key, 1), [3])];
  const { functions } = parseStableHlo(exportStableHlo({ params: [key], results: [a, b] }).text);
  assert.equal([...functions.keys()].sort(), ["main", "threefry_u32_2", "threefry_u32_3"]);
});

test("numbers are read back to the same bits", () => {
  for (const x of [0.1, -0, 1e-45, 3.4028234663852886e38, NaN, Infinity, -Infinity]) {
    const text = exportStableHlo(program([], constant(x))).text;
    const value = /dense<[^>]*>/.exec(text)![0];
    assert.not.match(value, /dense<-?\d+(e|>)/);
  }
});

test.run();
