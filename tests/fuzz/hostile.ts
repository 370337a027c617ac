/**
 * Inputs made to hurt, each by one known trick. They run first, before any random ones.
 */
import { deflateSync } from "fflate";
import { crc32 } from "../../packages/artifact/src/crc32.ts";
import { bytesOf, dict, little, pickle, streamForm, tensor, text, tuple } from "./pickle-text.ts";
import { varint } from "./structured.ts";
import { torchZip, zipOf } from "./zip-text.ts";

/** A list in a list, `depth` times: by the stack, and then appended from the inside out. */
const deepList = (depth: number): Uint8Array => pickle("]".repeat(depth), "a".repeat(depth - 1));

/** Each list holds the one before it twice: 2^depth leaves. */
const laughs = (depth: number): Uint8Array => {
  const levels = Array.from({ length: depth }, (_, i) => bytesOf("](h", i, "h", i, "eq", i + 1));
  return pickle("]q", 0, ...levels);
};

/** A tensor of one element, repeated by strides of zero. */
const repeated = (n: number): Uint8Array =>
  pickle(dict({ w: tensor({ size: [n, n], stride: [0, 0] }) }));

/** The same tensor, not contiguous, under many names. */
const copies = (n: number): Uint8Array =>
  pickle(
    "}(",
    text("0"),
    bytesOf(tensor({ size: [2, 2], stride: [1, 2] }), "q", 9),
    ...Array.from({ length: n }, (_, i) => bytesOf(text(`n${i}`), "h", 9)),
    "u",
  );

/** A maker of tensors that makes itself, and so on. */
const makers = (depth: number): Uint8Array => {
  const maker = bytesOf(
    "ctorch._tensor\n_rebuild_from_type_v2\nq",
    0,
    "0ctorch\nTensor\nq",
    1,
    "0",
  );
  return pickle(maker, "(h\0h\x01".repeat(depth), ")", "t".repeat(depth), "q", 2, "0h\0h\x02R");
};

/** A long value, made by `make` of its memo again and again. */
const again = (value: Uint8Array, make: string, n: number): Uint8Array =>
  pickle(value, "q", 0, `${make}q\x01(`, bytesOf("h\x01(h\0tR".repeat(n)), "t");

const longText = text("x".repeat(200_000));
const longList = bytesOf("](", "N".repeat(200_000), "e");

/** One long boolean tensor under many names: each must be read through. */
const booleans = (): Uint8Array =>
  pickle(
    "}(",
    text("0"),
    bytesOf(
      tensor({ storage: "BoolStorage", count: 16, size: [4, 20_000], stride: [1, 0] }),
      "q",
      9,
    ),
    ...Array.from({ length: 20_000 }, (_, i) => bytesOf(text(`n${i}`), "h", 9)),
    "u",
  );

/** A tensor of a view, in old files, with `value` for each of its numbers. */
const tensorOf = (value: Uint8Array): Uint8Array =>
  bytesOf(
    "(",
    text("storage"),
    "ctorch\nFloatStorage\n",
    text("0"),
    text("cpu"),
    "K\x04",
    tuple(value, value, value),
    "tQ",
  );

const pickles: readonly Uint8Array[] = [
  deepList(50),
  deepList(100_000),
  pickle("]q", 0, "h", 0, "a"),
  pickle("}q", 0, text("a"), "h", 0, "s"),
  laughs(20),
  laughs(80),
  repeated(1000),
  repeated(2 ** 20),
  repeated(2 ** 27),
  copies(20_000),
  pickle(dict({ w: tensor({ start: 2 ** 53 - 1 }) })),
  pickle(dict({ w: tensor({ count: 2 ** 53 - 1 }) })),
  pickle(dict({ w: tensor({ size: Array(32).fill(2 ** 31), stride: Array(32).fill(0) }) })),
  pickle(dict({ w: tensor({ size: [0, 2 ** 53 - 1], stride: [1, 1] }) })),
  pickle(dict({ w: tensor(), "w.x": tensor() }), dict({ w: tensor() })),
  pickle("(", dict({ "a.b": tensor(), a: dict({ b: tensor() }) }), "t"),
  pickle("cos\nsystem\n", tuple(text("echo hi")), "R"),
  pickle("c__builtin__\neval\n", tuple(text("1")), "R"),
  pickle("(ios\nsystem\n"),
  pickle("(cos\nsystem\n", text("x"), "o"),
  pickle(text("os"), text("system"), 0x93, tuple(text("x")), "R"),
  again(longText, "c_codecs\nencode\n", 20_000),
  again(longText, "cpathlib\nPosixPath\n", 20_000),
  again(longText, "ctorch\ndevice\n", 20_000),
  again(longList, "cbuiltins\nlist\n", 20_000),
  again(longList, "cbuiltins\nset\n", 20_000),
  pickle(longText, "q", 0, "cpathlib\nPath\n(", "h\0".repeat(20_000), "tR"),
  booleans(),
  // A long state, given again and again.
  pickle(
    "}(",
    ...Array.from({ length: 20_000 }, (_, i) => text(`k${i}`)),
    "uq\0cargparse\nNamespace\n)R",
    "h\0b".repeat(20_000),
  ),
  // A number that is a deep list.
  pickle("]".repeat(50_000), "a".repeat(49_999), "q\0", tensorOf(bytesOf("h\0"))),
  makers(3),
  makers(50_000),
  pickle("}".repeat(200_000)),
  pickle("(".repeat(200_000)),
  pickle("]".repeat(200_000)),
  pickle("N0".repeat(100_000), "N"),
  pickle("L", "9".repeat(300_000), "L\n"),
  pickle(0x8b, little(2 ** 31 - 1, 4)),
  pickle("X", little(2 ** 32 - 1, 4), "x"),
  pickle(0x8d, little(2 ** 53, 8), "x"),
  pickle("r", little(2 ** 32 - 1, 4)),
  pickle("Nr", little(2 ** 32 - 1, 4)),
  pickle("p99999999999999999999\n"),
  pickle("}", text("__proto__"), tensor(), "s"),
];

export const hostileZips: readonly Uint8Array[] = pickles.map(torchZip);
export const hostileStreams: readonly Uint8Array[] = pickles.map((body) => streamForm(body));

const npyOf = (length: number): Uint8Array => {
  const header = `{'descr': '|u1', 'fortran_order': True, 'shape': (${length}, 1), }`;
  return bytesOf(0x93, "NUMPY", 1, 0, little(header.length, 2), header);
};
/** An array of 16 MiB of zeros in 16 KiB. */
const zeros = bytesOf(npyOf(1 << 24), new Uint8Array(1 << 24));
const packedZeros = deflateSync(zeros, { level: 9 });
const crc = crc32(zeros);
const bomb = (size: number) => zipOf([{ name: "a.npy", bytes: packedZeros, method: 8, size, crc }]);
/** The bytes of the first entry hold the second. */
const nestedEntries = (): Uint8Array => {
  const bytes = bytesOf(npyOf(4), 0, 0, 0, 0);
  const size = bytes.length + 30 + 5 + bytes.length;
  return zipOf([
    { name: "a.npy", bytes, size, packedSize: size },
    { name: "b.npy", bytes },
  ]);
};

export const hostileArchives: readonly Uint8Array[] = [
  bomb(zeros.length),
  bomb(100),
  bomb(2 ** 31),
  bomb(2 ** 32 - 2),
  zipOf(
    Array.from({ length: 40 }, (_, i) => ({
      name: `${i}.npy`,
      bytes: packedZeros,
      method: 8,
      size: zeros.length,
      crc,
    })),
  ),
  nestedEntries(),
  zipOf([
    { name: "a.npy", bytes: npyOf(0) },
    { name: "a.npy", bytes: npyOf(0) },
  ]),
  zipOf(Array.from({ length: 5_000 }, (_, i) => ({ name: `${i}.npy`, bytes: npyOf(0) }))),
  zipOf([], { count: 65_535 }),
  zipOf([{ name: "../../etc/x.npy", bytes: npyOf(0) }]),
];

export const hostileArrays: readonly Uint8Array[] = [
  npyOf(2 ** 53),
  npyOf(2 ** 40),
  bytesOf(0x93, "NUMPY", 2, 0, little(2 ** 32 - 1, 4), "{"),
  bytesOf(0x93, "NUMPY", 1, 0, little(65_535, 2), "(".repeat(65_535)),
  bytesOf(0x93, "NUMPY", 2, 0, little(60_000, 4), " ".repeat(60_000)),
  bytesOf(...Array.from({ length: 3000 }, () => npyOf(0))),
];

/** Fields that hold each other: a graph in a node's attribute, and so on. */
export function deepModel(depth: number): Uint8Array {
  let inside = new Uint8Array(0);
  const wrap = (field: number, body: Uint8Array) =>
    bytesOf(...varint(field * 8 + 2), ...varint(body.length), body);
  for (let i = 0; i < depth; i++) {
    // GraphProto.node = 1, NodeProto.attribute = 5, AttributeProto.g = 6.
    const node = wrap(1, wrap(5, wrap(6, inside)));
    inside = new Uint8Array(node);
  }
  return bytesOf(8, 8, wrap(7, inside));
}

export const hostileModels: readonly Uint8Array[] = [deepModel(10), deepModel(2000)];
