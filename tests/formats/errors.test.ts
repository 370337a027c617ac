/** What damaged, hostile and foreign files are refused with, word for word. */
import {
  readNpy,
  readNpz,
  readSafetensors,
  readTensors,
  readTorch,
  writeNpy,
} from "@kiln-ml/formats";
import { deflateSync } from "fflate";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  bytesOf,
  dict,
  little,
  pickle,
  streamForm,
  tensor,
  text,
  tuple,
} from "../fuzz/pickle-text.ts";
import { torchZip, zipOf } from "../fuzz/zip-text.ts";
import { constant, fixture, refusal } from "./read.ts";

const torch = (body: Uint8Array) => () => readTorch(torchZip(body), { file: "w.pt" });
const stream = (body: Uint8Array) => () => readTorch(streamForm(body), { file: "w.pt" });
const npy =
  (header: string, data = new Uint8Array(0)) =>
  () =>
    readNpy(bytesOf(0x93, "NUMPY", 1, 0, little(header.length, 2), header, data), {
      file: "x.npy",
    });
const npz = (bytes: Uint8Array) => () => readNpz(bytes, { file: "x.npz" });
const zeros = deflateSync(new Uint8Array(2 ** 20), { level: 9 });
const array = writeNpy(constant("u8", [4], [1, 2, 3, 4]));

const cases: readonly (readonly [title: string, message: string, read: () => unknown])[] = [
  [
    "a pickle that would run a command",
    'w.pt: offset 42: the pickle names "os.system", which is not one of the names that are known to be harmless\n  pass { unknown: "skip" } to read what is beside it',
    torch(pickle("cos\nsystem\n", tuple(text("ls")), "R")),
  ],
  [
    "a name that is known but is not to be called",
    'w.pt: offset 63: the pickle calls "torch.FloatStorage", which only stands for itself',
    torch(pickle("ctorch\nFloatStorage\n)R")),
  ],
  [
    "a call of what is no name",
    "w.pt: offset 44: the pickle calls a list of 0",
    torch(pickle("])R")),
  ],
  [
    "an opcode that does not exist",
    "w.pt: offset 42: 0xff is no pickle opcode",
    torch(pickle("\xff")),
  ],
  [
    "a pickle that is cut",
    "w.pt: offset 43: the pickle needs 4 bytes, 2 are left",
    torch(bytesOf(0x80, 2, "X", 1, 0)),
  ],
  [
    "a string longer than the file",
    "w.pt: offset 47: the pickle needs 4294967295 bytes, 2 are left",
    torch(pickle("X", little(2 ** 32 - 1, 4), "x")),
  ],
  [
    "a value that holds itself",
    `w.pt: "${"0.".repeat(40)}" is nested deeper than 100`,
    torch(pickle("]q", 0, "h", 0, "a")),
  ],
  [
    "a tensor past the end of its storage",
    'w.pt: offset 226: tensor "w" reaches element 5 of a storage of 4',
    torch(pickle(dict({ w: tensor({ start: 2 }) }))),
  ],
  [
    "a storage shorter than it says",
    'w.pt: offset 267: storage "0" has 16 bytes, its 9 elements take 36',
    torch(pickle(dict({ w: tensor({ count: 9 }) }))),
  ],
  [
    "a storage that is not there",
    'w.pt: offset 148: the zip has no entry for storage "../../0"',
    torch(pickle(dict({ w: tensor({ key: "../../0" }) }))),
  ],
  [
    "a zip of something else",
    'w.pt: the zip has no entry "data.pkl"',
    () => readTorch(zipOf([{ name: "a.npy", bytes: array }]), { file: "w.pt" }),
  ],
  [
    "one element repeated without end",
    'w.pt: offset 226: tensor "w" takes 4398046511104 bytes, which passes the limit of 33557752\n  pass a larger limitBytes if the file is to be trusted',
    torch(pickle(dict({ w: tensor({ size: [2 ** 20, 2 ** 20], stride: [0, 0] }) }))),
  ],
  [
    "a shape whose product overflows",
    "w.pt: offset 226: shape [4294967296,4294967296] has more than 2^53 - 1 elements",
    torch(pickle(dict({ w: tensor({ size: [2 ** 32, 2 ** 32], stride: [0, 0] }) }))),
  ],
  [
    "a dtype that Kiln lacks",
    'w.pt: offset 233: tensor "w" is complex64, which Kiln does not have',
    torch(pickle(dict({ w: tensor({ storage: "ComplexFloatStorage", count: 2 }) }))),
  ],
  [
    "two tensors of one name",
    'w.pt: offset 419: two tensors are named "a.b"',
    torch(pickle(dict({ "a.b": tensor(), a: dict({ b: tensor() }) }))),
  ],
  [
    "a name that every object has",
    'w.pt: "__proto__" is the name of a property of every object',
    torch(pickle(dict({ ["__proto__"]: tensor() }))),
  ],
  [
    "a pickle of something else",
    "w.pt: offset 0: a pickle that holds a dict of 0, not PyTorch's magic number: not a PyTorch file",
    () => readTorch(pickle("}"), { file: "w.pt" }),
  ],
  [
    "a stream whose storage has another size",
    'w.pt: offset 225: storage "0" has 4 elements, the pickle says 5',
    stream(pickle(dict({ w: tensor({ count: 5 }) }))),
  ],
  [
    "a key that is not there",
    'w.pt: there is no key "state", there is a, b',
    () =>
      readTorch(torchZip(pickle(dict({ a: text("x"), b: text("y") }))), {
        file: "w.pt",
        topLevelKey: "state",
      }),
  ],
  [
    "an integer that 32 bits cannot hold",
    'w.pt: offset 246: tensor "w": element 0 is 4575657221408423936, which i32 cannot hold',
    torch(
      pickle(dict({ w: tensor({ storage: "LongStorage", count: 2, size: [2], stride: [1] }) })),
    ),
  ],
  [
    "a zip without a directory",
    "x.npz: offset 4: the zip has no directory at its end",
    npz(bytesOf("PK", 3, 4)),
  ],
  [
    "a zip entry that inflates to more than it says",
    'x.npz: offset 35: zip entry "a.npy" inflates to more than 100 bytes, its directory says 100',
    npz(bomb(100)),
  ],
  [
    "a zip entry that says more than can be",
    'x.npz: offset 1067: zip entry "a.npy" cannot hold 2147483648 bytes in 1032',
    npz(bomb(2 ** 31)),
  ],
  [
    "a zip entry that inflates past the limit",
    'x.npz: offset 35: zip entry "a.npy" takes 1048576 bytes, which passes the limit of 1000\n  pass a larger limitBytes if the file is to be trusted',
    () => readNpz(bomb(2 ** 20), { file: "x.npz", limitBytes: 1000 }),
  ],
  [
    "a zip entry that leads out of its folder",
    'x.npz: offset 216: zip entry "../a.npy" has a name that could lead out of its folder',
    npz(zipOf([{ name: "../a.npy", bytes: array }])),
  ],
  [
    "a zip with a name twice",
    'x.npz: offset 385: the zip has "a.npy" twice',
    npz(
      zipOf([
        { name: "a.npy", bytes: array },
        { name: "a.npy", bytes: array },
      ]),
    ),
  ],
  [
    "zip entries that share bytes",
    'x.npz: offset 202: zip entries "a.npy" and "b.npy" overlap',
    npz(
      zipOf([
        { name: "a.npy", bytes: array, size: 200, packedSize: 200 },
        { name: "b.npy", bytes: array },
      ]),
    ),
  ],
  [
    "a zip entry with another checksum",
    'x.npz: offset 35: zip entry "a.npy" has the checksum 655b7efa, its directory says 00000001',
    npz(zipOf([{ name: "a.npy", bytes: array, crc: 1 }])),
  ],
  [
    "an encrypted zip entry",
    'x.npz: offset 167: zip entry "a.npy" is encrypted',
    npz(zipOf([{ name: "a.npy", bytes: array, flags: 1 }])),
  ],
  [
    "a zip of something else",
    "x.zip: offset 0: a zip that is neither a PyTorch file nor one of .npy files",
    () => readTensors(zipOf([{ name: "a.txt", bytes: array }]), { file: "x.zip" }),
  ],
  [
    "an array of objects",
    'x.npy: offset 10: elements of type "|O" are not numbers that Kiln has',
    () => readNpy(fixture("objects.npy"), { file: "x.npy" }),
  ],
  [
    "an array of complex numbers",
    'x.npy: offset 10: elements of type "<c8" are not numbers that Kiln has',
    () => readNpy(fixture("complex.npy"), { file: "x.npy" }),
  ],
  [
    "an array of records",
    "x.npy: offset 10: the elements are records of several fields, or have no type",
    () => readNpy(fixture("records.npy"), { file: "x.npy" }),
  ],
  [
    "an array that is cut",
    'x.npy: offset 65: tensor "array": f32[9] takes 36 bytes, the file has 3',
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9,)}", new Uint8Array(3)),
  ],
  [
    "a header that is a program",
    "x.npy: offset 20: the header is no Python literal: a value",
    npy("{'descr': __import__('os').system('ls')}"),
  ],
  [
    "a header with a key too many",
    'x.npy: offset 10: the header has the unknown key "more"',
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}"),
  ],
  [
    "a header that nests too deep",
    "x.npy: offset 19: the header is no Python literal: nested deeper than 8",
    npy("(".repeat(99)),
  ],
  [
    "bytes after an array",
    "x.npy: offset 132: 1 bytes stand after the array\n  readNpyList reads several in a row",
    () => readNpy(bytesOf(array, 0), { file: "x.npy" }),
  ],
  [
    "a dtype that NumPy lacks",
    "writeNpy: NumPy has no bf16\n  convert the tensor to f32",
    () => writeNpy(constant("bf16", [1], [1])),
  ],
  [
    "an 8-bit float in safetensors",
    'w.safetensors: offset 68: tensor "x" is F8_E4M3, which Kiln does not have',
    () => readSafetensors(eightBit(), { file: "w.safetensors" }),
  ],
  [
    "a safetensors header longer than the file",
    "w.safetensors: offset 0: the header says 99 bytes, the file has 2 after its length",
    () => readSafetensors(bytesOf(little(99, 8), "{}"), { file: "w.safetensors" }),
  ],
  [
    "a safetensors header that does not fit its data",
    'w.safetensors: header at offset 8: tensor "x": data_offsets [0,1] do not lie in the 0 bytes of data',
    () => readSafetensors(eightBit().subarray(0, -1), { file: "w.safetensors" }),
  ],
  [
    "a file of another kind",
    "w.bin: offset 0: GGUF files are not read",
    () => readTensors(bytesOf("GGUF", 3, 0, 0, 0), { file: "w.bin" }),
  ],
  [
    "a file of no kind",
    "w.bin: offset 0: not a safetensors, PyTorch, .npy or .npz file",
    () => readTensors(bytesOf("hello, world"), { file: "w.bin" }),
  ],
];

/** A megabyte of zeros in a kilobyte, of which the directory says `size`. */
function bomb(size: number): Uint8Array {
  return zipOf([{ name: "a.npy", bytes: zeros, method: 8, size, crc: 0 }]);
}

function eightBit(): Uint8Array {
  const header = '{"x":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}  ';
  return bytesOf(little(header.length, 8), header, 0);
}

for (const [title, message, read] of cases) test(title, () => assert.is(refusal(read), message));

test.run();
