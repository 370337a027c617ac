/**
 * `manifest.json`: everything of an artifact that is not kernel text or tensor data, and the size
 * and checksum of each file that holds those. The last field is the checksum of the manifest's own
 * bytes before it. Says only what form the fields have; `verify.ts` checks what they say about each
 * other.
 */
import { type Artifact, artifactVersion, type KernelText } from "./artifact.ts";
import { crc32Text } from "./crc32.ts";
import { ArtifactError } from "./errors.ts";
import { maxFlowDepth } from "./flow.ts";
import { decodeText, parseJson } from "./json.ts";
import {
  type Check,
  count,
  dictionary,
  flag,
  identifier,
  isCount,
  isObject,
  list,
  manifestName,
  oneOf,
  record,
  refuse,
  show,
  tensorName,
  text,
} from "./schema.ts";
import { filedTargets } from "./targets.ts";

/** A file beside the manifest. */
export interface FileEntry {
  readonly name: string;
  readonly bytes: number;
  /** Eight hexadecimal digits. */
  readonly crc32: string;
}

/** A kernel without its text; `range` is the text's place in `kernels.js`, in bytes. */
export interface KernelEntry extends Omit<KernelText, "text"> {
  readonly range?: readonly [number, number];
}

/** The artifact as `manifest.json` states it. */
export interface Manifest extends Omit<Artifact, "kernels" | "modules" | "constants" | "weights"> {
  readonly files: readonly FileEntry[];
  readonly kernels: readonly KernelEntry[];
}

export const maxManifestBytes = 1 << 26;
const maxExtentDepth = 64;

const extentAt = (value: unknown, at: string, depth: number): void => {
  if (typeof value === "string") {
    identifier(value, at);
    return;
  }
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) refuse(at, `is ${show(value)}, not an integer below 2^53`);
    return;
  }
  if (!Array.isArray(value) || value.length !== 3)
    refuse(at, `is ${show(value)}, not a number, a dim or [operator, a, b]`);
  if (depth === maxExtentDepth) refuse(at, `is nested deeper than ${maxExtentDepth}`);
  oneOf("+", "*", "/", "%", "min", "max")(value[0], `${at}[0]`);
  extentAt(value[1], `${at}[1]`, depth + 1);
  extentAt(value[2], `${at}[2]`, depth + 1);
};
const extent: Check = (value, at) => extentAt(value, at, 0);

export const dtype = oneOf("f64", "f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool");
const limit: Check = (value, at) => (value === null ? undefined : count(value, at));
const fileName = text(
  /^((kernels\/[A-Za-z_]\w*|\w+)\.(js|wgsl|safetensors)|kernels(-relaxed)?\.wasm)$/,
  "a file of an artifact",
);
const spec = { name: tensorName, dtype, shape: list(extent, 32) };
const place = record({ in: oneOf("slot", "input", "output", "state", "constant"), index: count });

/** Part of a message: printable, so that it cannot steer a terminal. */
const sentence: Check = (value, at) => {
  if (typeof value !== "string" || value.length > 4096 || !/^[\P{C}\n]+$/u.test(value))
    refuse(at, `is ${show(value)}, not lines of printable characters`);
};

export const checksum = text(/^[0-9a-f]{8}$/, "eight hex digits");

const range: Check = (value, at) => {
  list(count)(value, at);
  const [start, end] = value as number[];
  if ((value as number[]).length !== 2 || start! > end!)
    refuse(at, `is ${show(value)}, not [start, end]`);
};
const workgroups: Check = (value, at) => {
  list(extent)(value, at);
  if ((value as unknown[]).length !== 3) refuse(at, `is ${show(value)}, not three extents`);
};

const phase = record({
  entry: text(/^[A-Za-z_][\w.]*$/, "an identifier with dots"),
  units: extent,
});

const kernel = record(
  {
    name: identifier,
    bindings: list(
      record({ name: identifier, dtype, access: oneOf("read", "write", "readwrite", "scratch") }),
      256,
    ),
    dims: list(identifier, 256),
  },
  { workgroups, phases: list(phase, 256), stack: extent, range },
);

const flowAt = (value: unknown, at: string, depth: number): void => {
  if (typeof value === "number") {
    count(value, at);
    return;
  }
  if (depth === maxFlowDepth) refuse(at, `is nested deeper than ${maxFlowDepth}`);
  const inside = list((v, where) => flowAt(v, where, depth + 1));
  const has = (key: string) => isObject(value) && Object.hasOwn(value, key);
  const fields: Record<string, Check> = has("loop")
    ? { loop: record({ dim: identifier, trips: extent }), body: inside }
    : has("while")
      ? { while: record({ test: inside, flag: place }, { most: count }), body: inside }
      : { if: place, then: inside, else: inside };
  record(fields)(value, at);
};
const flow: Check = (value, at) => flowAt(value, at, 0);

const manifest = record(
  {
    version: count,
    target: oneOf(...filedTargets),
    name: tensorName,
    signature: record(
      {
        dims: list(record({ name: identifier, min: count, max: limit }), 256),
        inputs: list(record(spec)),
        outputs: list(record(spec)),
        states: list(record({ ...spec, shape: list(count, 32), trainable: flag, written: flag })),
      },
      { requirements: list(record({ value: extent, text: sentence })) },
    ),
    kernels: list(kernel),
    plan: record(
      {
        slots: list(record({ sizes: list(extent) })),
        steps: list(
          record(
            { kernel: count, args: list(place, 256), bytes: extent, flops: extent },
            { starts: list(count, 256) },
          ),
        ),
        copies: list(record({ from: place, to: place, bytes: extent })),
      },
      { flow: list(flow) },
    ),
    limits: dictionary(identifier, count),
    features: list(text(/^[\w-]+$/, "a feature's name"), 256),
    files: list(record({ name: fileName, bytes: count, crc32: checksum })),
  },
  { crc32: checksum },
);

/** Throws ArtifactError unless `value` has the form of a Manifest. */
export function checkManifest(value: unknown): asserts value is Manifest {
  manifest(value, "");
}

const seal = (checksum: string): string => `,\n"crc32": "${checksum}"\n}\n`;

/** The bytes of a manifest: one line for each element of a list, checksum last. */
export function printManifest(value: object): Uint8Array {
  const body = new TextEncoder().encode(printLines(value).slice(0, -2));
  const tail = new TextEncoder().encode(seal(crc32Text(body)));
  const bytes = new Uint8Array(body.length + tail.length);
  bytes.set(body);
  bytes.set(tail, body.length);
  return bytes;
}

function printLines(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const rows = Array.isArray(value)
    ? value.map((v) => JSON.stringify(v))
    : Object.entries(value)
        .filter(([, v]) => v !== undefined)
        .map(([k, v]) => `${JSON.stringify(k)}: ${printLines(v)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return rows.length === 0 ? open + close : `${open}\n${rows.join(",\n")}\n${close}`;
}

/**
 * What a manifest says, before the form of its fields is known. Checks, in this order: size, text,
 * version, its own checksum. Throws ArtifactError.
 */
export function readSealed(bytes: Uint8Array): unknown {
  if (bytes.length > maxManifestBytes)
    throw new ArtifactError(
      `${manifestName}: ${bytes.length} bytes, more than ${maxManifestBytes}`,
    );
  const value = parseJson(decodeText(bytes, manifestName), manifestName);
  checkVersion((value as { version?: unknown } | null)?.version);
  const body = bytes.length - seal("00000000").length;
  const { crc32: stated } = value as { crc32?: unknown };
  const actual = crc32Text(bytes.subarray(0, Math.max(body, 0)));
  const tail = decodeText(bytes.subarray(Math.max(body, 0)), manifestName);
  if (stated !== actual || tail !== seal(actual))
    refuse("crc32", `is ${show(stated)}, the bytes before it have "${actual}"`);
  return value;
}

/** The manifest in `bytes`, with the form of each field checked. Throws ArtifactError. */
export function readManifest(bytes: Uint8Array): Manifest {
  const value = readSealed(bytes);
  checkManifest(value);
  return value;
}

/** Throws ArtifactError unless this code reads and writes `version`. */
export function checkVersion(version: unknown): void {
  if (!isCount(version) || version === 0)
    refuse("version", `is ${show(version)}, not a positive integer`);
  if (version !== artifactVersion)
    throw new ArtifactError(
      `${manifestName}: version ${version} was found, this reader needs version ${artifactVersion}\n  ` +
        (version > artifactVersion
          ? `load it with a release of kiln-ml that reads version ${version}`
          : "compile the program again"),
    );
}
