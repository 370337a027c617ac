/**
 * Prints a kernel as a WGSL module with entry `main`: workgroup loops become the grid, local loops
 * stride over the invocations, vector loops become vector operations where their lanes run
 * together. Never prints a barrier in control flow that differs between invocations: schedules put
 * them at the top of a workgroup's statements, and loops around them have bounds that all share.
 *
 * Bindings are those of the parameters in order, in group 0, then a uniform struct of the dims, if
 * there are any. An array that is f16 or bf16 without `shader-f16` holds words of two (`half.ts`).
 */
import type { KernelText } from "@kiln-ml/artifact";
import { bug, type Dim, DtypeError } from "@kiln-ml/ir";
import type { Kernel, Of, Param, Stmt } from "../../kernel/kernel.ts";
import { plainName } from "../../kernel/names.ts";
import { Emitter } from "../emitter.ts";
import { indexText } from "../index-text.ts";
import { atom, prec, setValue } from "../scope.ts";
import {
  absent,
  nothing,
  printFor,
  printInline,
  printRows,
  type Statements,
  textRows,
} from "../statements.ts";
import { bindingsOf } from "../target-language.ts";
import { printAcc, printAccumulate, printFma } from "./accumulate.ts";
import type { Declarations } from "./combine.ts";
import { eightsOf } from "./eights.ts";
import { extentsOf, type Grid, gridLines, gridOf } from "./grid.ts";
import { halfOf, wordType } from "./half.ts";
import { type Printer, storeLines, varies, wgsl } from "./language.ts";
import { printMatrix } from "./matrix.ts";
import { moduleText } from "./module.ts";
import { narrowText } from "./narrow.ts";
import { isNative, narrowType, splatNarrow } from "./native-half.ts";
import { preludeName, preludeText } from "./prelude.ts";
import { splat, typeOf } from "./spell.ts";
import { isVectorisable } from "./vector.ts";
import { printCombine, printPrefix } from "./workgroup.ts";

export interface WgslOptions {
  /** Combines use subgroup operations; the device must have the feature `subgroups`. */
  readonly subgroups?: boolean;
  /** f16 lies in memory as itself; the device must have the feature `shader-f16`. */
  readonly f16?: boolean;
}

export interface Module extends Printer {
  readonly kernel: Kernel;
  readonly options: WgslOptions;
  readonly grid: Grid;
  /** Names of the grid's loop variables. */
  readonly gridNames: readonly string[];
  readonly declarations: Declarations;
  /** Whether the text uses subgroup operations, and matrices of subgroups. */
  subgroups: boolean;
  matrices: boolean;
}

/**
 * The kernel as a WGSL module; bindings in the order of the params, then the uniform struct of
 * dims.
 */
export function emitWgsl(kernel: Kernel, options: WgslOptions = {}): KernelText {
  const m = newModule(kernel, options);
  const storage = kernel.params.map((p, i) => {
    const name = m.e.fresh(p.name);
    m.e.bindName(p.name, atom(name));
    const mode = p.access === "read" ? "read" : "read_write";
    return `@group(0) @binding(${i}) var<storage, ${mode}> ${name}: array<${elementType(m, i)}>;`;
  });
  m.e.line("let lid = i32(invocation);");
  const fields = kernel.dims.map((d) => {
    const name = m.e.fresh(d);
    m.e.line(`let ${name} = dims.${name};`);
    m.e.bindDim(d, atom(name));
    return `  ${name}: i32,`;
  });
  printGrid(m);
  printAll(m, kernel.body);
  useAll(m);
  return {
    name: kernel.name,
    text: moduleText(m, storage, fields),
    bindings: bindingsOf(kernel),
    dims: kernel.dims,
    workgroups: m.grid.workgroups,
  };
}

/** A binding the text does not mention would be missing from an automatic layout. */
function useAll(m: Module): void {
  const text = m.e.scope.lines.join("\n");
  for (const p of m.kernel.params) {
    const name = m.e.find(p.name).text.text;
    if (!new RegExp(`\\b${name}\\[`).test(text)) m.e.line(`_ = &${name};`);
  }
}

/**
 * What is known while the module is printed. Packed halves are read and written one by one,
 * whatever the schedule says of their width: two of them share a word.
 */
function newModule(kernel: Kernel, options: WgslOptions): Module {
  const declarations: Declarations = new Map();
  const use = (name: string, lanes: number): string => {
    preludeText(name, lanes, declarations);
    return preludeName(name, lanes);
  };
  const e: Emitter = new Emitter(
    kernel,
    wgsl(() => m),
  );
  const grid = gridOf(kernel);
  const native = options.f16 ?? false;
  // Of halves in words each is read and written by itself.
  const isPacked = ({ dtype }: Param): boolean =>
    halfOf(dtype) !== undefined && !(native && dtype === "f16");
  const m: Module = {
    e,
    use,
    parts: new Map(),
    eights: native ? eightsOf(kernel) : new Set(),
    widths: new Map(kernel.params.map((p) => [p.name, isPacked(p) ? 1 : p.width])),
    vectors: new Set(),
    native,
    narrow: new Set(kernel.params.filter((p) => native && p.dtype === "f16").map((p) => p.name)),
    vector: undefined,
    kernel,
    options,
    grid,
    gridNames: grid.loops.map((l) => e.fresh(l.name)),
    declarations,
    subgroups: false,
    matrices: false,
  };
  return m;
}

/**
 * A binding's element. WGSL has no bool, i8 or u8 in memory: bool is a u32 there, bytes are 32-bit
 * integers. f64 has no type at all, and a program that needs it is refused by name.
 */
function elementType(m: Module, index: number): string {
  const { kernel } = m;
  const { dtype, name, width, access } = kernel.params[index]!;
  if (m.narrow.has(name)) return m.eights.has(name) ? "vec4<u32>" : narrowType(width);
  if (halfOf(dtype)) return wordType(access);
  if (dtype === "f64")
    throw new DtypeError(`emit: ${plainName(name)} of ${kernel.name} is ${dtype} on target webgpu`);
  const stored = dtype === "bool" ? "u32" : dtype;
  return typeOf(stored, width);
}

function printGrid(m: Module): void {
  const sizes = m.grid.folded
    ? extentsOf(m.grid).map((d) => {
        const text = indexText(m.e, d);
        return text.prec === prec.atom ? text.text : `(${text.text})`;
      })
    : [];
  for (const line of gridLines(m.grid, m.gridNames, sizes)) m.e.line(line);
}

const printAll = (m: Module, body: readonly Stmt[]): void => printRows(m, rows, body);

const rows: Statements<Module> = {
  ...textRows(printAll),
  letIndex: bindIndex,
  letInvocation: ({ e }, s) => e.bindName(s.name, atom("lid")),
  letSubgroup: (m, s) => {
    m.matrices = true;
    m.e.bindName(s.name, atom("i32(subgroup)"));
  },
  matrix: (m, s) => printMatrix(m, s.does),
  acc: printAcc,
  set: (m, s) => {
    const acc = m.e.find(s.name).text;
    const value = m.narrow.has(s.name)
      ? splatNarrow(narrowText(m, s.value), acc.lanes)
      : splat(m.e.text(s.value), s.value.dtype, acc.lanes);
    m.e.line(`${acc.text} = ${value.text};`);
  },
  accumulate: printAccumulate,
  fma: printFma,
  loop: printLoop,
  store: printStore,
  array: printArray,
  barrier: (m) => {
    m.e.line("workgroupBarrier();");
    if (m.kernel.params.some((p) => p.access === "readwrite" || p.access === "scratch"))
      m.e.line("storageBarrier();");
  },
  combine: (m, s) => {
    for (const [i, name] of s.names.entries()) printCombine(m, name, s.reducers[i]!, s);
  },
  prefix: (m, s) => {
    for (const [i, name] of s.names.entries()) printPrefix(m, name, s.carries[i]!, s.reducers[i]!);
  },
  scheduleBarrier: nothing,
  prefetch: nothing,
  // A line is sorted in kernels of its own.
  sort: absent("webgpu"),
};

function printStore(m: Module, { to, index, value }: Of<"store">): void {
  const text = m.narrow.has(to) ? narrowText(m, value) : m.e.text(value);
  for (const line of storeLines(m, to, index, text, value.dtype)) m.e.line(line);
}

/**
 * A symbol for an index expression; one that differs from lane to lane is replaced where it is
 * used.
 */
function bindIndex(m: Module, { name, value }: Of<"letIndex">): void {
  const d = m.e.resolved(value);
  if (varies(m, d)) setValue(m.e.scope, name, d);
  else m.e.bindIndex(name, d);
}

/**
 * Shared arrays stand at module scope; private ones in the outermost block, where they are made
 * once.
 */
function printArray(m: Module, s: Of<"array">): void {
  const size = m.e.resolved(s.size);
  if (typeof size !== "number")
    bug("emit", `array ${s.name} of ${m.kernel.name} has no static size: ${size}`);
  const width = s.width ?? 1;
  const name = m.e.fresh(s.name);
  const narrow = s.narrow === true && isNative(m, s.dtype);
  if (narrow) m.narrow.add(s.name);
  const element = narrow ? narrowType(width) : typeOf(s.dtype === "bool" ? "u32" : s.dtype, width);
  const each = `array<${element}, ${Math.ceil(size / width / (s.parts ?? 1))}>`;
  const type = s.parts ? `array<${each}, ${s.parts}>` : each;
  if (s.parts) m.parts.set(s.name, size / width / s.parts);
  m.widths.set(s.name, width);
  m.e.at(0, () => {
    if (s.space === "shared") m.declarations.set(name, `var<workgroup> ${name}: ${type};`);
    else m.e.line(`var ${name}: ${type};`);
    m.e.bindName(s.name, atom(name));
  });
}

const unrollLimit = 8;

/**
 * A loop by its kind: the grid's are names already, a vector loop is printed once with lanes,
 * short ones are written out, all others count.
 */
function printLoop(m: Module, s: Of<"loop">): void {
  const { e } = m;
  if (s.loop === "workgroup") {
    const name = m.gridNames[m.grid.loops.indexOf(s)]!;
    printInline(m, s, printAll, () => e.bindName(s.name, atom(name)));
    return;
  }
  if (s.loop === "vector" && m.vector === undefined && isVectorisable(s, (d) => e.resolved(d))) {
    m.vector = { name: s.name, lanes: s.extent as number };
    printInline(m, s, printAll, () => e.bindName(s.name, atom("lane")));
    m.vector = undefined;
    return;
  }
  const extent = e.resolved(s.extent);
  const start = e.resolved(s.start ?? 0);
  const short = typeof extent === "number" && typeof start === "number";
  const repeat = s.loop === "unrolled" || (s.loop === "vector" && Number(extent) <= unrollLimit);
  if (repeat && short) {
    for (let i = start; i < extent; i += s.step ?? 1)
      printInline(m, s, printAll, (scope) => setValue(scope, s.name, i));
    return;
  }
  printCounted(m, s, start, extent);
}

/**
 * A counted loop. A local one strides by the workgroup's size, so that neighbouring invocations
 * take neighbouring iterations and their loads are coalesced; one as long as the workgroup is no
 * loop.
 */
function printCounted(m: Module, s: Of<"loop">, start: Dim, extent: Dim): void {
  const { e } = m;
  const size = m.kernel.workgroupSize;
  const local = s.loop === "local" && size > 1;
  const plain = start === 0 && (s.step ?? 1) === 1;
  if (local && plain && extent === size) {
    printInline(m, s, printAll, () => e.bindName(s.name, atom("lid")));
    return;
  }
  const step = (s.step ?? 1) * (local ? size : 1);
  const offset = (s.step ?? 1) === 1 ? "lid" : `lid * ${s.step}`;
  const from = indexText(e, start).text;
  const first = !local ? from : from === "0" ? offset : `${from} + ${offset}`;
  printFor(m, s, printAll, { word: "var", first, extent, step });
}
