/** What is written is read back as it was, for models of every kind of content. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { storages } from "../../packages/onnx/src/proto/element-storage.ts";
import {
  type AttributeDef,
  elementTypes,
  type GraphDef,
  type Model,
  type NodeDef,
  type TensorDef,
  type TypeDef,
  type ValueDef,
} from "../../packages/onnx/src/proto/model.ts";
import { readModel, readTensor } from "../../packages/onnx/src/proto/read.ts";
import { writeModel, writeTensor } from "../../packages/onnx/src/proto/write.ts";
import { runs } from "../support/setup.ts";

const name = fc.string({ minLength: 1, maxLength: 6, unit: "grapheme" });
const int = fc.maxSafeInteger();
const float = fc.float();

const tensor: fc.Arbitrary<TensorDef> = fc
  .record({
    name: fc.string({ maxLength: 40 }),
    type: fc.constantFrom(...elementTypes),
    dims: fc.array(fc.nat(3), { maxLength: 3 }),
    seed: fc.array(fc.nat(255), { minLength: 8, maxLength: 8 }),
  })
  .map(({ seed, ...t }) => {
    const size = t.dims.reduce((n, d) => n * d, 1);
    if (t.type === "string")
      return { ...t, data: Array.from({ length: size }, (_, i) => `s${seed[i % 8]}é`) };
    const { entries, make, bits, signed } = storages[t.type];
    const data = make(size * entries);
    for (let i = 0; i < data.length; i++) {
      const value = t.type === "bool" ? seed[i % 8]! & 1 : seed[i % 8]!;
      const fits = bits < 8 ? (value % 2 ** bits) - (signed ? 2 ** (bits - 1) : 0) : value;
      (data as BigInt64Array)[i] = (typeof data[0] === "bigint" ? BigInt(fits) : fits) as bigint;
    }
    return { ...t, data };
  });

const { type } = fc.letrec<{ type: TypeDef }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3 },
    fc.record(
      {
        kind: fc.constant("tensor" as const),
        type: fc.constantFrom(...elementTypes),
        shape: fc.array(fc.oneof(fc.nat(9), name, fc.constant(undefined)), { maxLength: 3 }),
      },
      { requiredKeys: ["kind", "type"] },
    ),
    fc.record({ kind: fc.constantFrom("sequence", "optional"), of: tie("type") }),
  ),
}));

const value: fc.Arbitrary<ValueDef> = fc.record({
  name,
  type: fc.option(type, { nil: undefined }),
});
const list = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(of, { maxLength: 2 });
const kind = <K extends string>(k: K): fc.Arbitrary<K> => fc.constant(k);

const { graph, node } = fc.letrec<{ graph: GraphDef; node: NodeDef; attribute: AttributeDef }>(
  (tie) => ({
    attribute: fc.oneof(
      { maxDepth: 2 },
      fc.record({ kind: kind("float"), value: float }),
      fc.record({ kind: kind("int"), value: int }),
      fc.record({ kind: kind("string"), value: fc.string() }),
      fc.record({ kind: kind("floats"), value: fc.array(float) }),
      fc.record({ kind: kind("ints"), value: fc.array(int) }),
      fc.record({ kind: kind("strings"), value: fc.array(fc.string()) }),
      fc.record({ kind: kind("reference"), value: name }),
      fc.record({ kind: kind("type"), value: type }),
      fc.record({ kind: kind("tensor"), value: tensor }),
      fc.record({ kind: kind("tensors"), value: list(tensor) }),
      fc.record({ kind: kind("graph"), value: tie("graph") }),
      fc.record({ kind: kind("graphs"), value: list(tie("graph")) }),
    ),
    node: fc.record({
      op: name,
      domain: fc.constantFrom("", "com.example"),
      overload: fc.constantFrom("", "x"),
      name: fc.constantFrom("", "n"),
      inputs: list(fc.string()),
      outputs: list(fc.string()),
      attributes: list(fc.tuple(name, tie("attribute"))).map((a) => new Map(a)),
    }),
    graph: fc.record({
      name: fc.string(),
      nodes: list(tie("node")),
      initializers: fc.uniqueArray(
        fc.tuple(tensor, name).map(([t, n]) => ({ ...t, name: n })),
        { selector: (t) => t.name, maxLength: 2 },
      ),
      inputs: list(value),
      outputs: list(value),
      values: list(value),
    }),
  }),
);

const opsets = fc.constantFrom(
  new Map([["", 21]]),
  new Map([
    ["", 9],
    ["com.example", 1],
  ]),
);
const model: fc.Arbitrary<Model> = fc.record({
  irVersion: fc.integer({ min: 3, max: 13 }),
  producer: fc.string(),
  opsets,
  graph,
  metadata: list(fc.tuple(name, fc.string())).map((m) => new Map(m)),
  functions: list(
    fc.record({
      name,
      domain: fc.constant("com.example"),
      overload: fc.constantFrom("", "x"),
      inputs: list(name),
      outputs: list(name),
      attributes: list(name),
      defaults: fc.constant(new Map()),
      nodes: list(node),
      opsets,
    }),
  ),
});

test("a model that was written is read as it was", () => {
  fc.assert(
    fc.property(model, (m) => {
      // A clone, as the records of fast-check have no prototype.
      assert.equal(readModel(writeModel(m)), structuredClone(m));
    }),
    { numRuns: runs(200) },
  );
});

test("a tensor that was written is read as it was, from any place in memory", () => {
  fc.assert(
    fc.property(tensor, fc.nat(7), (t, shift) => {
      const bytes = writeTensor(t);
      const moved = new Uint8Array(bytes.length + shift);
      moved.set(bytes, shift);
      assert.equal(readTensor(moved.subarray(shift)), structuredClone(t));
    }),
  );
});

test("data that do not fit the dims are not written", () => {
  const bad: TensorDef = { name: "t", type: "float32", dims: [2, 3], data: new Float32Array(5) };
  assert.throws(
    () => writeTensor(bad),
    'writeTensor: "t" is float32[2,3], its data have 5 entries',
  );
});

test.run();
