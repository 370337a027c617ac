/**
 * Accumulators: one value in all lanes, or in a vector a value of its own in each lane. What lanes hold is combined
 * in a fixed order. argMax and argMin keep the extreme beside the position.
 */
import { bug, type Dtype, maxOf, minOf, type Reducer } from "@kiln-ml/ir";
import type { Of } from "../../kernel/kernel.ts";
import { bestOf, isArg } from "../../kernel/uses.ts";
import { atom, type Text } from "../scope.ts";
import { indexValue } from "./language.ts";
import { bind, constantText, get, localOf, op, type Printer, typeOf } from "./printer.ts";

const isReal = (dtype: Dtype): boolean => dtype[0] === "f" || dtype === "bf16";
const suffix = (dtype: Dtype): string => (dtype === "u32" || dtype === "u8" ? "_u" : "_s");

/** The least value of a dtype for argMax, the greatest for argMin. */
function worst(reducer: Reducer, dtype: Dtype): Text {
  const max = reducer === "argMax";
  if (isReal(dtype)) return constantText(max ? -Infinity : Infinity, dtype);
  return constantText(max ? minOf(dtype) : maxOf(dtype), dtype === "bool" ? "u8" : dtype);
}

/** The value `reducer` starts from: what changes no value it is combined with. */
export function identity(reducer: Reducer, dtype: Dtype): Text {
  switch (reducer) {
    case "sum":
    case "argMax":
    case "argMin":
      return constantText(0, dtype);
    case "prod":
      return constantText(1, dtype);
    case "any":
    case "all":
      return constantText(reducer === "all" ? 1 : 0, dtype);
    case "max":
    case "min":
      return worst(reducer === "max" ? "argMax" : "argMin", dtype);
    default:
      return reducer satisfies never;
  }
}

/** Declares an accumulator in the present block and binds its name. */
export function declare(p: Printer, name: string, dtype: Dtype, init: Text): void {
  const { e } = p;
  const local = e.fresh(name);
  p.locals.set(local, typeOf(dtype));
  e.line(`(local.set $${local} ${init.text})`);
  e.bindName(name, atom(get(local)));
  const { reducer, fed } = e.facts.accs.get(name)!;
  if (!isArg(reducer)) return;
  const best = e.fresh(`${name}Best`);
  p.locals.set(best, typeOf(fed!));
  e.line(`(local.set $${best} ${worst(reducer!, fed!).text})`);
  e.bindName(bestOf(name), atom(get(best)));
}

/** a ⊕ b. NaN wins in max and min, as it does in the instructions. */
function combined(reducer: Reducer, dtype: Dtype, a: Text, b: Text): Text {
  const name = { sum: "add", prod: "mul", max: "max", min: "min" }[reducer as "sum"];
  if (reducer === "any") return op("v128.or", a, b);
  if (reducer === "all") return op("v128.and", a, b);
  if (dtype === "f64") return op(`f64.${name}`, a, b);
  if (isReal(dtype)) return op(`f32x4.${name}`, a, b);
  const sign = name === "max" || name === "min" ? suffix(dtype) : "";
  const result = op(`i32x4.${name}${sign}`, a, b);
  if (dtype === "u8") return op("v128.and", result, "(v128.const i32x4 255 255 255 255)");
  if (dtype !== "i8") return result;
  return op("i32x4.shr_s", op("i32x4.shl", result, "(i32.const 24)"), "(i32.const 24)");
}

export function printAccumulate(p: Printer, s: Of<"accumulate">): void {
  const { e } = p;
  const value = e.text(s.value);
  if (isArg(s.reducer)) {
    if (s.position === undefined) bug("emit", `${s.reducer} of ${s.name} has no position`);
    const fed = s.value.dtype;
    const v = atom(bind(p, typeOf(fed), value.text));
    const at = atom(bind(p, "v128", indexValue(p, s.position).text));
    takeBetter(p, s.reducer, s.name, fed, v, at, false);
    return;
  }
  const acc = e.find(s.name).text;
  const { dtype } = e.facts.accs.get(s.name)!;
  e.line(`(local.set $${localOf(acc)} ${combined(s.reducer, dtype, acc, value).text})`);
}

export function printFma(p: Printer, s: Of<"fma">): void {
  const { e } = p;
  const { dtype } = e.facts.accs.get(s.name)!;
  const [a, b] = [e.text(s.a), e.text(s.b)];
  const acc = e.find(s.name).text;
  const value =
    dtype === "f64"
      ? op("f64.add", acc, op("f64.mul", a, b))
      : isReal(dtype)
        ? op("f32x4.madd", a, b, acc)
        : combined("sum", dtype, acc, op("i32x4.mul", a, b));
  e.line(`(local.set $${localOf(acc)} ${value.text})`);
}

/** Takes (value, position) if it is better: larger or smaller, or the first NaN; `ties`: or equal and further front. */
function takeBetter(
  p: Printer,
  reducer: Reducer,
  name: string,
  fed: Dtype,
  v: Text,
  at: Text,
  ties: boolean,
): void {
  const { e } = p;
  const [best, position] = [e.find(bestOf(name)).text, e.find(name).text];
  const real = isReal(fed);
  const more = reducer === "argMax" ? "gt" : "lt";
  const test = (c: string, a: Text, b: Text): Text =>
    fed === "f64"
      ? op("i32x4.splat", op("i32.sub", "(i32.const 0)", op(`f64.${c}`, a, b)))
      : op(real ? `f32x4.${c}` : `i32x4.${c}${c === "eq" || c === "ne" ? "" : suffix(fed)}`, a, b);
  let better = test(more, v, best);
  if (real)
    better = op("v128.or", better, op("v128.and", test("ne", v, v), test("eq", best, best)));
  if (ties) {
    const bothNan = op("v128.and", test("ne", v, v), test("ne", best, best));
    const same = real ? op("v128.or", test("eq", v, best), bothNan) : test("eq", v, best);
    better = op("v128.or", better, op("v128.and", same, op("i32x4.lt_s", at, position)));
  }
  const take = atom(bind(p, "v128", better.text));
  const chosen =
    fed === "f64"
      ? op("select", v, best, op("i32x4.extract_lane 0", take))
      : op("v128.bitselect", v, best, take);
  e.line(`(local.set $${localOf(position)} ${op("v128.bitselect", at, position, take).text})`);
  e.line(`(local.set $${localOf(best)} ${chosen.text})`);
}

/** The texts of one accumulator's value in lanes, and of its extreme. */
export interface LaneAcc {
  readonly name: string;
  readonly value: Text;
  readonly best: Text | undefined;
}

/** Declares lane accumulators that stand for `name` in a vector loop; the caller binds them there. */
export function laneAcc(p: Printer, name: string, reducer: Reducer): LaneAcc {
  const { e } = p;
  const { dtype, fed } = e.facts.accs.get(name)!;
  const value = bindNew(p, `${name}Lanes`, identity(reducer, dtype));
  const best = isArg(reducer) ? bindNew(p, `${name}Bests`, worst(reducer, fed!)) : undefined;
  return { name, value, best };
}

function bindNew(p: Printer, wanted: string, init: Text): Text {
  const local = p.e.fresh(wanted);
  p.locals.set(local, "v128");
  p.e.line(`(local.set $${local} ${init.text})`);
  return atom(get(local));
}

/** Adds lane accumulators, in order, into the accumulator they stand for: pairs of vectors first, then pairs of lanes. */
export function mergeLanes(p: Printer, reducer: Reducer, lanes: readonly LaneAcc[]): void {
  const { e } = p;
  const { name } = lanes[0]!;
  const { dtype, fed } = e.facts.accs.get(name)!;
  if (isArg(reducer)) {
    for (const l of lanes)
      for (const i of [0, 1, 2, 3]) {
        const same = (t: Text): Text =>
          atom(bind(p, "v128", op("i32x4.splat", op(`i32x4.extract_lane ${i}`, t)).text));
        takeBetter(p, reducer, name, fed!, same(l.best!), same(l.value), true);
      }
    return;
  }
  let level = lanes.map((l) => l.value);
  while (level.length > 1)
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) => {
      const [a, b] = [level[2 * i]!, level[2 * i + 1]];
      return b ? combined(reducer, dtype, a, b) : a;
    });
  // Afterwards all lanes hold the same bits: each pair is combined in both orders, and ⊕ commutes.
  let v = atom(bind(p, "v128", level[0]!.text));
  for (const order of [
    "8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7",
    "4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11",
  ])
    v = atom(bind(p, "v128", combined(reducer, dtype, v, op(`i8x16.shuffle ${order}`, v, v)).text));
  const acc = e.find(name).text;
  e.line(`(local.set $${localOf(acc)} ${combined(reducer, dtype, acc, v).text})`);
}
