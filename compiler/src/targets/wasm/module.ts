/**
 * Functions to a WebAssembly module: types, the memory and the `Math` functions as imports, the
 * functions, their exports, their code. The memory is the first import and says 1 to 65536 pages,
 * unshared; the runtime changes that flag, which keeps the length, so that an artifact has two
 * modules (plain, relaxed) and not four. No tables, globals, data or names. WebAssembly
 * specification 2.0, section 5.5.
 *
 * Why one module for all kernels: each costs 50 to 120 µs to compile, and each thread an instance.
 */
import type { Modules } from "@kiln-ml/artifact";
import { bug } from "@kiln-ml/ir";
import { Bytes } from "./bytes.ts";
import type { WasmFunction } from "./code.ts";
import { FunctionEncoder, type IndexOf, valueTypes } from "./encode.ts";

const { f64 } = valueTypes;
const memoryMaximum = 65536;
const math = "Math.";

/** Functions of `Math` by name, in order of first call, and how many operands they take. */
type Imports = Map<string, number>;

/**
 * One module, without relaxed SIMD and with it, each made when it is first asked for: an engine
 * needs one of them. Making throws where our own printer made what it should not.
 */
export function encodeModules(functions: readonly WasmFunction[]): Modules {
  const once = (relaxed: boolean): (() => Uint8Array) => {
    let made: Uint8Array | undefined;
    return () => {
      made ??= encodeModule(functions, relaxed);
      return made;
    };
  };
  return Object.defineProperties({} as Modules, {
    plain: { get: once(false), enumerable: true },
    relaxed: { get: once(true), enumerable: true },
  });
}

function encodeModule(functions: readonly WasmFunction[], relaxed: boolean): Uint8Array {
  const own = new Map<string, number>();
  for (const f of functions) {
    if (own.has(f.name)) bug("encode", `${f.name}: defined twice`);
    own.set(f.name, own.size);
  }
  const imports: Imports = new Map();
  let bodies: Bytes;
  let known: number;
  let callsOwn = false;
  const indexOf: IndexOf = (name, operands, caller) => {
    const index = own.get(name);
    if (index === undefined) return importIndex(imports, name, operands, caller);
    const { size } = functions[index]!.params;
    if (size !== operands)
      bug("encode", `${caller}: ${name} takes ${size} operands, not ${operands}`);
    callsOwn = true;
    return imports.size + index;
  };
  // Functions of the module come after all imports, of which the last may be called after one of
  // them.
  do {
    known = imports.size;
    bodies = new Bytes();
    const encoder = new FunctionEncoder(relaxed, indexOf);
    for (const f of functions) encoder.write(f, bodies);
  } while (callsOwn && imports.size > known);
  return assembled(functions, imports, bodies);
}

function importIndex(imports: Imports, name: string, operands: number, caller: string): number {
  if (!name.startsWith(math)) bug("encode", `${caller}: no function is called ${name}`);
  if (operands < 1 || operands > 2)
    bug("encode", `${caller}: ${name} takes 1 or 2 operands, not ${operands}`);
  const first = imports.get(name);
  if (first === undefined) imports.set(name, operands);
  else if (first !== operands)
    bug("encode", `${caller}: ${name} called with ${operands} operands, elsewhere ${first}`);
  return [...imports.keys()].indexOf(name);
}

function assembled(
  functions: readonly WasmFunction[],
  imports: Imports,
  bodies: Bytes,
): Uint8Array {
  const types = new Types();
  const imported = [...imports.values()].map((operands) =>
    types.index(new Array<number>(operands).fill(f64), f64),
  );
  const own = functions.map(({ params, result }) =>
    types.index(
      [...params.values()].map((type) => valueTypes[type]),
      result && valueTypes[result],
    ),
  );
  const out = new Bytes();
  out.append(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]), 0, 8);
  section(out, 1, types.count, types.out);
  section(out, 2, 1 + imported.length, importEntries([...imports.keys()], imported));
  section(out, 3, own.length, typeIndices(own));
  section(out, 7, functions.filter((f) => f.exported).length, exportEntries(functions, imports));
  section(out, 10, functions.length, bodies);
  return out.finish();
}
/** A section unless it is empty: its number, its size, how many entries, the entries. */
function section(out: Bytes, id: number, count: number, entries: Bytes): void {
  if (count === 0) return;
  const head = new Bytes();
  head.unsigned(count);
  out.reserve(entries.length + 16);
  out.byte(id);
  out.unsigned(head.length + entries.length);
  out.append(head.bytes, 0, head.length);
  out.append(entries.bytes, 0, entries.length);
}

/** Function types, each once, in order of first use. */
class Types {
  readonly out: Bytes = new Bytes();
  readonly #indices = new Map<string, number>();

  get count(): number {
    return this.#indices.size;
  }

  index(params: readonly number[], result: number | undefined): number {
    const key = `${params}:${result}`;
    const known = this.#indices.get(key);
    if (known !== undefined) return known;
    this.out.reserve(params.length + 16);
    this.out.byte(0x60);
    this.out.unsigned(params.length);
    for (const param of params) this.out.byte(param);
    this.out.unsigned(result === undefined ? 0 : 1);
    if (result !== undefined) this.out.byte(result);
    const index = this.count;
    this.#indices.set(key, index);
    return index;
  }
}

function importEntries(names: readonly string[], types: readonly number[]): Bytes {
  const out = new Bytes();
  out.text("env");
  out.text("memory");
  out.reserve(16);
  out.byte(2);
  out.byte(1);
  out.unsigned(1);
  out.unsigned(memoryMaximum);
  names.forEach((name, i) => {
    out.text("Math");
    out.text(name.slice(math.length));
    out.reserve(6);
    out.byte(0);
    out.unsigned(types[i]!);
  });
  return out;
}

function typeIndices(types: readonly number[]): Bytes {
  const out = new Bytes();
  out.reserve(5 * types.length);
  for (const type of types) out.unsigned(type);
  return out;
}

function exportEntries(functions: readonly WasmFunction[], imports: Imports): Bytes {
  const out = new Bytes();
  functions.forEach(({ name, exported }, i) => {
    if (!exported) return;
    out.text(name);
    out.reserve(6);
    out.byte(0);
    out.unsigned(imports.size + i);
  });
  return out;
}
