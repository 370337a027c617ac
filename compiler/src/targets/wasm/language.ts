/**
 * The WebAssembly text format as the emitter's language: index arithmetic in i32, conditions as i32 or as lane
 * masks, constants. Loads are in `memory.ts`, ops in `spell.ts`.
 */
import { type Condition, constantIn, type Dim, subDim } from "@kiln-ml/ir";
import { strideOf } from "../../schedule/stride.ts";
import type { Call, Comparison, Emitter, Language } from "../emitter.ts";
import { conditionsText, indexText } from "../index-text.ts";
import { atom, type Text } from "../scope.ts";
import { loadText } from "./memory.ts";
import {
  bind,
  constantOf,
  constantText,
  get,
  integer,
  isCheap,
  laneName,
  maskOf,
  onLane,
  op,
  type Printer,
  typeOf,
  varies,
} from "./printer.ts";
import { spell } from "./spell.ts";

const comparisons: Readonly<Record<Comparison, string>> = {
  "<": "i32.lt_s",
  "<=": "i32.le_s",
  ">": "i32.gt_s",
  ">=": "i32.ge_s",
  "==": "i32.eq",
};

/** `p` is asked for late: its emitter is made with this language. */
export function wat(p: () => Printer): Language {
  const bound = (t: Text): Text => (isCheap(t.text) ? t : atom(bind(p(), "i32", t.text)));
  return {
    // Names of the parameters that every function has.
    reserved: new Set(["from", "to", "stack"]),
    greater: true,
    named: (name, lanes) => atom(get(name), lanes),
    never: integer(0),
    integer,
    negate: (a) => op("i32.sub", "(i32.const 0)", a),
    add: (a, b) => op("i32.add", a, b),
    subtract: (a, b) => op("i32.sub", a, b),
    multiply,
    compare: (c, a, b) => op(comparisons[c], a, b),
    declare(name, value, dtype) {
      p().locals.set(name, typeOf(dtype));
      return `(local.set $${name} ${value.text})`;
    },
    divide: (a, b, nonnegative) => divide(bound, a, b, nonnegative),
    remainder: (a, b, nonnegative) => remainder(bound, a, b, nonnegative),
    pick(which, a, b) {
      const [x, y] = [bound(a), bound(b)];
      return op("select", x, y, op(which === "min" ? "i32.lt_s" : "i32.gt_s", x, y));
    },
    all: (conditions) =>
      conditions.length === 0 ? integer(1) : conditions.reduce((a, b) => op("i32.and", a, b)),
    constant: constantText,
    index: (value) => indexValue(p(), value),
    test: (conditions) => testText(p(), conditions),
    load: (l) => loadText(p(), l),
    call: (c) => callText(p(), c),
    accumulated: (_name, text) => text,
  };
}

function multiply(a: Text, b: Text): Text {
  const n = constantOf(b);
  return n !== undefined && n > 0 && Number.isInteger(Math.log2(n))
    ? op("i32.shl", a, integer(Math.log2(n)))
    : op("i32.mul", a, b);
}

/** A divisor that may be 0 where nothing is computed: division by 0 would end the run. */
const safe = (b: Text): Text =>
  constantOf(b) === undefined ? op("i32.or", b, op("i32.eqz", b)) : b;

function divide(bound: (t: Text) => Text, a: Text, b: Text, nonnegative: boolean): Text {
  const n = constantOf(b);
  const shift = n === undefined ? -1 : Math.log2(n);
  if (Number.isInteger(shift) && shift >= 0)
    return op(nonnegative ? "i32.shr_u" : "i32.shr_s", a, integer(shift));
  const d = bound(b);
  if (nonnegative) return op("i32.div_u", a, safe(d));
  const x = bound(a);
  return op("i32.div_s", op("i32.sub", x, remainder(bound, x, d, false)), safe(d));
}

function remainder(bound: (t: Text) => Text, a: Text, b: Text, nonnegative: boolean): Text {
  const n = constantOf(b);
  if (n !== undefined && Number.isInteger(Math.log2(n))) return op("i32.and", a, integer(n - 1));
  const d = safe(bound(b));
  if (nonnegative) return op("i32.rem_u", a, d);
  return op("i32.rem_s", op("i32.add", op("i32.rem_s", a, d), b), d);
}

/** An index expression as a value: i32 in four lanes. */
export function indexValue(p: Printer, value: Dim): Text {
  const { e } = p;
  const d = e.resolved(value);
  if (!varies(p, d)) return op("i32x4.splat", indexText(e, d));
  const stride = strideOf(d, laneName);
  if (stride === undefined)
    return [1, 2, 3].reduce(
      (v, i) => op(`i32x4.replace_lane ${i}`, v, indexText(e, onLane(d, i))),
      op("i32x4.splat", indexText(e, onLane(d, 0))),
    );
  // Vectors side by side share what is in all lanes.
  const first = onLane(d, 0);
  const constant = typeof first === "number" ? 0 : constantIn(first);
  const steps = [0, 1, 2, 3].map((i) => (constant + i * stride) | 0).join(" ");
  return op(
    "i32x4.add",
    op("i32x4.splat", indexText(e, subDim(first, constant))),
    `(v128.const i32x4 ${steps})`,
  );
}

/** A conjunction as a lane mask. */
function testText(p: Printer, conditions: readonly Condition[]): Text {
  const { e } = p;
  const resolved = e.open(conditions);
  const same = resolved.filter((c) => !varies(p, c.value));
  const masks = resolved.filter((c) => varies(p, c.value)).map((c) => conditionMask(p, c));
  if (same.length > 0 || masks.length === 0) masks.unshift(maskOf(conditionsText(e, same)));
  return masks.reduce((a, b) => op("v128.and", a, b));
}

function conditionMask(p: Printer, { test, value }: Condition): Text {
  const zero = "(v128.const i32x4 0 0 0 0)";
  return op(test === "zero" ? "i32x4.eq" : "i32x4.ge_s", indexValue(p, value), zero);
}

function callText(p: Printer, c: Call): Text {
  const dtypes = c.args.map((a) => a.dtype);
  const args = c.args.map((a) => p.e.text(a).text);
  const op = c.nonPositive && c.dtype !== "f64" ? "expNonPositive" : c.op;
  return atom(spell(op, args, dtypes, c.dtype, (type, text) => bind(p, type, text)));
}

export const openLane = (e: Emitter): void => e.bindName(laneName, atom("(lane)"));
