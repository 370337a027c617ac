/**
 * Loops over the mathematics of the wasm target, assembled and run here, or in a child process where the variant needs
 * an engine flag.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpRecord, Tensor } from "@kiln-ml/ir";
import {
  branchIf,
  type Code,
  get,
  i32Const,
  loop,
  memory,
  op,
  set,
  type ValueType,
  type WasmFunction,
} from "../../compiler/src/targets/wasm/code.ts";
import type { Bind } from "../../compiler/src/targets/wasm/math/index.ts";
import { encodeModules } from "../../compiler/src/targets/wasm/module.ts";

export type Variant = "plain" | "relaxed";
export type Lanes = "f32x4" | "f64";
/** The code of a function of operands. */
export type Body = (x: readonly Code[], bind: Bind) => Code;
type Floats = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** One function over all elements of its operands. */
export interface Run {
  readonly name: string;
  readonly lanes: Lanes;
  readonly body: Body;
  readonly inputs: readonly Floats[];
}

/** `out[i] = body(in₀[i], …)` for addresses `out`, `a0`, … and a size in bytes. */
function loopOf({ name, lanes, body, inputs }: Run): WasmFunction {
  const type = lanes === "f64" ? "f64" : "v128";
  const locals = new Map<string, ValueType>([["i", "i32"]]);
  const lines: Code[] = [];
  const bind: Bind = (kind, value) => {
    const local = `t${locals.size}`;
    locals.set(local, kind);
    lines.push(set(local, value));
    return get(local);
  };
  const at = (base: string) => ({ offset: 0, base: op("i32.add", get(base), get("i")) });
  const x = inputs.map((_, k) => bind(type, memory(`${type}.load`, at(`a${k}`))));
  lines.push(memory(`${type}.store`, at("out"), body(x, bind)));
  lines.push(set("i", op("i32.add", get("i"), i32Const(lanes === "f64" ? 8 : 16))));
  lines.push(branchIf("next", op("i32.lt_u", get("i"), get("bytes"))));
  const params = ["out", ...inputs.map((_, k) => `a${k}`), "bytes"];
  return {
    name,
    exported: true,
    params: new Map(params.map((param) => [param, "i32"])),
    locals,
    calls: new Set(),
    body: [loop("next", lines)],
  };
}

/** Operands of f32 for a record's type rule. */
export const asOperands = (count: number): Tensor[] =>
  new Array(count).fill({ dtype: "f32", shape: [1] } as unknown as Tensor);

/** How many f32 operands an elementwise record takes; 0 if it takes none. */
export function floatsTaken(record: OpRecord): number {
  for (const count of [1, 2])
    try {
      record.infer(asOperands(count), {});
      return count;
    } catch {}
  return 0;
}

const page = 65536;
/** Instantiates a module on a memory image, makes the calls, and leaves the memory in the file. */
const child = `
import { readFileSync, writeFileSync } from "node:fs";
const [folder] = process.argv.slice(1);
const { calls } = JSON.parse(readFileSync(folder + "/calls.json", "utf8"));
const image = readFileSync(folder + "/memory");
const memory = new WebAssembly.Memory({ initial: image.length / ${page}, maximum: 65536 });
new Uint8Array(memory.buffer).set(image);
const module = new WebAssembly.Module(readFileSync(folder + "/module"));
const { exports } = new WebAssembly.Instance(module, { env: { memory }, Math });
for (const [name, ...x] of calls) exports[name](...x);
writeFileSync(folder + "/memory", new Uint8Array(memory.buffer));
`;
/** Node 20 has the relaxed instructions behind this; later ones have them without. */
const flag = "--experimental-wasm-relaxed-simd";

type Call = [name: string, ...addresses: number[]];

function runHere(bytes: Uint8Array, image: Uint8Array, calls: readonly Call[]): Uint8Array {
  const memory = new WebAssembly.Memory({ initial: image.length / page, maximum: 65536 });
  new Uint8Array(memory.buffer).set(image);
  const imports = { env: { memory }, Math } as unknown as WebAssembly.Imports;
  const { exports } = new WebAssembly.Instance(
    new WebAssembly.Module(bytes as BufferSource),
    imports,
  );
  for (const [name, ...x] of calls) (exports[name] as (...x: number[]) => void)(...x);
  return new Uint8Array(memory.buffer);
}

function runInChild(bytes: Uint8Array, image: Uint8Array, calls: readonly Call[]): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "kiln-math-"));
  try {
    writeFileSync(join(folder, "module"), bytes);
    writeFileSync(join(folder, "memory"), image);
    writeFileSync(join(folder, "calls.json"), JSON.stringify({ calls }));
    execFileSync(process.execPath, [flag, "--input-type=module", "-e", child, folder]);
    return new Uint8Array(readFileSync(join(folder, "memory")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The results of all runs by name, of one module and one memory. */
export function runAll(runs: readonly Run[], variant: Variant): Map<string, Floats> {
  const bytes = encodeModules(runs.map(loopOf))[variant];
  let end = 1024;
  const place = (floats: Floats): number => {
    const at = end;
    end += (floats.byteLength + 15) & ~15;
    return at;
  };
  const places = runs.map(({ inputs }) => [inputs[0]!, ...inputs].map(place));
  const image = new Uint8Array(Math.ceil(end / page) * page);
  for (const [k, { inputs }] of runs.entries())
    for (const [i, x] of inputs.entries())
      image.set(new Uint8Array(x.buffer, x.byteOffset, x.byteLength), places[k]![i + 1]!);
  const calls = runs.map(
    ({ name, inputs }, k): Call => [name, ...places[k]!, inputs[0]!.byteLength],
  );
  const here = WebAssembly.validate(bytes as BufferSource);
  const out = (here ? runHere : runInChild)(bytes, image, calls);
  return new Map(
    runs.map(({ name, lanes, inputs }, k) => {
      const at = places[k]![0]!;
      const data = out.slice(at, at + inputs[0]!.byteLength).buffer;
      return [name, lanes === "f64" ? new Float64Array(data) : new Float32Array(data)];
    }),
  );
}
