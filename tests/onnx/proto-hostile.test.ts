/** What the reader refuses, with the message that says where; and that little files cannot ask for much memory. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ArtifactError } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { whyUnsafe } from "../../packages/onnx/src/proto/external.ts";
import {
  entryFields,
  type Fields,
  graphFields,
  modelFields,
  nodeFields,
  sparseFields,
  tensorFields,
} from "../../packages/onnx/src/proto/fields.ts";
import { type ReadOptions, readModel, readTensor } from "../../packages/onnx/src/proto/read.ts";
import { type Inputs, writeFields } from "../../packages/onnx/src/proto/write-fields.ts";

const part =
  <F extends Fields>(fields: F, inputs: Inputs<F>) =>
  (writer: BinaryWriter): void =>
    writeFields(writer, fields, inputs);

function bytes(write: (writer: BinaryWriter) => void): Uint8Array {
  const writer = new BinaryWriter();
  write(writer);
  return writer.finish();
}

function refused(read: () => unknown, message: string): void {
  try {
    read();
  } catch (error) {
    assert.instance(error, ArtifactError);
    assert.is((error as Error).message, message);
    return;
  }
  assert.unreachable(`read, though: ${message}`);
}

const refusesTensor = (inputs: Inputs<typeof tensorFields>, message: string): void =>
  refused(() => readTensor(bytes(part(tensorFields, inputs)), "t.pb"), message);

const refusesGraph = (
  inputs: Inputs<typeof graphFields>,
  message: string,
  options: ReadOptions = {},
): void => {
  const graph = part(graphFields, inputs);
  const model = bytes(part(modelFields, { irVersion: 8, graph }));
  refused(() => readModel(model, { file: "m.onnx", ...options }), message);
};

test("a file that ends early names the byte of the field that is cut", () => {
  const whole = bytes(part(tensorFields, { dims: [1], type: 1, raw: new Uint8Array(4) }));
  refused(
    () => readTensor(whole.subarray(0, -1), "t.pb"),
    "t.pb: a field of 4 bytes, but 3 are left in the file, at byte 5",
  );
  refused(() => readTensor(whole.subarray(0, 4), "t.pb"), "t.pb: premature EOF, at byte 3");
  refused(() => readModel(new Uint8Array()), "model: a model without an IR version, at byte 0");
});

test("a field that leaves its message, a group, and a wrong wire type are refused", () => {
  refused(
    () => readModel(Uint8Array.of(8, 8, 0x3a, 2, 0x12, 3, 65, 66, 67), { file: "m.onnx" }),
    "m.onnx: field 2 ends 3 bytes after its message, at byte 4",
  );
  refused(
    () => readModel(Uint8Array.of(8, 8, 0x10, 0), { file: "m.onnx" }),
    'm.onnx: field "producer" has wire type 0, not 2, at byte 2',
  );
  refused(
    () => readTensor(Uint8Array.of(0x7b, 0x7c), "t.pb"),
    "t.pb: a group, which ONNX does not have, at byte 0",
  );
});

test("dims that are negative, too many to count, or without data are refused before memory is taken", () => {
  refusesTensor({ dims: [-1], type: 1 }, 't.pb: tensor "" has dim -1, at byte 0');
  refusesTensor(
    { dims: [2 ** 40, 2 ** 40], type: 1 },
    't.pb: tensor "" of dims [1099511627776,1099511627776] has more elements than can be counted, at byte 0',
  );
  refusesTensor(
    { dims: [1e9], type: 1 },
    't.pb: tensor "" is float32[1000000000], of 1000000000 elements, but has 0 of 1000000000 numbers, at byte 0',
  );
  refusesTensor(
    { dims: [2], type: 1, raw: new Uint8Array(4) },
    't.pb: tensor "" is float32[2], of 2 elements in 8 bytes, but its data have 4, at byte 0',
  );
  assert.is(readTensor(bytes(part(tensorFields, { dims: [2 ** 50, 0], type: 1 }))).data.length, 0);
});

test("element types and elements that are none of ONNX's are refused", () => {
  refusesTensor(
    { dims: [], type: 99 },
    `t.pb: tensor "" has element type 99, none of ONNX's, at byte 0`,
  );
  refusesTensor({ dims: [] }, `t.pb: tensor "" has element type none, none of ONNX's, at byte 0`);
  refusesTensor(
    { dims: [1], type: 3, int32s: [128] },
    't.pb: tensor "" is int8[1], of 1 elements, but element 0 is 128, at byte 0',
  );
  refusesTensor(
    { dims: [2], type: 9, raw: Uint8Array.of(1, 2) },
    't.pb: tensor "": element 1 is 2, a bool is 0 or 1, at byte 0',
  );
  refusesTensor(
    { dims: [1], type: 8, strings: [Uint8Array.of(0xff)] },
    "t.pb: text that is not UTF-8, at byte 0",
  );
});

test("graphs inside graphs are read only so deep", () => {
  const nested = (depth: number): Uint8Array => {
    let graph: Uint8Array = new Uint8Array();
    for (let i = 0; i < depth; i++) {
      const inner = graph;
      // node { op "If", attribute { name "b", g: inner, type GRAPH } }
      const attribute = bytes((w) => {
        w.tag(1, WireType.LengthDelimited).string("b");
        w.tag(6, WireType.LengthDelimited).bytes(inner).tag(20, WireType.Varint).int32(5);
      });
      const node = bytes((w) => {
        writeFields(w, nodeFields, { op: "If" });
        w.tag(5, WireType.LengthDelimited).bytes(attribute);
      });
      graph = bytes((w) => w.tag(1, WireType.LengthDelimited).bytes(node));
    }
    return bytes((w) => {
      writeFields(w, modelFields, { irVersion: 8 });
      w.tag(7, WireType.LengthDelimited).bytes(graph);
    });
  };
  assert.is(readModel(nested(60)).graph.nodes.length, 1);
  assert.throws(() => readModel(nested(70)), /messages lie more than 200 deep, at byte \d+$/);
  assert.throws(() => readModel(nested(3000)), /messages lie more than 200 deep/);
});

test("names are unique where they must be", () => {
  const tensor = part(tensorFields, { name: "w", dims: [], type: 1, floats: [1] });
  refusesGraph(
    { initializers: [tensor, tensor] },
    'm.onnx: two initializers are named "w", at byte 4',
  );
  const nameless = part(tensorFields, { dims: [], type: 1, floats: [1] });
  refusesGraph({ initializers: [nameless] }, "m.onnx: an initializer without a name, at byte 4");
});

test("a location that could leave the folder of the model is refused", () => {
  const bad = ["", "/etc/passwd", "../w", "a/../../w", "..", "a\\..\\w", "C:\\w", "C:w", "file:w"];
  for (const location of [...bad, "http://x/w", "a\0b"]) assert.type(whyUnsafe(location), "string");
  for (const location of ["w.bin", "a/b.bin", "a..b", "./w", "...w"])
    assert.is(whyUnsafe(location), undefined, location);
  const at = (location: string, offset = "0", length = "4") => {
    const entries = { location, offset, length };
    const external = Object.entries(entries).map(([key, value]) =>
      part(entryFields, { key, value }),
    );
    return part(tensorFields, { name: "w", dims: [1], type: 1, location: 1, external });
  };
  const external = () => new Uint8Array(8);
  const refuses = (tensor: ReturnType<typeof at>, message: string, options: ReadOptions) =>
    refusesGraph({ initializers: [tensor] }, `m.onnx: tensor "w"${message}, at byte 6`, options);
  refuses(at("../w"), ` lies in "../w", which leaves the model's folder`, { external });
  refuses(at("w"), ' lies in "w", which was not given', {});
  refuses(at("w", "6"), ' is bytes 6 to 10 of "w", which has 8', { external });
  refuses(at("w", "-1"), ': offset "-1" is not a count', { external });
  refuses(at("w", "0", "99999999999999999999"), ': length "99999999999999999999" is not a count', {
    external,
  });
  const many = Array.from({ length: 9 }, (_, i) => (w: BinaryWriter) => {
    at("w", "1")(w);
    writeFields(w, { name: tensorFields.name }, { name: `w${i}` });
  });
  assert.throws(
    () =>
      readModel(
        bytes(
          part(modelFields, { irVersion: 8, graph: part(graphFields, { initializers: many }) }),
        ),
        { external },
      ),
    /tensor "w8": tensors take "w" more than 4 times/,
  );
});

test("what sparse tensors expand to is bounded by the file", () => {
  const values = part(tensorFields, { name: "s", dims: [1], type: 1, floats: [1] });
  const indices = part(tensorFields, { dims: [1], type: 7, int64s: [0] });
  const sparse = (dims: readonly number[]) => part(sparseFields, { values, indices, dims });
  refusesGraph(
    { sparseInitializers: [sparse([2 ** 30])] },
    'm.onnx: sparse tensor "s" of dims [1073741824] is too large for a file of 39 bytes, at byte 6',
  );
  refusesGraph(
    { sparseInitializers: [sparse([2 ** 17]), sparse([2 ** 18])] },
    'm.onnx: sparse tensor "s" of dims [262144] is too large for a file of 70 bytes, at byte 39',
  );
  const outside = part(tensorFields, { dims: [1], type: 7, int64s: [4] });
  refusesGraph(
    { sparseInitializers: [part(sparseFields, { values, indices: outside, dims: [4] })] },
    'm.onnx: sparse tensor "s": index 4 of value 0 is outside of [4], at byte 6',
  );
});

test("a megabyte of empty messages is refused at the first", () => {
  for (const field of [0x0a, 0x2a, 0x5a, 0x7a]) {
    const graph = new Uint8Array(2 ** 20);
    for (let i = 0; i < graph.length; i += 2) graph[i] = field;
    const model = bytes((w) => {
      writeFields(w, modelFields, { irVersion: 8 });
      w.tag(7, WireType.LengthDelimited).bytes(graph);
    });
    assert.throws(() => readModel(model), /, at byte 8$/);
  }
});

test.run();
