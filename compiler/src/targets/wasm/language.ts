/**
 * WebAssembly as the emitter's language: index arithmetic in i32, conditions as i32 or as lane
 * masks, constants. Loads are in `memory.ts`, ops in `spell.ts`. Divisions and remainders of
 * indices round down, as `Dim` says, where the instruction rounds to zero; where a dividend is
 * known not to be negative the two agree, and a power of two is a shift or a mask.
 */
import { type Condition, constantIn, type Dim, subDim } from "@kiln-ml/ir";
import { strideOf } from "../../kernel/stride.ts";
import { conditionsText, indexText } from "../index-text.ts";
import type { Call, Comparison, Language } from "../target-language.ts";
import { type Code, constantOf, get, i32Const, laneOp, op, set, splat, v128Const } from "./code.ts";
import { loadCode } from "./memory.ts";
import type { PlainName } from "./opcodes.ts";
import {
  bind,
  binderOf,
  constantCode,
  laneName,
  maskOf,
  numbers,
  onLane,
  type Printer,
  typeOf,
  varies,
  type WasmEmitter,
} from "./printer.ts";
import { rounded, spell } from "./spell.ts";

const comparisons: Readonly<Record<Comparison, PlainName>> = {
  "<": "i32.lt_s",
  "<=": "i32.le_s",
  ">": "i32.gt_s",
  ">=": "i32.ge_s",
  "==": "i32.eq",
};

/** `p` is asked for late: its emitter is made with this language. */
export function instructionLanguage(p: () => Printer): Language<Code, Code> {
  const bound = (c: Code): Code => bind(p(), "i32", c);
  return {
    // Names of the parameters that every function has.
    reserved: new Set(["from", "to", "stack"]),
    greater: true,
    named: get,
    never: i32Const(0),
    integer: i32Const,
    negate: (a) => op("i32.sub", i32Const(0), a),
    add: (a, b) => op("i32.add", a, b),
    subtract: (a, b) => op("i32.sub", a, b),
    multiply,
    compare: (c, a, b) => op(comparisons[c], a, b),
    declare(name, value, dtype) {
      p().locals.set(name, typeOf(dtype));
      return set(name, value);
    },
    divide: (a, b, nonnegative) => divide(bound, a, b, nonnegative),
    remainder: (a, b, nonnegative) => remainder(bound, a, b, nonnegative),
    pick(which, a, b) {
      const [x, y] = [bound(a), bound(b)];
      return op("select", x, y, op(which === "min" ? "i32.lt_s" : "i32.gt_s", x, y));
    },
    all: (conditions) =>
      conditions.length === 0 ? i32Const(1) : conditions.reduce((a, b) => op("i32.and", a, b)),
    constant: constantCode,
    index: (value) => indexValue(p(), value),
    test: (conditions) => testCode(p(), conditions),
    load: (l) => loadCode(p(), l),
    call: (c) => callCode(p(), c),
    // A half's sums are kept in f32; as an operand they are rounded like any other op's result.
    accumulated(name, text) {
      const { wide, dtype } = p().e.facts.accs.get(name)!;
      return wide ? rounded(text, dtype, binderOf(p())) : text;
    },
  };
}

/**
 * A power of two is a shift: one multiplication in the address of a product's inner loop took all
 * of the gain of a larger tile away.
 */
function multiply(a: Code, b: Code): Code {
  const n = constantOf(b);
  return n !== undefined && n > 0 && Number.isInteger(Math.log2(n))
    ? op("i32.shl", a, i32Const(Math.log2(n)))
    : op("i32.mul", a, b);
}

/** A divisor that may be 0 where nothing is computed: division by 0 would end the run. */
const safe = (b: Code): Code =>
  constantOf(b) === undefined ? op("i32.or", b, op("i32.eqz", b)) : b;

function divide(bound: (t: Code) => Code, a: Code, b: Code, nonnegative: boolean): Code {
  const n = constantOf(b);
  const shift = n === undefined ? -1 : Math.log2(n);
  if (Number.isInteger(shift) && shift >= 0)
    return op(nonnegative ? "i32.shr_u" : "i32.shr_s", a, i32Const(shift));
  const d = bound(b);
  if (nonnegative) return op("i32.div_u", a, safe(d));
  const x = bound(a);
  return op("i32.div_s", op("i32.sub", x, remainder(bound, x, d, false)), safe(d));
}

function remainder(bound: (t: Code) => Code, a: Code, b: Code, nonnegative: boolean): Code {
  const n = constantOf(b);
  if (n !== undefined && Number.isInteger(Math.log2(n))) return op("i32.and", a, i32Const(n - 1));
  const d = safe(bound(b));
  if (nonnegative) return op("i32.rem_u", a, d);
  return op("i32.rem_s", op("i32.add", op("i32.rem_s", a, d), b), d);
}

/** An index expression as a value: i32 in all lanes. */
export function indexValue(p: Printer, value: Dim): Code {
  const { e } = p;
  const d = e.resolved(value);
  if (!varies(p, d)) return op("i32x4.splat", indexText(e, d));
  const stride = strideOf(d, laneName);
  const lanes = numbers(p.width);
  if (stride === undefined)
    return lanes
      .slice(1)
      .reduce(
        (v, i) => laneOp("i32x4.replace_lane", i, v, indexText(e, onLane(d, i))),
        op("i32x4.splat", indexText(e, onLane(d, 0))),
      );
  // Vectors side by side share what is in all lanes.
  const first = onLane(d, 0);
  const constant = typeof first === "number" ? 0 : constantIn(first);
  const steps = lanes.map((i) => (constant + i * stride) | 0);
  return op(
    "i32x4.add",
    op("i32x4.splat", indexText(e, subDim(first, constant))),
    v128Const("i32x4", steps),
  );
}

/** A conjunction as a lane mask. */
function testCode(p: Printer, conditions: readonly Condition[]): Code {
  const { e } = p;
  const resolved = e.open(conditions);
  const same = resolved.filter((c) => !varies(p, c.value));
  const masks = resolved.filter((c) => varies(p, c.value)).map((c) => conditionMask(p, c));
  if (same.length > 0 || masks.length === 0) masks.unshift(maskOf(conditionsText(e, same)));
  return masks.reduce((a, b) => op("v128.and", a, b));
}

function conditionMask(p: Printer, { test, value }: Condition): Code {
  const zero = splat("i32x4", 0);
  return op(test === "zero" ? "i32x4.eq" : "i32x4.ge_s", indexValue(p, value), zero);
}

/**
 * Exponentials of what is known not to be positive (softmax's x − max) need no test for overflow.
 */
function callCode(p: Printer, c: Call): Code {
  const dtypes = c.args.map((a) => a.dtype);
  const args = c.args.map((a) => p.e.text(a));
  const op = c.nonPositive && c.dtype !== "f64" ? "expNonPositive" : c.op;
  return spell(op, args, dtypes, c.dtype, binderOf(p));
}

/** No code reads the lane: what depends on it differs lane by lane, or by constant steps. */
export const openLane = (e: WasmEmitter): void => e.bindName(laneName, get(laneName));
