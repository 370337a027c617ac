/**
 * The conformance harness: comparison as the suite compares, exclusion by content alone, the suite's layout in folders and
 * archives, counts of a report.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { casesOf } from "../../bench/onnx/cases.ts";
import { censusOf, exclusionOf, targetExclusion } from "../../bench/onnx/census.ts";
import { difference } from "../../bench/onnx/compare.ts";
import { openFiles } from "../../bench/onnx/files.ts";
import { failure, type Verdict } from "../../bench/onnx/judge.ts";
import { distance } from "../../bench/onnx/network-measure.ts";
import { type Column, percentage, tally } from "../../bench/onnx/report.ts";
import type { Surveyed } from "../../bench/onnx/survey.ts";
import { makeTensor, suiteInput, type TensorValue } from "../../bench/onnx/values.ts";
import type {
  AttributeDef,
  GraphDef,
  Model,
  NodeDef,
} from "../../packages/onnx/src/proto/model.ts";

const tolerance = { rtol: 1e-3, atol: 1e-7 };
const f32 = (...values: number[]): TensorValue => ({
  type: "float32",
  dims: [values.length],
  data: Float32Array.from(values),
});
const kind = (got: TensorValue, want: TensorValue): string | undefined =>
  difference("y", got, want, tolerance)?.kind;

test("floats are equal within rtol of the expected value plus atol, NaN and infinities as themselves", () => {
  assert.is(
    kind(
      f32(1000.9, Number.NaN, Number.POSITIVE_INFINITY),
      f32(1000, Number.NaN, Number.POSITIVE_INFINITY),
    ),
    undefined,
  );
  assert.is(kind(f32(1002), f32(1000)), "values differ");
  assert.is(kind(f32(2e-7), f32(0)), "values differ");
  assert.is(kind(f32(1), f32(Number.NaN)), "values differ");
  assert.is(kind(f32(Number.NaN), f32(1)), "values differ");
  assert.is(kind(f32(Number.NEGATIVE_INFINITY), f32(Number.POSITIVE_INFINITY)), "values differ");
});

test("integers, element types, shapes and lengths are compared exactly", () => {
  const i32 = (v: number): TensorValue => ({ type: "int32", dims: [1], data: Int32Array.of(v) });
  assert.is(kind(i32(100000), i32(100001)), "values differ");
  assert.is(kind(i32(1), f32(1)), "wrong dtype");
  assert.is(kind({ ...f32(1, 2), dims: [1, 2] }, { ...f32(1, 2), dims: [2, 1] }), "wrong shape");
  assert.is(difference("y", [f32(1)], [f32(1), f32(2)], tolerance)?.kind, "wrong length");
  assert.is(difference("y", null, null, tolerance), undefined);
  assert.is(difference("y", undefined, null, tolerance)?.kind, "wrong kind");
});

test("a difference names the first element and how many there are", () => {
  const want = { ...f32(1, 2, 3, 4), dims: [2, 2] };
  const got = { ...f32(1, 2, 3.5, 5), dims: [2, 2] };
  assert.is(
    difference("y", got, want, tolerance)?.detail,
    "y[1,0]: expected 3, got 3.5; 2 of 4 differ, by 1.0e+0 at most",
  );
});

test("half floats are compared as the numbers they are", () => {
  const half = (v: number) => makeTensor("x", "float16", [1], () => v);
  assert.is(kind(half(0.5), half(0.5)), undefined);
  assert.match(difference("y", half(0.5), half(2), tolerance)!.detail, "expected 2, got 0.5");
});

const emptyGraph: GraphDef = {
  name: "g",
  nodes: [],
  initializers: [],
  inputs: [],
  outputs: [],
  values: [],
};

const node = (
  op: string,
  inputs: string[] = [],
  attributes: [string, AttributeDef][] = [],
): NodeDef => ({
  op,
  domain: "",
  overload: "",
  name: "",
  inputs,
  outputs: ["y"],
  attributes: new Map(attributes),
});

const modelOf = (graph: Partial<GraphDef>): Model => ({
  irVersion: 8,
  producer: "",
  opsets: new Map([["", 18]]),
  graph: { ...emptyGraph, ...graph },
  functions: [],
  metadata: new Map(),
});

const excluded = (graph: Partial<GraphDef>, inputs = {}): string | undefined => {
  const model = modelOf(graph);
  return exclusionOf(model, censusOf(model), inputs);
};

test("a case is left out for the types in it, wherever they are, and for random results", () => {
  const cast = (type: number) => node("Cast", ["x"], [["to", { kind: "int", value: type }]]);
  assert.is(excluded({ nodes: [node("Abs", ["x"])] }), undefined);
  assert.is(excluded({ nodes: [cast(1)] }), undefined);
  assert.is(excluded({ nodes: [cast(8)] }), "strings");
  assert.is(excluded({ nodes: [cast(17)] }), "8-bit and 4-bit floats");
  assert.is(excluded({ nodes: [cast(22)] }), undefined, "int4 can be held");
  assert.is(excluded({ nodes: [cast(26)] }), "2-bit integers");
  const inner = modelOf({ nodes: [node("RandomUniformLike", ["x"])] }).graph;
  assert.is(
    excluded({ nodes: [node("If", ["c"], [["then_branch", { kind: "graph", value: inner }]])] }),
    "random results",
  );
});

test("a dropout is left out only if it draws", () => {
  const nodes = [node("Dropout", ["x", "ratio", "training"])];
  const scalar = (type: "bool" | "float32", v: number) => makeTensor("", type, [], () => v);
  const given = (ratio: number, training: number) =>
    excluded({ nodes }, { ratio: scalar("float32", ratio), training: scalar("bool", training) });
  assert.is(given(0.5, 1), "random results");
  assert.is(given(0, 1), undefined);
  assert.is(given(0.5, 0), undefined);
  assert.is(excluded({ nodes: [node("Dropout", ["x"])] }), undefined);
});

test("only webgpu lacks 64-bit floats", () => {
  const value = { name: "x", type: { kind: "tensor", type: "float64", shape: [1] } } as const;
  const census = censusOf(modelOf({ inputs: [value] }));
  assert.is(targetExclusion(census, "wasm"), undefined);
  assert.is(targetExclusion(census, "webgpu"), "WebGPU has no 64-bit floats");
});

test("ops are counted through subgraphs and functions, whose calls are no ops", () => {
  const branch = modelOf({ nodes: [node("Exp"), node("Exp")] }).graph;
  const model: Model = {
    ...modelOf({
      nodes: [
        node("If", [], [["else_branch", { kind: "graph", value: branch }]]),
        { ...node("Mine"), domain: "own" },
      ],
    }),
    functions: [
      {
        name: "Mine",
        domain: "own",
        overload: "",
        inputs: [],
        outputs: [],
        attributes: [],
        defaults: new Map(),
        nodes: [node("Tanh")],
        opsets: new Map(),
      },
    ],
  };
  assert.equal(
    [...censusOf(model).ops],
    [
      ["If", 1],
      ["Exp", 2],
      ["Tanh", 1],
    ],
  );
});

const layout: Readonly<Record<string, string>> = {
  "node/test_a/model.onnx": "m",
  "node/test_a/weights.bin": "w",
  "node/test_a/test_data_set_0/input_0.pb": "0",
  "node/test_a/test_data_set_0/input_10.pb": "10",
  "node/test_a/test_data_set_0/input_9.pb": "9",
  "node/test_a/test_data_set_0/output_0.pb": "o",
  "node/test_a/test_data_set_1/input_0.pb": "1",
  "real/test_n/data.json": '{"url":"x/light/light_n.onnx","rtol":0.002,"atol":1e-7}',
  "light/light_n.onnx": "n",
  "light/light_n_output_0.pb": "no",
};

function withFolder(files: Readonly<Record<string, string>>, body: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "kiln-cases-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("cases are found in the suite's layout, files in the order of their numbers", () => {
  withFolder(layout, (folder) => {
    const [stored, linked] = casesOf(openFiles(folder)!);
    assert.is(stored!.name, "node/test_a");
    assert.equal(
      stored!.sets[0]!.inputs.map((p) => p.split("_").at(-1)),
      ["0.pb", "9.pb", "10.pb"],
    );
    assert.is(stored!.sets.length, 2);
    assert.equal(stored!.beside, ["weights.bin"]);
    assert.is(linked!.name, "real/test_n");
    assert.is(linked!.model, "light/light_n.onnx");
    assert.is(linked!.rtol, 0.002);
    assert.equal(linked!.sets, [{ inputs: [], outputs: ["light/light_n_output_0.pb"] }]);
  });
});

/** A ustar header and content. */
function entry(name: string, content: string, type = "0"): Buffer {
  const header = Buffer.alloc(512);
  header.write(name.slice(0, 100), 0);
  header.write(content.length.toString(8).padStart(11, "0"), 124);
  header.write(type, 156);
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body]);
}

test("archives give the files that folders give, long names too", () => {
  const long = `node/test_${"x".repeat(120)}/model.onnx`;
  const pax = "34 path=node/test_pax/model.onnx\n";
  const archive = Buffer.concat([
    entry("./node/test_a/model.onnx", "a"),
    entry("././@LongLink", `${long}\0`, "L"),
    entry(long, "b"),
    entry("pax", pax, "x"),
    entry("short", "c"),
    Buffer.alloc(1024),
  ]);
  withFolder({}, (folder) => {
    const path = join(folder, "a.tar.gz");
    writeFileSync(path, gzipSync(archive));
    const files = openFiles(path)!;
    assert.equal(
      [...files.names],
      ["node/test_a/model.onnx", "node/test_pax/model.onnx", long].sort(),
    );
    assert.is(new TextDecoder().decode(files.read(long)), "b");
    assert.is(casesOf(files).length, 3);
  });
});

test("the suite's made input ascends within [0, 1), open extents being 1", () => {
  const t = suiteInput("x", { kind: "tensor", type: "float32", shape: ["n", 4] });
  assert.equal(t.dims, [1, 4]);
  assert.equal([...(t.data as Float32Array)], [0, 0.25, 0.5, 0.75]);
});

test("failures share a kind if only names and numbers differ, and unsupported ops are listed", () => {
  const kindOf = (message: string) => failure(new RangeError(message), 1).kind;
  assert.is(kindOf('pad: "a" of [2,3] needs 4'), kindOf('pad: "b" of [5] needs 61'));
  const lacking = failure(
    new Error("onnx: 2 ops are not supported: Abs ×2 (a, b); ai.x.Y ×1 (c)"),
    1,
  );
  assert.equal(lacking.unsupported, ["Abs", "ai.x.Y"]);
});

test("a report counts what a target ran; what was excluded or not sampled is in no percentage", () => {
  const surveyed = (name: string, reason?: string): Surveyed => ({
    case: { name, folder: name, model: "", sets: [], beside: [], made: false, rtol: 0, atol: 0 },
    ops: ["Abs"],
    nodes: 1,
    excludedOn: () => reason,
  });
  const verdict = (passed: boolean): Verdict => ({ passed, ms: 1 });
  const column: Column = {
    engine: "wasm",
    share: 1,
    verdicts: new Map([
      ["a", verdict(true)],
      ["b", verdict(false)],
      ["c", verdict(true)],
    ]),
  };
  const cases = [
    surveyed("a"),
    surveyed("b"),
    surveyed("c"),
    surveyed("d"),
    surveyed("e", "strings"),
  ];
  const counted = tally(cases, column);
  assert.equal(counted, { passed: 2, failed: 1, excluded: 1 });
  assert.is(percentage(counted).toFixed(1), "66.7");
});

test("the distance of results is the largest error, and that over the largest value", () => {
  assert.equal(distance({ y: f32(1, 4.5) }, { y: f32(1, 4) }), { absolute: 0.5, relative: 0.125 });
  assert.is(distance({}, { y: f32(1) }), undefined);
  assert.is(distance({ y: f32(Number.NaN) }, { y: f32(1) })?.absolute, Number.POSITIVE_INFINITY);
  assert.is(distance({ y: f32(Number.NaN) }, { y: f32(Number.NaN) })?.absolute, 0);
});

test.run();
