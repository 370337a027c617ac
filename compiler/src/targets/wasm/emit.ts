/**
 * Makes a kernel functions of WebAssembly, one for each phase: the statements between top-level
 * barriers. A phase that ends in one parallel loop does a range of its iterations, so that threads
 * can share it; any other has one work item. Never prints a barrier: the runtime waits between
 * phases, so that a kernel needs neither atomics nor shared state, and runs on one thread without
 * either. What every function may rely on: addresses of buffers and dims are i32 parameters, then
 * `from`, `to` and `stack`, the address of the thread's private memory. Buffers begin at multiples
 * of 64 bytes, and below the first of them the runtime keeps as many bytes as an instruction's
 * offset may reach.
 */
import type { KernelText } from "@kiln-ml/artifact";
import {
  addDim,
  bug,
  ceilDiv,
  type Dim,
  floorDiv,
  maxDim,
  mulDim,
  sameDim,
  subDim,
  symbolsIn,
} from "@kiln-ml/ir";
import { simplifyConditions } from "../../access.ts";
import { toExtent } from "../../kernel/extent.ts";
import type { Kernel, Of, Stmt } from "../../kernel/kernel.ts";
import { bodyOf } from "../../kernel/parts.ts";
import { eachStmt } from "../../kernel/walk.ts";
import { Emitter } from "../emitter.ts";
import { conditionsText, indexText } from "../index-text.ts";
import { setValue } from "../scope.ts";
import { absent, printRows, type Statements } from "../statements.ts";
import { bindingsOf } from "../target-language.ts";
import { declare, printAccumulate, printFma } from "./accumulate.ts";
import { call, comment, get, i32Const, localOf, op, set, type WasmFunction, when } from "./code.ts";
import { instructionLanguage } from "./language.ts";
import { listing } from "./listing.ts";
import { printCounted, printFence, printLoop } from "./loops.ts";
import { addressName, bytesOf, prefetch, stores } from "./memory.ts";
import {
  freshLocal,
  newLocal,
  type Printer,
  scalarOf,
  type Vectors,
  varies,
  type WasmEmitter,
} from "./printer.ts";
import { sorterOf } from "./sort.ts";

/** What is declared for all phases: arrays, and names of index expressions. */
const isShared = (s: Stmt): boolean => s.kind === "array" || s.kind === "letIndex";

interface PhaseBody {
  readonly head: readonly Stmt[];
  readonly body: readonly Stmt[];
  /** The loop whose iterations are the units, last of the body. */
  readonly units: Of<"loop"> | undefined;
}

/**
 * The kernel's functions. Its text, WAT, is a view that is made when somebody reads it: to print
 * it always was half of the time that a cold process took to compile.
 */
export function emitWasm(kernel: Kernel, vectors: Vectors = { width: 4 }): KernelText {
  const arrays = placeArrays(kernel.body);
  const parts = phasesOf(kernel.body);
  const entry = (i: number): string => (parts.length === 1 ? kernel.name : `${kernel.name}.${i}`);
  const functions = parts.map((part, i) => printPhase(kernel, entry(i), part, arrays.at, vectors));
  const text: KernelText = {
    name: kernel.name,
    // Made when somebody reads it.
    get text() {
      return functions.map((f) => listing(f)).join("\n");
    },
    bindings: bindingsOf(kernel),
    dims: kernel.dims,
    phases: parts.map(({ units }, i) => ({
      entry: entry(i),
      units: units ? toExtent(unitsOf(units)) : 1,
    })),
    stack: toExtent(arrays.bytes),
  };
  printed.set(text, functions);
  return text;
}

const printed = new WeakMap<KernelText, readonly WasmFunction[]>();

/** The functions of a kernel that `emitWasm` has printed. */
export const functionsOf = (kernel: KernelText): readonly WasmFunction[] =>
  printed.get(kernel) ?? bug("emit", `${kernel.name} was not printed for wasm`);

const unitsOf = (s: Of<"loop">): Dim => ceilDiv(subDim(s.extent, s.start ?? 0), s.step ?? 1);

/**
 * Statements between barriers. What is declared for all phases, arrays and names of index
 * expressions, is repeated at the head of each: a function sees no other function's locals.
 */
function phasesOf(body: readonly Stmt[]): PhaseBody[] {
  const parts: PhaseBody[] = [];
  let head: Stmt[] = [];
  let own: Stmt[] = [];
  const close = (): void => {
    const working = own.filter((s) => s.kind !== "comment");
    if (working.length > 0) parts.push(phaseOf(head, own, working));
    head = [...head, ...own.filter(isShared)];
    own = [];
  };
  for (const s of body)
    if (s.kind === "barrier") close();
    else own.push(s);
  close();
  return parts;
}

/**
 * A phase is shared among threads only if all it does is its last, parallel loop. Any statement
 * beside it would be done once by each thread.
 */
function phaseOf(
  head: readonly Stmt[],
  body: readonly Stmt[],
  working: readonly Stmt[],
): PhaseBody {
  const last = working.at(-1)!;
  const simple = working.slice(0, -1).every(isShared);
  const units = simple && last.kind === "loop" && last.loop === "parallel" ? last : undefined;
  return { head, body, units };
}

/**
 * Where each private array starts in a thread's memory, and how much they take. Those of one name,
 * in phases or branches, lie in one place, which has room for the largest.
 */
function placeArrays(body: readonly Stmt[]): { at: ReadonlyMap<string, Dim>; bytes: Dim } {
  const sizes = new Map<string, Dim>();
  eachStmt(body, (s) => {
    if (s.kind !== "array") return;
    const size = mulDim(s.size, bytesOf(s.dtype));
    const known = sizes.get(s.name);
    if (known === undefined || !sameDim(known, size))
      sizes.set(s.name, known === undefined ? size : maxDim(known, size));
  });
  const at = new Map<string, Dim>();
  let bytes: Dim = 0;
  for (const [name, size] of sizes) {
    at.set(name, bytes);
    bytes = addDim(bytes, mulDim(floorDiv(addDim(size, 63), 64), 64));
  }
  return { at, bytes };
}

/**
 * One function. `from` and `to` are in all of them, used or not, so that the runtime calls every
 * phase in one way.
 */
function printPhase(
  kernel: Kernel,
  entry: string,
  part: PhaseBody,
  arrays: ReadonlyMap<string, Dim>,
  vectors: Vectors,
): WasmFunction {
  // Facts are those of the phase: what another phase changes does not change here.
  const body = [...part.head, ...part.body];
  const e: WasmEmitter = new Emitter(
    { ...kernel, body },
    instructionLanguage(() => p),
  );
  const p: Printer = {
    e,
    ...vectors,
    locals: new Map(),
    calls: new Set(),
    lanes: false,
    within: false,
    running: undefined,
    partials: new Map(),
    some: [],
    arrays,
  };
  const params = bindParams(e);
  for (const s of body) {
    if (s !== part.units) printAll(p, [s]);
    else {
      printUnits(p, part.units);
      e.changed(s);
    }
  }
  return {
    name: entry,
    exported: true,
    params: new Map([...params, "from", "to", "stack"].map((name) => [name, "i32"])),
    locals: p.locals,
    calls: p.calls,
    body: e.scope.lines,
  };
}

/** The parameters for the addresses of buffers and for dims, to which their names are bound. */
function bindParams(e: WasmEmitter): string[] {
  const { params, dims } = e.kernel;
  const addresses = params.map(({ name }) => {
    const local = e.fresh(name);
    e.bindName(addressName(name), get(local));
    return local;
  });
  const sizes = dims.map((name) => {
    const local = e.fresh(name);
    e.bindDim(name, get(local));
    return local;
  });
  return [...addresses, ...sizes];
}

/** The iterations that the call is for. */
function printUnits(p: Printer, s: Of<"loop">): void {
  const { e } = p;
  const end = { from: get("from"), extent: "to" as const };
  if ((s.step ?? 1) === 1 && (s.start ?? 0) === 0) {
    printCounted(p, s, end, () => printAll(p, bodyOf(s)));
    return;
  }
  const unit: Of<"loop"> = { ...s, name: `${s.name}.unit`, step: 1 };
  printCounted(p, unit, end, () => {
    const steps = op("i32.mul", e.find(unit.name).text, i32Const(s.step ?? 1));
    const start = s.start ?? 0;
    const value = start === 0 ? steps : op("i32.add", indexText(e, start), steps);
    e.bindName(s.name, newLocal(p, s.name, "i32", value));
    printAll(p, bodyOf(s));
  });
}

const printAll = (p: Printer, body: readonly Stmt[]): void => printRows(p, rows, body);

/** Kinds of workgroups never come here, as no schedule of this target makes them. */
const rows: Statements<Printer> = {
  comment: ({ e }, s) => e.line(comment(s.text)),
  let: ({ e }, s) => e.bindLet(s.name, s.value),
  letIndex: (p, s) => bindIndex(p, s.name, s.value),
  letDynamic: ({ e }, s) => e.bindDynamic(s.name, s.value, scalarOf),
  acc: (p, s) => declare(p, s.name, s.dtype, p.e.text(s.init)),
  set: ({ e }, s) => e.line(set(localOf(e.find(s.name).text), e.text(s.value))),
  accumulate: printAccumulate,
  fma: printFma,
  loop: (p, s) => printLoop(p, s, printAll),
  if: printIf,
  store: (p, s) => {
    const lines = stores(p, s.to, s.index, p.e.text(s.value), dtypeOf(p, s.to));
    for (const l of lines) p.e.line(l);
  },
  scheduleBarrier: printFence,
  prefetch: (p, s) => {
    if (!p.within) p.e.line(prefetch(p, s.from, s.index, dtypeOf(p, s.from)));
  },
  array: printArray,
  sort: printSort,
  letInvocation: absent("wasm"),
  letSubgroup: absent("wasm"),
  matrix: absent("wasm"),
  barrier: absent("wasm"),
  combine: absent("wasm"),
  prefix: absent("wasm"),
};

const dtypeOf = (p: Printer, buffer: string) => p.e.facts.dtypes.get(buffer)!;

/** An index that differs by lane has no local; it is put in where it is used. */
function bindIndex(p: Printer, name: string, value: Dim): void {
  const d = p.e.resolved(value);
  if (varies(p, d)) setValue(p.e.scope, name, d);
  else p.e.bindIndex(name, value);
}

/**
 * Conditions that are known to hold, or to fail, in this scope cost nothing: the interior of a
 * window is printed under its own guards that way.
 */
function printIf(p: Printer, s: Of<"if">): void {
  const { e } = p;
  const open = simplifyConditions(e.open(s.when));
  if (!open) return;
  if (open.length === 0) {
    e.inside(s, () => printAll(p, s.then), { inline: true });
    return;
  }
  const condition = conditionsText(e, s.when);
  e.line(
    when(
      condition,
      e.inside(s, () => printAll(p, s.then)),
    ),
  );
}

/**
 * A call: the sorting functions are added to the module once, by `link`, however many kernels
 * sort.
 */
function printSort(p: Printer, s: Of<"sort">): void {
  const { e } = p;
  const at = [s.keys, s.order, s.spare].map((name) => e.find(addressName(name)).text);
  const sizes = [s.size, s.count].map((d) => indexText(e, d));
  const keys = dtypeOf(p, s.keys) === "f64" ? "f64" : "i32";
  const name = sorterOf(keys);
  p.calls.add(name);
  e.line(call(name, [...at, ...sizes, i32Const(s.descending ? -1 : 0)]));
}

/** The address of a private array. */
function printArray(p: Printer, s: Of<"array">): void {
  const { e } = p;
  const offset = e.resolved(p.arrays.get(s.name)!);
  if (symbolsIn(offset).size > 0 && e.depthOfDim(offset) > 0)
    bug("emit", `the size of array ${s.name} depends on a loop`);
  e.at(0, () => {
    const local = freshLocal(p, s.name, "i32");
    e.line(set(local, op("i32.add", get("stack"), indexText(e, offset))));
    e.bindName(addressName(s.name), get(local));
  });
}
