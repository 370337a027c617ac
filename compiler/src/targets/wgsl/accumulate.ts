/**
 * Accumulators in WGSL: their variables, what is added to them, and the sums over lanes that end a
 * vector loop. A sum of a vector loop has a lane each until then: four chains of adds, each a
 * quarter as long, and one addition of lanes in a fixed order.
 */
import { bug, isFloat, maxOf, minOf, type Reducer } from "@kiln-ml/ir";
import type { Of } from "../../kernel/kernel.ts";
import { bestOf, isArg } from "../../kernel/uses.ts";
import { indexText } from "../index-text.ts";
import { atLeast, atom, prec, type Text } from "../scope.ts";
import { pairText } from "./combine.ts";
import { constantText, type Printer } from "./language.ts";
import { narrowText } from "./narrow.ts";
import { isNative, narrowType, splatNarrow } from "./native-half.ts";
import { scalarType, spell, splat, typeOf } from "./spell.ts";

/** An accumulator made in a vector loop has its lanes. */
export function printAcc(p: Printer, s: Of<"acc">): void {
  const { e } = p;
  const lanes = p.vector?.lanes ?? 1;
  const narrow = s.narrow === true && isNative(p, s.dtype);
  const init = narrow
    ? splatNarrow(narrowText(p, s.init), lanes)
    : splat(e.text(s.init), s.dtype, lanes);
  const name = e.fresh(s.name);
  const type = narrow ? narrowType(lanes) : typeOf(s.dtype, lanes);
  e.line(`var ${name}: ${type} = ${init.text};`);
  e.bindName(s.name, atom(name, lanes));
  if (narrow) p.narrow.add(s.name);
  const { reducer, fed } = e.facts.accs.get(s.name)!;
  if (!isArg(reducer)) return;
  const max = reducer === "argMax";
  const least = isFloat(fed!) ? (max ? -Infinity : Infinity) : max ? minOf(fed!) : maxOf(fed!);
  const best = e.fresh(`${s.name}Best`);
  const dtype = fed === "bool" ? "u32" : fed!;
  e.line(`var ${best}: ${scalarType(dtype)} = ${constantText(least, dtype, p.use).text};`);
  e.bindName(bestOf(s.name), atom(best));
}

export function printAccumulate(p: Printer, s: Of<"accumulate">): void {
  const value = p.e.text(s.value);
  if (isArg(s.reducer)) printArg(p, s, value);
  else accumulate(p, s.name, s.reducer, value);
}

/** acc = acc ⊕ value; lanes are first joined where the accumulator has none. */
function accumulate(p: Printer, name: string, reducer: Reducer, value: Text): void {
  const acc = p.e.find(name).text;
  const { dtype } = p.e.facts.accs.get(name)!;
  const lanes = p.vector?.lanes ?? 1;
  const wide = splat(value, dtype, lanes);
  const joined = lanes > 1 && acc.lanes === 1 ? joinLanes(p, reducer, wide, dtype) : wide;
  p.e.line(`${acc.text} = ${pair(p, reducer, acc, joined, dtype).text};`);
}

type Dtype = Of<"acc">["dtype"];

function pair(p: Printer, reducer: Reducer, a: Text, b: Text, dtype: Dtype): Text {
  if (reducer === "any" || reducer === "all")
    return atom(pairText(reducer, dtype, a.text, atLeast(b, prec.unary), p.use), a.lanes);
  const op = { sum: "add", prod: "mul", max: "maximum", min: "minimum" }[
    reducer as "sum" | "prod" | "max" | "min"
  ];
  return spell(op, [a, b], [dtype, dtype], dtype, p.use);
}

function joinLanes(p: Printer, reducer: Reducer, value: Text, dtype: Dtype): Text {
  if (reducer === "any" || reducer === "all") return atom(`${reducer}(${value.text})`);
  const named = /^\w+$/.test(value.text);
  const name = named ? value.text : p.e.fresh("lanes");
  if (!named) p.e.line(`let ${name} = ${value.text};`);
  const parts = Array.from({ length: value.lanes }, (_, i) => atom(`${name}[${i}]`));
  return parts.reduce((a, b) => pair(p, reducer, a, b, dtype));
}

function printArg(p: Printer, s: Of<"accumulate">, value: Text): void {
  if (s.position === undefined) bug("emit", `${s.reducer} of ${s.name} has no position`);
  const { e } = p;
  const best = e.find(bestOf(s.name)).text.text;
  const position = indexText(e, s.position).text;
  const v = e.fresh("value");
  const held = s.value.dtype === "bool" ? `u32(${value.text})` : value.text;
  e.line(`let ${v} = ${held};`);
  const better = s.reducer === "argMax" ? `${best} < ${v}` : `${v} < ${best}`;
  const nan = isFloat(s.value.dtype) ? p.use("isNan", 1) : "";
  e.line(nan ? `if ((${better} || ${nan}(${v})) && !${nan}(${best})) {` : `if (${better}) {`);
  e.line(`  ${best} = ${v};`);
  e.line(`  ${e.find(s.name).text.text} = ${position};`);
  e.line("}");
}

/** acc = a·b + acc by the built-in where it exists; over lanes, the dot product. */
export function printFma(p: Printer, s: Of<"fma">): void {
  const acc = p.e.find(s.name).text;
  const { dtype } = p.e.facts.accs.get(s.name)!;
  const [a, b] = [p.e.text(s.a), p.e.text(s.b)];
  const lanes = p.vector?.lanes ?? 1;
  const wide = [splat(a, dtype, lanes), splat(b, dtype, lanes)] as const;
  if (lanes > 1 && acc.lanes === 1 && isFloat(dtype))
    p.e.line(`${acc.text} = ${acc.text} + dot(${wide[0].text}, ${wide[1].text});`);
  else if (isFloat(dtype))
    p.e.line(`${acc.text} = fma(${wide[0].text}, ${wide[1].text}, ${acc.text});`);
  else accumulate(p, s.name, "sum", spell("mul", wide, [dtype, dtype], dtype, p.use));
}
