/**
 * Every reader of files from elsewhere, with files to damage, structured inputs, and what its
 * errors must name.
 */

import { zipSync } from "fflate";
import {
  packArtifact,
  packFiles,
  unpackArtifact,
  writeSafetensors,
} from "../../packages/artifact/src/index.ts";
import { readIdx } from "../../packages/data/src/idx.ts";
import {
  openSafetensors,
  readNpyList,
  readNpz,
  readSafetensors,
  readTensors,
  readTorch,
  writeNpy,
  writeNpz,
} from "../../packages/formats/src/index.ts";
import { beginReading } from "../../packages/formats/src/reading.ts";
import { bytesOfEntry, readZip } from "../../packages/formats/src/zip.ts";
import { checkGraph } from "../../packages/onnx/src/proto/check.ts";
import { readModel, readTensor } from "../../packages/onnx/src/proto/read.ts";
import { writeModel, writeTensor } from "../../packages/onnx/src/proto/write.ts";
import { forge, sample, wasmSample } from "../artifact/sample.ts";
import type { Random } from "../support/mutate.ts";
import { sampleModel, sampleTexts, sampleWeights } from "../support/onnx-sample.ts";
import { corpus } from "./corpus.ts";
import { damageValue, entriesReader } from "./entries-files.ts";
import {
  hostileArchives,
  hostileArrays,
  hostileModels,
  hostileStreams,
  hostileZips,
} from "./hostile.ts";
import { languageModelReaders } from "./language-models.ts";
import {
  type Bytes,
  idxInputs,
  npyInputs,
  protobufInputs,
  safetensorsInputs,
  tarInputs,
  torchStreamInputs,
  torchZipInputs,
  zipInputs,
} from "./structured.ts";
import { hostileTfjs, readTfjs, tfjsFiles } from "./tfjs-models.ts";

/** What readers that take a name are given as one. */
export const fileName = "input.bin";

export interface FuzzReader {
  readonly name: string;
  /** Undefined if it accepted the input; throws what the reader threw. */
  readonly read: (bytes: Uint8Array) => unknown;
  readonly files: () => readonly Uint8Array[];
  /** Inputs with the structure of the format. */
  readonly made?: Bytes;
  /** Known tricks. */
  readonly hostile?: readonly Uint8Array[];
  /** The file with one of its parts damaged and its checksums made anew. */
  readonly within?: (
    file: Uint8Array,
    damage: (b: Uint8Array) => Uint8Array,
    random: Random,
  ) => Uint8Array;
  /** What every message of a refusal matches: it names the file, and the place in it. */
  readonly refusal: RegExp;
}

/** The name of the file, and then an offset or, of what has none, a quoted name. */
const atOffset = /^input\.bin: (.*(offset|byte|at) \d|.*".*"|\d+ bytes)/;

/** A zip with one entry damaged and sealed again. */
const withinZip: FuzzReader["within"] = (file, damage, random) => {
  const reading = beginReading("zip", file.length);
  const entries = [...readZip(file, reading).values()];
  // The pickle is the most telling; it comes first.
  const chosen = random() < 0.7 ? 0 : Math.floor(random() * entries.length);
  const files = entries.map((e, i) => {
    const bytes = bytesOfEntry(e, reading);
    return [e.name, i === chosen ? damage(bytes) : bytes] as const;
  });
  return zipSync(Object.fromEntries(files), { level: 0 });
};

/** An artifact with a value of its manifest replaced and sealed again. */
const withinArtifact: FuzzReader["within"] = (_, __, random) => {
  const edit = (manifest: unknown): void => damageValue(manifest, random);
  return packFiles(forge(edit, random() < 0.5 ? sample : wasmSample));
};

const models = "mnist-models-and-pt-safetensors";
const micro = "gguf-safetensors-npy-micro";
const values = { dtype: "f32", shape: [2, 3], data: new Uint8Array(24) } as const;
const ints = { dtype: "i32", shape: [3], data: new Uint8Array(12) } as const;
const idxFile = new Uint8Array([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6]);

const safetensorFiles = () => [
  writeSafetensors({ w: values, "b.c": ints }, { format: "x" }),
  ...corpus(/\.safetensors$/, models, micro),
];
const zipFiles = () => corpus(/(^|\/)(?!.*legacy)[^/]*\.pt$/, models).filter((b) => b[0] === 0x50);

export const readers: readonly FuzzReader[] = [
  {
    name: "safetensors",
    read: (bytes) => readSafetensors(bytes, { file: fileName }),
    files: safetensorFiles,
    made: safetensorsInputs,
    refusal: atOffset,
  },
  {
    name: "safetensors-range",
    async read(bytes) {
      const file = await openSafetensors(bytes, { file: fileName });
      for (const { name } of file.tensors) await file.read(name);
    },
    files: safetensorFiles,
    made: safetensorsInputs,
    refusal: atOffset,
  },
  {
    name: "artifact",
    read: (bytes) => unpackArtifact(bytes),
    files: () => [packArtifact(sample), packArtifact(wasmSample)],
    within: withinArtifact,
    refusal: /^[\w./-]+: \S/,
  },
  entriesReader,
  {
    name: "pt-zip",
    read: (bytes) => readTorch(bytes, { file: fileName }),
    files: zipFiles,
    made: torchZipInputs,
    hostile: hostileZips,
    within: withinZip,
    refusal: atOffset,
  },
  {
    name: "pt-zip-skip",
    read: (bytes) => readTorch(bytes, { file: fileName, unknown: "skip", checksums: false }),
    files: zipFiles,
    made: torchZipInputs,
    within: withinZip,
    refusal: atOffset,
  },
  {
    name: "pt-legacy",
    read: (bytes) => readTorch(bytes, { file: fileName }),
    files: () => corpus(/legacy.*\.pt$/, models),
    made: torchStreamInputs,
    hostile: hostileStreams,
    refusal: atOffset,
  },
  {
    name: "pt-tar",
    read: (bytes) => readTorch(bytes, { file: fileName }),
    files: () => corpus(/tar-form\.pt$/),
    made: tarInputs,
    refusal: atOffset,
  },
  {
    name: "npy",
    read: (bytes) => readNpyList(bytes, { file: fileName }),
    files: () => [writeNpy(values), writeNpy(ints), ...corpus(/\.npy$/, micro)],
    made: npyInputs,
    hostile: hostileArrays,
    refusal: atOffset,
  },
  {
    name: "npz",
    read: (bytes) => readNpz(bytes, { file: fileName }),
    files: () => [
      writeNpz({ a: values, b: ints }),
      writeNpz({ a: values }, { compress: true }),
      ...corpus(/\.npz$/),
    ],
    made: zipInputs,
    hostile: hostileArchives,
    within: withinZip,
    refusal: atOffset,
  },
  {
    name: "any-tensors",
    read: (bytes) => readTensors(bytes, { file: fileName }),
    files: () => [...safetensorFiles(), ...corpus(/\.(pt|npy|npz)$/)],
    made: zipInputs,
    refusal: atOffset,
  },
  {
    name: "onnx",
    read(bytes) {
      const external = () => new Uint8Array(64);
      checkGraph(readModel(bytes, { file: fileName, external }));
    },
    files: () => [writeModel(sampleModel), ...corpus(/\.onnx$/, "burn-onnx-models", micro)],
    made: protobufInputs,
    hostile: hostileModels,
    refusal: /^\S+: \S/,
  },
  {
    name: "onnx-tensor",
    read: (bytes) => readTensor(bytes, fileName),
    files: () => [writeTensor(sampleWeights), writeTensor(sampleTexts)],
    made: protobufInputs,
    refusal: atOffset,
  },
  {
    name: "tfjs",
    read: readTfjs,
    files: () => tfjsFiles.map((json) => new TextEncoder().encode(JSON.stringify(json))),
    hostile: hostileTfjs,
    refusal: /^(input\.bin|tfjs): \S/,
  },
  {
    name: "idx",
    read: (bytes) => readIdx(bytes),
    files: () => [idxFile],
    made: idxInputs,
    refusal: /^idx: \S/,
  },
  ...languageModelReaders,
];
