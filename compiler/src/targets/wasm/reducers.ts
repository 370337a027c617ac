/**
 * Reducers on values in lanes: what they start from, how two values are combined, which of two is
 * the better extreme.
 */
import { type Dtype, isFloat, maxOf, minOf, type Reducer } from "@kiln-ml/ir";
import { bestOf } from "../../kernel/uses.ts";
import { type Code, laneOp, localOf, op, set } from "./code.ts";
import { bind, type Comparator, compared, constantCode, type Printer, signOf } from "./printer.ts";
import { wrapped } from "./spell.ts";

/** The least value of a dtype for argMax, the greatest for argMin. */
export function worst(reducer: Reducer, dtype: Dtype): Code {
  const max = reducer === "argMax";
  if (isFloat(dtype)) return constantCode(max ? -Infinity : Infinity, dtype);
  return constantCode(max ? minOf(dtype) : maxOf(dtype), dtype === "bool" ? "u8" : dtype);
}

/** The value `reducer` starts from: what changes no value it is combined with. */
export function identity(reducer: Reducer, dtype: Dtype): Code {
  switch (reducer) {
    case "sum":
    case "argMax":
    case "argMin":
      return constantCode(0, dtype);
    case "prod":
      return constantCode(1, dtype);
    case "any":
    case "all":
      return constantCode(reducer === "all" ? 1 : 0, dtype);
    case "max":
    case "min":
      return worst(reducer === "max" ? "argMax" : "argMin", dtype);
    default:
      return reducer satisfies never;
  }
}

const names = { sum: "add", prod: "mul", max: "max", min: "min" } as const;

/** a ⊕ b. NaN wins in max and min, as it does in the instructions. */
export function combined(reducer: Reducer, dtype: Dtype, a: Code, b: Code): Code {
  if (reducer === "any") return op("v128.or", a, b);
  if (reducer === "all") return op("v128.and", a, b);
  const name = names[reducer as keyof typeof names];
  if (dtype === "f64") return op(`f64.${name}`, a, b);
  if (isFloat(dtype)) return op(`f32x4.${name}`, a, b);
  const whole =
    name === "max" || name === "min"
      ? op(`i32x4.${name}_${signOf(dtype)}`, a, b)
      : op(`i32x4.${name}`, a, b);
  return wrapped(whole, dtype);
}

/**
 * Takes (value, position) if it is better: larger or smaller, or the first NaN; `ties`: or equal
 * and further front.
 */
export function takeBetter(
  p: Printer,
  reducer: Reducer,
  name: string,
  fed: Dtype,
  v: Code,
  at: Code,
  ties: boolean,
): void {
  const { e } = p;
  const [best, position] = [e.find(bestOf(name)).text, e.find(name).text];
  const real = isFloat(fed);
  const more = reducer === "argMax" ? "gt" : "lt";
  const test = (c: Comparator, a: Code, b: Code): Code => compared(c, fed, a, b);
  let better = test(more, v, best);
  if (real)
    better = op("v128.or", better, op("v128.and", test("ne", v, v), test("eq", best, best)));
  if (ties) {
    const bothNan = op("v128.and", test("ne", v, v), test("ne", best, best));
    const same = real ? op("v128.or", test("eq", v, best), bothNan) : test("eq", v, best);
    better = op("v128.or", better, op("v128.and", same, op("i32x4.lt_s", at, position)));
  }
  const take = bind(p, "v128", better);
  const chosen =
    fed === "f64"
      ? op("select", v, best, laneOp("i32x4.extract_lane", 0, take))
      : op("v128.bitselect", v, best, take);
  e.line(set(localOf(position), op("v128.bitselect", at, position, take)));
  e.line(set(localOf(best), chosen));
}
