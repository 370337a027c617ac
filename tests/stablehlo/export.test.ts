/** Arguments, results and donation of exported programs, the text of small ones, and what is refused. */
import {
  allOps,
  assign,
  constant,
  dim,
  input,
  makeNode,
  param,
  random,
  type Tensor,
  tensor,
  trace,
  windows,
} from "@kiln-ml/ir";
import { exportStableHlo, parseStableHlo, rows, withoutRow } from "@kiln-ml/stablehlo";
import { test } from "uvu";
import * as assert from "uvu/assert";

const program = (inputs: readonly Tensor[], value: Tensor) => ({
  inputs,
  outputs: [{ name: "y", value }],
  updates: [],
});

/** The message, verbatim. */
const refused = (define: () => unknown, name: string, message: string): void =>
  assert.throws(define, (e: Error) => {
    assert.is(e.message, message);
    return e.name === name;
  });

test("every primitive has a row, and every row is of a primitive", () => {
  const known = [...Object.keys(rows), ...withoutRow].sort();
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

test("symbols without numbers are told all at once", () => {
  const [x, y] = [input("x", "f32", ["N", 3]), input("y", "f32", ["M"])];
  const p = { inputs: [x, y], outputs: [{ name: "s", value: x.sum() }], updates: [] };
  refused(
    () => exportStableHlo(p),
    "ShapeError",
    "stablehlo: an engine compiles fixed extents, and these are symbols: N (x f32[N,3]), M (y f32[M])\n  give each a number: { dims: { N: 64, M: 64 } }",
  );
});

test("dims that do not fit the program are refused", () => {
  const x = input("x", "f32", [dim("N"), 3]);
  const p = program([x], windows(x.sum(1), { size: 4 }));
  refused(
    () => exportStableHlo(p, { dims: { N: 8, K: 2 } }),
    "ShapeError",
    "stablehlo: dims has K, which no shape of the program names\n  its symbols are N",
  );
  refused(
    () => exportStableHlo(p, { dims: { N: 0.5 } }),
    "ShapeError",
    "stablehlo: dims.N is 0.5, not an integer of 1 or more\n  give the extent that the engine is to compile for",
  );
  refused(
    () => exportStableHlo(p, { dims: { N: 3 } }),
    "ShapeError",
    "windows: window 4 with dilation 1 does not fit axis 0 of [N], with { N: 3 }\n  give other dims",
  );
  const fixed = input("x", "f32", [2]);
  refused(
    () => exportStableHlo(program([fixed], fixed.add(1)), { dims: { N: 3 } }),
    "ShapeError",
    "stablehlo: dims has N, which no shape of the program names\n  leave it out: the program has no symbols",
  );
});

test("ops without a row are told all at once, in regions too", () => {
  const x = input("x", "f32", [2]);
  const own = (op: string, t: Tensor) =>
    makeNode({ op, operands: [t], attrs: {}, dtype: t.dtype, shape: t.shape });
  refused(
    () => exportStableHlo(program([x], own("fft", own("erfinv", x)))),
    "GraphError",
    "stablehlo: no row for erfinv, fft\n  write them with the primitives of docs/ops.md",
  );
});

test("an input that the program does not list is refused", () => {
  const [x, z] = [input("x", "f32", [2]), input("z", "f32", [2])];
  refused(
    () => exportStableHlo(program([x], x.add(z))),
    "GraphError",
    "stablehlo: input z is read and is none of the program's inputs\n  add it to inputs",
  );
});

test("a misspelt option is refused", () => {
  refused(
    () => exportStableHlo(program([], constant(1)), { dim: { N: 1 } } as never),
    "GraphError",
    "stablehlo: there is no option dim\n  did you mean dims?",
  );
});

test("text that the exporter did not write is refused with its line", () => {
  const { text } = exportStableHlo(program([], constant(1)));
  refused(
    () => parseStableHlo(text.replace('"stablehlo.constant"()', "stablehlo.constant")),
    "ArtifactError",
    "stablehlo: expected an op at line 3: %0 = stablehlo.constant {value = dense<1.0> : tensor<f32>} :\n  only text that exportStableHlo wrote is read",
  );
});

test.run();
