/**
 * Functions in WAT to a WebAssembly module: types, the memory and the `Math` functions as imports, the
 * functions, their exports, their code. The memory is the first import and says 1 to 65536 pages,
 * unshared; the runtime changes that flag. No tables, globals, data or names.
 * WebAssembly specification 2.0, section 5.5.
 */

import { bug } from "@kiln-ml/ir";
import { Bytes } from "./bytes.ts";
import type { Code } from "./code.ts";
import { type Call, type FunctionEntry, FunctionReader } from "./functions.ts";
import { spellOut } from "./spell-out.ts";

const f64 = 0x7c;
const memoryMaximum = 65536;
const math = "$Math.";

interface Layout {
  readonly reader: FunctionReader;
  readonly imports: readonly Call[];
  /** By name: the index of the function of that name. */
  readonly indices: readonly (number | undefined)[];
}

/** One module of both variants' text; throws where our own printer wrote what it should not. */
export function assembleModule(
  functions: readonly string[],
  options: { readonly relaxed: boolean },
): Uint8Array {
  const layout = read(functions);
  return options.relaxed
    ? write(layout, layout.reader.relaxed, "relaxed")
    : write(layout, layout.reader.plain, "plain");
}

/** Both variants from one reading of the texts. */
export function assembleVariants(functions: readonly string[]): {
  plain: Uint8Array;
  relaxed: Uint8Array;
} {
  const layout = read(functions);
  return {
    plain: write(layout, layout.reader.plain, "plain"),
    relaxed: write(layout, layout.reader.relaxed, "relaxed"),
  };
}

/** The same module as text for another assembler, `madd` and `nmadd` spelled out. */
export function moduleText(
  functions: readonly string[],
  options: { readonly relaxed: boolean },
): string {
  const { imports, reader } = read(functions);
  const lines = imports.map(({ name, operands }) => {
    const text = reader.names.names[name]!;
    const type = `${" (param f64)".repeat(operands)} (result f64)`;
    return `  (import "Math" "${text.slice(math.length)}" (func ${text}${type}))`;
  });
  const memory = `  (import "env" "memory" (memory 1 ${memoryMaximum}))`;
  const bodies = functions.map((text) => spellOut(text, options.relaxed));
  return ["(module", memory, ...lines, ...bodies, ")", ""].join("\n");
}

function read(functions: readonly string[]): Layout {
  const reader = new FunctionReader();
  for (const text of functions) reader.read(text);
  const imports = reader.calls.filter((call) => isImported(call, reader));
  const indices: (number | undefined)[] = [];
  imports.forEach(({ name }, i) => {
    indices[name] = i;
  });
  reader.functions.forEach(({ name }, i) => {
    indices[name] = imports.length + i;
  });
  return { reader, imports, indices };
}

/** Whether the callee comes from `Math`; throws if it comes from nowhere or takes other operands. */
function isImported({ name, operands, where }: Call, reader: FunctionReader): boolean {
  const text = reader.names.names[name]!;
  const defined = reader.definition(name);
  if (defined !== undefined) {
    const params = defined.params.length;
    if (params !== operands)
      bug("assemble", `${where}: ${text} takes ${params} operands, not ${operands}`);
    return false;
  }
  if (!text.startsWith(math)) bug("assemble", `${where}: no function is called ${text}`);
  if (operands < 1 || operands > 2)
    bug("assemble", `${where}: ${text} takes 1 or 2 operands, not ${operands}`);
  return true;
}

function write(layout: Layout, code: Code, variant: "plain" | "relaxed"): Uint8Array {
  const { functions } = layout.reader;
  const types = new Types();
  const imported = layout.imports.map(({ operands }) =>
    types.index(new Array<number>(operands).fill(f64), f64),
  );
  const own = functions.map(({ params, result }) => types.index(params, result));
  const out = new Bytes();
  out.append(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]), 0, 8);
  section(out, 1, types.count, types.out);
  section(out, 2, 1 + imported.length, importEntries(layout, imported));
  section(out, 3, own.length, typeIndices(own));
  writeExports(out, layout);
  const bodies = new Bytes();
  bodies.reserve(code.length + 8 * functions.length);
  const indexOf = (name: number) => layout.indices[name]!;
  for (const entry of functions) code.copyTo(bodies, entry[variant], indexOf);
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

function importEntries({ imports, reader }: Layout, types: readonly number[]): Bytes {
  const out = new Bytes();
  out.text("env");
  out.text("memory");
  out.reserve(16);
  out.byte(2);
  out.byte(1);
  out.unsigned(1);
  out.unsigned(memoryMaximum);
  imports.forEach(({ name }, i) => {
    out.text("Math");
    out.text(reader.names.names[name]!.slice(math.length));
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

function writeExports(out: Bytes, { reader, indices }: Layout): void {
  const entries = new Bytes();
  const exported = reader.functions.filter(isExported);
  const seen = new Set<string>();
  for (const { name, exported: text } of exported) {
    if (seen.has(text)) bug("assemble", `${reader.names.names[name]}: ${text} exported twice`);
    seen.add(text);
    entries.text(text);
    entries.reserve(6);
    entries.byte(0);
    entries.unsigned(indices[name]!);
  }
  section(out, 7, exported.length, entries);
}

function isExported(entry: FunctionEntry): entry is FunctionEntry & { exported: string } {
  return entry.exported !== undefined;
}
