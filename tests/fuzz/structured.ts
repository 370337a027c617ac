/**
 * Inputs with the structure of a format and with odd values where it has numbers, names and lengths. Damaged real files
 * seldom get past the first check; these do.
 */

import fc from "fast-check";
import { deflateSync } from "fflate";
import {
  bytesOf,
  global,
  integer,
  little,
  pickle,
  streamForm,
  tensor,
  text,
} from "./pickle-text.ts";
import { torchZip, type ZipPart, zipOf } from "./zip-text.ts";

export type Bytes = fc.Arbitrary<Uint8Array>;

/** Sizes that overflow, that are not integers, and ordinary ones. */
const size = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 5 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(2 ** 16, 2 ** 31, 2 ** 32 + 1, 2 ** 53 - 1, 2 ** 53, 1e300),
  },
);
const count = fc.oneof(size, fc.constantFrom(-1, 0.5, 1e308));
const names = fc.constantFrom(
  "a",
  "b",
  "a.b",
  "../x",
  "/x",
  "__proto__",
  "constructor",
  "__metadata__",
  "",
  "n".repeat(2000),
);

const jsonTensor = fc.record({
  dtype: fc.constantFrom<unknown>(
    "F32",
    "BF16",
    "I64",
    "U64",
    "I16",
    "BOOL",
    "F8_E4M3",
    "C64",
    "Q4",
    7,
    null,
  ),
  shape: fc.oneof(
    fc.array(count, { maxLength: 4 }),
    fc.constantFrom<unknown>(null, "2", Array(40).fill(1)),
  ),
  data_offsets: fc.oneof(fc.tuple(size, size), fc.constantFrom<unknown>([0], [8, 4], [0, 16], "x")),
});
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

const jsonText = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(fc.tuple(names, jsonTensor), { maxLength: 4 })
      .map(
        (list) =>
          `{${list.map(([n, t]) => `${JSON.stringify(n)}:${JSON.stringify(t)}`).join(",")}}`,
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(nested(3000), `{"a":${nested(20000)}}`, '{"__metadata__":{"a":1}}'),
  },
  { weight: 1, arbitrary: fc.json() },
);

export const safetensorsInputs: Bytes = fc
  .tuple(jsonText, fc.uint8Array({ maxLength: 40 }), fc.option(size))
  .map(([header, data, length]) => {
    const bytes = new TextEncoder().encode(header);
    return bytesOf(little(length ?? bytes.length, 8), bytes, data);
  });

const npyText = fc
  .tuple(
    fc.constantFrom(
      "'<f4'",
      "'>i8'",
      "'|b1'",
      "'<u8'",
      "'<f2'",
      "'<c8'",
      "'|O'",
      "[('a','<f4')]",
      "'<U9'",
      "None",
    ),
    fc.constantFrom("False", "True", "1"),
    fc.array(count, { maxLength: 5 }),
    fc.constantFrom("", ", 'x': 1", ", 'shape': (1,)", "(".repeat(5000), "{".repeat(20)),
  )
  .map(
    ([descr, order, shape, more]) =>
      `{'descr': ${descr}, 'fortran_order': ${order}, 'shape': (${shape.map((d) => `${d},`).join("")})${more}}`,
  );

export const npyInputs: Bytes = fc
  .tuple(npyText, fc.integer({ min: 0, max: 4 }), fc.uint8Array({ maxLength: 80 }), fc.option(size))
  .map(([header, version, data, length]) => {
    const at = length ?? header.length;
    return bytesOf(0x93, "NUMPY", version, 0, little(at, version > 1 ? 4 : 2), header, data);
  });

const globals = fc.constantFrom(
  global("torch._utils", "_rebuild_tensor_v2"),
  global("torch._utils", "_rebuild_parameter"),
  global("torch", "FloatStorage"),
  global("collections", "OrderedDict"),
  global("builtins", "set"),
  global("builtins", "eval"),
  global("os", "system"),
  global("numpy", "dtype"),
  global("numpy.core.multiarray", "_reconstruct"),
  global("numpy", "ndarray"),
  global("_codecs", "encode"),
  global("argparse", "Namespace"),
  global("collections", "defaultdict"),
  global("torch._tensor", "_rebuild_from_type_v2"),
  global("__builtin__", "getattr"),
);
/** Opcodes without operands. */
const bare = fc.constantFrom(
  ..."(.012N]al)td}su\x85\x86\x87\x88\x89\x8f\x90\x91\x94Rboe\x81\x92\x93Q".split(""),
);
const pushes = fc.oneof(
  size.map(integer),
  fc.string({ maxLength: 5 }).map((s) => text(s.replace(/[^ -~]/g, "?"))),
  fc.uint8Array({ maxLength: 5 }).map((b) => bytesOf("C", b.length, b)),
  fc.double().map(() => bytesOf("G", new Uint8Array(8))),
  fc.constantFrom(
    bytesOf("I01\n"),
    bytesOf("L12L\n"),
    bytesOf("F1.5\n"),
    bytesOf("S'a'\n"),
    bytesOf("Vx\n"),
    bytesOf("Px\n"),
  ),
);
const memo = fc
  .tuple(fc.constantFrom("h", "q"), fc.integer({ min: 0, max: 3 }))
  .map(([op, i]) => bytesOf(op, i));
const oddTensor = fc
  .record({
    size: fc.array(size, { maxLength: 4 }),
    stride: fc.array(size, { maxLength: 4 }),
    start: size,
    count: size,
    storage: fc.constantFrom(
      "FloatStorage",
      "LongStorage",
      "BoolStorage",
      "ComplexFloatStorage",
      "OddStorage",
    ),
    key: fc.constantFrom("0", "1", "../0"),
  })
  .map(tensor);
const fair = fc
  .record({ size: fc.tuple(size, size), stride: fc.tuple(size, size) })
  .map((t) => tensor(t));
const oneOp = fc.oneof(
  { weight: 5, arbitrary: bare.map((op) => bytesOf(op)) },
  { weight: 4, arbitrary: pushes },
  { weight: 2, arbitrary: memo },
  { weight: 2, arbitrary: globals },
  { weight: 1, arbitrary: oddTensor },
);

/** Programs of opcodes, and dicts of tensors that are nearly right. */
export const pickleInputs: Bytes = fc.oneof(
  { weight: 2, arbitrary: fc.array(oneOp, { maxLength: 40 }).map((ops) => pickle(...ops)) },
  {
    weight: 3,
    arbitrary: fc
      .array(fc.tuple(names, fc.oneof(oddTensor, fair)), { maxLength: 3 })
      .map((list) => pickle("}(", ...list.flatMap(([n, t]) => [text(n), t]), "u")),
  },
);

export const torchZipInputs: Bytes = pickleInputs.map(torchZip);
export const torchStreamInputs: Bytes = fc
  .tuple(pickleInputs, fc.option(pickleInputs))
  .map(([body, keys]) => streamForm(body, keys ?? undefined));

const tarHeader = (name: string, length: number | string, kind: string): Uint8Array => {
  const header = new Uint8Array(512);
  header.set(bytesOf(name.slice(0, 100)));
  header.set(
    bytesOf(typeof length === "string" ? length : length.toString(8)).subarray(0, 12),
    124,
  );
  header.set(bytesOf(kind), 156);
  header.fill(32, 148, 156);
  const sum = header.reduce((n, b) => n + b, 0);
  header.set(bytesOf(sum.toString(8).padStart(6, "0")), 148);
  header[154] = 0;
  return header;
};

/** The tar form, whose lengths may lie. */
export const tarInputs: Bytes = fc
  .array(
    fc.tuple(
      fc.constantFrom("storages", "tensors", "pickle", "../x", "pickle"),
      fc.oneof(
        pickleInputs,
        size.map((n) => pickle(integer(n))),
      ),
      fc.option(fc.oneof(size, fc.constantFrom("77777777777", "-1", "x"))),
      fc.constantFrom("0", "0", "0", "5", "2", "\0"),
    ),
    { maxLength: 4 },
  )
  .map((entries) =>
    bytesOf(
      ...entries.flatMap(([name, body, length, kind]) => {
        const padded = new Uint8Array(Math.ceil(body.length / 512) * 512);
        padded.set(body);
        return [tarHeader(name, length ?? body.length, kind), padded];
      }),
      new Uint8Array(1024),
    ),
  );

const zeros = deflateSync(new Uint8Array(1 << 20));
const part: fc.Arbitrary<ZipPart> = fc.record(
  {
    name: fc.constantFrom(
      "m/data.pkl",
      "m/data/0",
      "a.npy",
      "b.npy",
      "../x.npy",
      "/a.npy",
      "c:/a.npy",
      "a.npy/",
      "x",
    ),
    bytes: fc.oneof(
      npyInputs,
      pickleInputs,
      fc.constant(zeros),
      npyInputs.map((b) => deflateSync(b)),
    ),
    method: fc.constantFrom(0, 0, 8, 8, 99),
    size: size.map((n) => n % 2 ** 32),
    packedSize: size.map((n) => n % 2 ** 32),
    crc: fc.constantFrom(0, 1),
    flags: fc.constantFrom(0, 0, 1, 8),
    header: size.map((n) => n % 2 ** 32),
    headerName: fc.constantFrom("a.npy", "z"),
    extra: fc.constantFrom(
      bytesOf(1, 0, 24, 0, little(2 ** 40, 8), little(2 ** 40, 8), little(0, 8)),
      bytesOf(1, 0, 255, 255),
    ),
  },
  { requiredKeys: ["name", "bytes"] },
);

/** Archives whose directory may lie. */
export const zipInputs: Bytes = fc
  .tuple(
    fc.array(part, { maxLength: 4 }),
    fc.record(
      {
        count: size,
        size,
        offset: size,
        comment: fc.uint8Array({ maxLength: 9 }),
        large: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([parts, end]) => zipOf(parts, end));

/** Messages of protobuf: keys, lengths and varints, nested, some with lengths past the end. */
export const protobufInputs: Bytes = fc.letrec<{ message: Uint8Array; field: Uint8Array }>(
  (tie) => ({
    message: fc.array(tie("field"), { maxLength: 5 }).map((f) => bytesOf(...f)),
    field: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      fc
        .tuple(fc.integer({ min: 1, max: 26 }), fc.integer({ min: 0, max: 127 }))
        .map(([n, v]) => bytesOf(...varint(n * 8), v)),
      fc
        .tuple(fc.integer({ min: 1, max: 26 }), size)
        .map(([n, v]) => bytesOf(...varint(n * 8), ...varint(v % 2 ** 53))),
      fc
        .tuple(fc.integer({ min: 1, max: 26 }), fc.uint8Array({ maxLength: 8 }))
        .map(([n, b]) => bytesOf(...varint(n * 8 + 2), b.length, b)),
      fc
        .tuple(fc.integer({ min: 1, max: 26 }), size)
        .map(([n, v]) => bytesOf(...varint(n * 8 + 2), ...varint(v % 2 ** 32))),
      fc
        .tuple(fc.constantFrom(7, 1, 5, 11, 6, 25, 2), tie("message"))
        .map(([n, m]) => bytesOf(...varint(n * 8 + 2), ...varint(m.length), m)),
    ),
  }),
).message;

export function varint(value: number): number[] {
  const out: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) out.push((left % 128) + 128);
  return [...out, left];
}

/** IDX files: type, rank, extents. */
export const idxInputs: Bytes = fc
  .tuple(
    fc.constantFrom(8, 9, 11, 12, 13, 14, 0),
    fc.array(
      size.map((n) => n % 2 ** 32),
      { maxLength: 4 },
    ),
    fc.uint8Array({ maxLength: 40 }),
  )
  .map(([type, shape, data]) =>
    bytesOf(0, 0, type, shape.length, ...shape.map((d) => little(d, 4).reverse()), data),
  );
