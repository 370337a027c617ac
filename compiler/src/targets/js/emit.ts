/**
 * Prints a kernel as a JavaScript function over typed arrays. Parallel, workgroup and local loops
 * are plain loops, barriers and combines nothing: one thread runs it all. Prefetches and schedule
 * barriers print nothing either: the engine has no instruction for the one, and no order to keep
 * for the other.
 *
 * Numbers are doubles between loads and stores. With `rounding: "each-op"` every op is rounded to
 * its dtype (`Math.fround`), which makes a kernel's bits those of the reference, fused or not;
 * with `"on-store"` a value is rounded where memory holds it, which is faster and as exact.
 */
import type { KernelText } from "@kiln-ml/artifact";
import { bug, type Dtype, isFloat, maxOf, minOf } from "@kiln-ml/ir";
import { call } from "../../kernel/expr.ts";
import type { Expr, Kernel, Of, Stmt } from "../../kernel/kernel.ts";
import { heldDtype } from "../../kernel/types.ts";
import { bestOf, isArg } from "../../kernel/uses.ts";
import { Emitter } from "../emitter.ts";
import { indexText } from "../index-text.ts";
import { atLeast, atom, indented, prec, setValue, type Text } from "../scope.ts";
import {
  absent,
  block,
  nothing,
  printFor,
  printInline,
  printRows,
  type Statements,
  textRows,
} from "../statements.ts";
import { bindingsOf } from "../target-language.ts";
import {
  arrayType,
  constantText,
  heldText,
  javascript,
  type Rounding,
  rounded,
  storedText,
} from "./language.ts";
import { preludeLines } from "./prelude.ts";
import { spell, type Use } from "./spell.ts";

interface Printer {
  readonly e: Emitter;
  readonly use: Use;
  readonly rounding: Rounding;
}

/** The kernel as a function declaration `function name(params…, dims…)`. */
export function emitJs(kernel: Kernel, options: { rounding: Rounding }): KernelText {
  const used = new Set<string>();
  const use = (name: string): string => {
    used.add(name);
    return name;
  };
  const e: Emitter = new Emitter(
    kernel,
    javascript(() => e, options.rounding, use),
  );
  const printer = { e, use, rounding: options.rounding };
  const buffers = kernel.params.map(({ name }) => {
    const text = e.fresh(name);
    e.bindName(name, atom(text));
    return text;
  });
  const dims = kernel.dims.map((name) => {
    const text = e.fresh(name);
    e.bindDim(name, atom(text));
    return text;
  });
  const args = [...buffers, ...dims];
  printAll(printer, kernel.body);
  // Helpers stand inside, so that a kernel's text is whole wherever it is put.
  const body = [...preludeLines(used), ...e.scope.lines];
  const lines = [`function ${kernel.name}(${args.join(", ")}) {`, ...indented(body), "}"];
  return {
    name: kernel.name,
    text: lines.join("\n"),
    bindings: bindingsOf(kernel),
    dims: kernel.dims,
  };
}

const printAll = (p: Printer, body: readonly Stmt[]): void => printRows(p, rows, body);

const rows: Statements<Printer> = {
  ...textRows(printAll),
  letIndex: ({ e }, s) => e.bindIndex(s.name, s.value),
  acc: printAcc,
  set: ({ e }, s) => e.line(`${e.find(s.name).text.text} = ${e.text(s.value).text};`),
  accumulate: printAccumulate,
  fma: printFma,
  loop: printLoop,
  store: printStore,
  array: printArray,
  sort: printSort,
  scheduleBarrier: nothing,
  prefetch: nothing,
  barrier: nothing,
  combine: nothing,
  prefix: nothing,
  letInvocation: absent("js"),
  letSubgroup: absent("js"),
  matrix: absent("js"),
};

/** An accumulator of argMax or argMin holds the position; the extreme itself is kept beside it. */
function printAcc(p: Printer, s: Of<"acc">): void {
  const { e } = p;
  const name = e.fresh(s.name);
  e.line(`let ${name} = ${e.text(s.init).text};`);
  e.bindName(s.name, atom(name));
  const { reducer, fed } = e.facts.accs.get(s.name)!;
  if (!isArg(reducer)) return;
  const best = e.fresh(`${s.name}Best`);
  e.line(`let ${best} = ${worst(reducer === "argMax", fed!).text};`);
  e.bindName(bestOf(s.name), atom(best));
}

function worst(max: boolean, dtype: Dtype): Text {
  if (isFloat(dtype)) return atom(max ? "-Infinity" : "Infinity");
  return constantText(max ? minOf(dtype) : maxOf(dtype), dtype === "bool" ? "u8" : dtype);
}

function printAccumulate(p: Printer, s: Of<"accumulate">): void {
  const { e } = p;
  const acc = e.find(s.name).text;
  const { dtype, wide } = e.facts.accs.get(s.name)!;
  if (isArg(s.reducer)) {
    // Of equals in memory, whatever a double holds beyond, the first is taken.
    printArg(e, s, p.rounding === "on-store" ? heldText(e, s.value, p.use) : e.text(s.value));
    return;
  }
  const value = e.text(s.value);
  if (s.reducer === "any" || s.reducer === "all") {
    const op = s.reducer === "any" ? "||" : "&&";
    e.line(`${acc.text} = ${acc.text} ${op} ${atLeast(value, prec.equal)};`);
    return;
  }
  if (s.reducer === "max" || s.reducer === "min") {
    // Math.max and Math.min give NaN if either is NaN, which is the rule for reductions.
    e.line(`${acc.text} = Math.${s.reducer}(${acc.text}, ${value.text});`);
    return;
  }
  addInto(p, acc, s.reducer === "sum" ? "add" : "mul", value, dtype, wide);
}

/** acc = acc op value, rounded as the accumulator asks. */
function addInto(
  p: Printer,
  acc: Text,
  op: "add" | "mul",
  value: Text,
  dtype: Dtype,
  wide: boolean,
): void {
  const sum = spell(op, [acc, value], dtype, dtype, p.use);
  const next = wide ? sum : rounded(sum, dtype, p.rounding, p.use);
  p.e.line(
    isFloat(dtype) && next === sum
      ? `${acc.text} ${op === "add" ? "+" : "*"}= ${value.text};`
      : `${acc.text} = ${next.text};`,
  );
}

/**
 * argMax and argMin: the position changes only for a better value, so that the first of equals
 * stays. Comparisons with NaN are false, so that it is asked for by itself.
 */
function printArg(e: Emitter, s: Of<"accumulate">, value: Text): void {
  if (s.position === undefined) bug("emit", `${s.reducer} of ${s.name} has no position`);
  const best = e.find(bestOf(s.name)).text.text;
  const position = indexText(e, s.position).text;
  const v = /^[A-Za-z_]\w*$/.test(value.text) ? value.text : e.fresh("value");
  if (v !== value.text) e.line(`const ${v} = ${value.text};`);
  const better = `${v} ${s.reducer === "argMax" ? ">" : "<"} ${best}`;
  // The first NaN wins and stays.
  const when = isFloat(s.value.dtype)
    ? `${better} || (${v} !== ${v} && ${best} === ${best})`
    : better;
  block(e, `if (${when})`, [`${best} = ${v};`, `${e.find(s.name).text.text} = ${position};`]);
}

/**
 * A product and a sum: JavaScript has no fused instruction, so that both are rounded where each op
 * is.
 */
function printFma(p: Printer, s: Of<"fma">): void {
  const { e } = p;
  const { dtype, wide } = e.facts.accs.get(s.name)!;
  const product = spell("mul", [e.text(s.a), e.text(s.b)], dtype, dtype, p.use);
  const value = wide ? product : rounded(product, dtype, p.rounding, p.use);
  addInto(p, e.find(s.name).text, "add", value, dtype, wide);
}

/** A value that nothing else uses is rounded by memory. */
const onlyStored = ({ e }: Printer, value: Expr): Expr =>
  value.kind === "call" && value.stored && (e.facts.uses.get(value) ?? 0) < 2
    ? call(value.op, value.dtype, ...value.args)
    : value;

function printStore(p: Printer, s: Of<"store">): void {
  const { e } = p;
  const text = storedText(e, s.to, e.text(onlyStored(p, s.value)), p.use);
  e.line(`${e.find(s.to).text.text}[${indexText(e, s.index).text}] = ${text};`);
}

/**
 * Arrays are made once, in the outermost block that knows their size: their contents are undefined
 * anyway.
 */
function printArray({ e }: Printer, s: Of<"array">): void {
  const size = e.resolved(s.size);
  e.at(e.depthOfDim(size), () => {
    const name = e.fresh(s.name);
    e.line(`const ${name} = new ${arrayType(heldDtype(s))}(${indexText(e, size).text});`);
    e.bindName(s.name, atom(name));
  });
}

function printSort({ e, use }: Printer, s: Of<"sort">): void {
  const name = use(e.facts.dtypes.get(s.keys) === "f64" ? "sortDoubles" : "sortIntegers");
  const arrays = [s.keys, s.order, s.spare].map((array) => e.find(array).text.text).join(", ");
  const [size, count] = [indexText(e, s.size).text, indexText(e, s.count).text];
  e.line(`${name}(${arrays}, ${size}, ${count}, ${s.descending ? -1 : 0});`);
}

const unrollLimit = 4;

/**
 * A loop, or its iterations one after the other. Short loops over lanes are written out: the
 * engine then sees constants instead of a counter.
 */
function printLoop(p: Printer, s: Of<"loop">): void {
  const { e } = p;
  const extent = e.resolved(s.extent);
  const step = s.step ?? 1;
  const unroll = s.loop === "unrolled" || (s.loop === "vector" && Number(extent) <= unrollLimit);
  if (unroll && typeof extent === "number" && typeof (s.start ?? 0) === "number") {
    for (let i = Number(s.start ?? 0); i < extent; i += step)
      printInline(p, s, printAll, (scope) => setValue(scope, s.name, i));
    return;
  }
  const first = indexText(e, s.start ?? 0).text;
  printFor(p, s, printAll, { word: "let", first, extent, step });
}
