/**
 * Kernels as functions of C. The instructions are those that the wasm printer makes, with as many
 * lanes as the machine has, so that both targets share what is hard: which loops run in lanes, what
 * their accumulators keep, guards, and the mathematics. Decides nothing but the spelling.
 *
 * Every function is `void NAME(char *mem, const int32_t *args, long from, long to, long stack)`:
 * `args` holds the addresses of the buffers, as offsets from `mem` without a sign, then the dims.
 */
import type { KernelText } from "@kiln-ml/artifact";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Code, WasmFunction } from "../wasm/code.ts";
import { emitWasm, functionsOf } from "../wasm/emit.ts";
import type { CFunction } from "./c-text.ts";
import type { CType } from "./operators.ts";
import { printPast } from "./past.ts";
import { reserved } from "./reserved.ts";
import { printAll } from "./statements.ts";

/** The kernel's phases as C functions, for vectors of so many lanes. */
export function emitNative(kernel: Kernel, lanes: number): KernelText {
  const text = emitWasm(kernel, lanes > 4 ? { width: lanes, past: printPast } : { width: lanes });
  // A number before the name tells phases apart, whatever kernels are called.
  const entry = (i: number): string => `k${i}_${kernel.name}`;
  const functions = functionsOf(text).map((f, i) =>
    printFunction(f, entry(i), kernel.params.length, lanes),
  );
  return {
    name: text.name,
    text: functions.join("\n"),
    bindings: text.bindings,
    dims: text.dims,
    phases: text.phases!.map(({ units }, i) => ({ entry: entry(i), units })),
    stack: text.stack!,
  };
}

const types: Readonly<Record<string, { readonly c: string; readonly type: CType }>> = {
  i32: { c: "long", type: "s" },
  f32: { c: "float", type: "s" },
  f64: { c: "double", type: "s" },
  v128: { c: "vf", type: "f" },
};

function printFunction(w: WasmFunction, entry: string, buffers: number, lanes: number): string {
  const names = new Map<string, string>();
  const taken = new Set(["mem", "args"]);
  const all = new Map([...w.params, ...w.locals]);
  const nameOf = (local: string): string => {
    const known = names.get(local);
    if (known) return known;
    let name = local.replace(/\W/g, "_");
    if (reserved.has(name)) name = `of_${name}`;
    while (taken.has(name)) name += "_";
    taken.add(name);
    names.set(local, name);
    return name;
  };
  let labels = 0;
  const f: CFunction = {
    lanes,
    nameOf,
    typeOf: (local) => types[all.get(local)!]!.type,
    freshLabel: () => `at${++labels}`,
    labels: [],
    statements: (list: readonly Code[]) => printAll(f, list).join(" "),
  };
  for (const last of ["from", "to", "stack"]) nameOf(last);
  const given = [...w.params.keys()].slice(0, -3).map((name, i) => {
    const type = i < buffers ? "uint32_t" : "int32_t";
    return `  const long ${nameOf(name)} = (${type})args[${i}];`;
  });
  const body = printAll(f, w.body).map((l) => `  ${l}`);
  return [
    `void ${entry}(char *mem, const int32_t *args, long from, long to, long stack) {`,
    ...given,
    ...locals(w, nameOf),
    ...body,
    "  (void)mem, (void)args, (void)from, (void)to, (void)stack;",
    ...[...given.keys()].map((i) => `  (void)${nameOf([...w.params.keys()][i]!)};`),
    "}",
  ].join("\n");
}

/** Declarations, one line a type; a schedule need not use all that it names. */
function locals({ locals: of }: WasmFunction, nameOf: (local: string) => string): string[] {
  const byType = new Map<string, string[]>();
  for (const [name, type] of of) {
    const list = byType.get(type) ?? [];
    byType.set(type, list);
    list.push(nameOf(name));
  }
  return [...byType].map(([type, list]) => `  ${types[type]!.c} UNUSED ${list.join(", ")};`);
}
