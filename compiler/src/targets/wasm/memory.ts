/**
 * Loads and stores: one element in all lanes, four neighbours, or four elements lane by lane. Bytes and halves are
 * widened to 32 bits when loaded and narrowed when stored; bool is a byte in memory and a mask in a lane.
 */
import { storageBytes } from "@kiln-ml/artifact";
import {
  addDim,
  anyInteger,
  type Condition,
  constantIn,
  type Dim,
  type Dtype,
  mulDim,
} from "@kiln-ml/ir";
import { simplifyConditions } from "../../access.ts";
import { strideOf } from "../../schedule/stride.ts";
import type { Load } from "../emitter.ts";
import { conditionsText, indexText } from "../index-text.ts";
import { atom, type Text } from "../scope.ts";
import { fromHalf, toHalf } from "./half.ts";
import {
  bind,
  constantText,
  laneName,
  maskOf,
  onLane,
  op,
  type Printer,
  varies,
} from "./printer.ts";

export const bytesOf = (dtype: Dtype): number => storageBytes(dtype, "wasm");

/** The address of a buffer or array as it stands in index expressions, in bytes. */
const addressOf = (buffer: string): Dim => anyInteger(`=${buffer}`);
/** The symbol's name, to be bound where the buffer is declared. */
export const addressName = (buffer: string): string => `=${buffer}`;

/** Constants up to this go into the instruction; the runtime keeps as many bytes free below the first buffer. */
const mostOffset = 1024;

/** An address as `offset=… (text)`. */
function address(p: Printer, buffer: string, index: Dim, size: number): string {
  const { e } = p;
  const base = addressOf(buffer);
  let d = addDim(base, mulDim(e.resolved(index), size));
  const constant = constantIn(d);
  const offset = constant > 0 && constant <= mostOffset ? constant : 0;
  if (offset) d = addDim(d, -offset);
  return `${offset ? `offset=${offset} ` : ""}${indexText(e, d).text}`;
}

const none = (dtype: Dtype): Text => constantText(0, dtype);

export function loadText(p: Printer, l: Load): Text {
  const { e } = p;
  const guard = simplifyConditions(e.open(l.guard));
  if (!guard) return none(l.dtype);
  const index = e.resolved(l.index);
  const ragged = guard.some((c) => varies(p, c.value));
  if (ragged) return guardedLanes(p, l, index, guard);
  const element = !varies(p, index)
    ? loadSame(p, l, index)
    : strideOf(index, laneName) === 1
      ? loadNeighbours(p, l, index)
      : loadLanes(p, l, index);
  if (guard.length === 0) return element;
  const type = l.dtype === "f64" ? "f64" : "v128";
  return op(
    `if (result ${type})`,
    conditionsText(e, guard),
    `(then ${element.text})`,
    `(else ${none(l.dtype).text})`,
  );
}

/** One element in all lanes. */
function loadSame(p: Printer, l: Load, index: Dim): Text {
  const size = bytesOf(l.dtype);
  const at = address(p, l.from, index, size);
  if (l.dtype === "f64") return op(`f64.load ${at}`);
  if (size === 4) return op(`v128.load32_splat ${at}`);
  if (size === 2) return widened(p, l.dtype, op("i32x4.splat", op(`i32.load16_u ${at}`)));
  return widened(p, l.dtype, op("i32x4.splat", op(`i32.load8_u ${at}`)));
}

/** Unsigned bytes or halves in 32-bit lanes as values of the dtype. */
function widened(p: Printer, dtype: Dtype, v: Text): Text {
  if (dtype === "bool") return op("i32x4.ne", v, "(v128.const i32x4 0 0 0 0)");
  if (dtype === "i8")
    return op("i32x4.shr_s", op("i32x4.shl", v, "(i32.const 24)"), "(i32.const 24)");
  if (dtype === "f16" || dtype === "bf16")
    return atom(fromHalf(dtype, bind(p, "v128", v.text), (x) => bind(p, "v128", x)));
  return v;
}

function loadNeighbours(p: Printer, l: Load, index: Dim): Text {
  const size = bytesOf(l.dtype);
  const at = address(p, l.from, onLane(index, 0), size);
  if (size === 4) return op(`v128.load ${at}`);
  if (size === 2) return widened(p, l.dtype, op(`v128.load16x4_u ${at}`));
  const bytes = op(
    "i32x4.extend_low_i16x8_u",
    op("i16x8.extend_low_i8x16_u", op(`v128.load32_zero ${at}`)),
  );
  return widened(p, l.dtype, bytes);
}

/** Elements anywhere, one by one. */
function loadLanes(p: Printer, l: Load, index: Dim): Text {
  const at = [0, 1, 2, 3].map((i) => address(p, l.from, onLane(index, i), bytesOf(l.dtype)));
  return gathered(p, l.dtype, at);
}

function gathered(p: Printer, dtype: Dtype, at: readonly string[]): Text {
  const size = bytesOf(dtype);
  const width = size * 8;
  const [first, ...rest] = at;
  const start =
    size === 4
      ? op(`v128.load32_zero ${first}`)
      : op(
          `v128.load${width}_lane ${split(first!).offset}0 ${split(first!).base}`,
          "(v128.const i32x4 0 0 0 0)",
        );
  const all = rest.reduce((v, a, i) => {
    const { offset, base } = split(a);
    return op(`v128.load${width}_lane ${offset}${((i + 1) * 4) / size} ${base}`, v);
  }, start);
  return size === 4 ? all : widened(p, dtype, all);
}

/** The memarg and the operand of an address: a lane number stands between them. */
function split(at: string): { offset: string; base: string } {
  const m = /^offset=\d+ /.exec(at);
  return { offset: m ? m[0] : "", base: m ? at.slice(m[0].length) : at };
}

/** Where the guard differs by lane: a lane that must not load takes the buffer's first element, and 0 in its place. */
function guardedLanes(p: Printer, l: Load, index: Dim, guard: readonly Condition[]): Text {
  const { e } = p;
  const base = indexText(e, addressOf(l.from)).text;
  const inside = [0, 1, 2, 3].map((i) => {
    const here = guard.map((c) => ({ test: c.test, value: onLane(c.value, i) }));
    return bind(p, "i32", conditionsText(e, here).text);
  });
  const at = [0, 1, 2, 3].map((i) => {
    const d = addDim(addressOf(l.from), mulDim(onLane(index, i), bytesOf(l.dtype)));
    return op("select", indexText(e, d), base, inside[i]!).text;
  });
  const mask = [1, 2, 3].reduce(
    (v, i) => op(`i32x4.replace_lane ${i}`, v, op("i32.sub", "(i32.const 0)", inside[i]!)),
    maskOf(atom(inside[0]!)),
  );
  return op("v128.and", gathered(p, l.dtype, at), mask);
}

/** A load whose value is dropped: an engine must keep it, since it might trap. In lanes, that of the first. */
export function touchLine(p: Printer, from: string, at: Dim, dtype: Dtype): string {
  const first = address(p, from, onLane(p.e.resolved(at), 0), bytesOf(dtype));
  return op("drop", op(`i32.load8_u ${first}`)).text;
}

/** Statements that store a value, one line each. */
export function storeLines(p: Printer, to: string, at: Dim, value: Text, dtype: Dtype): string[] {
  const index = p.e.resolved(at);
  const size = bytesOf(dtype);
  if (dtype === "f64") return [op(`f64.store ${address(p, to, index, size)}`, value).text];
  const lanes = narrowed(p, dtype, value);
  const width = size * 8;
  if (!varies(p, index)) {
    const { offset, base } = split(address(p, to, index, size));
    return [op(`v128.store${width}_lane ${offset}0 ${base}`, lanes).text];
  }
  if (strideOf(index, laneName) === 1) {
    const first = address(p, to, onLane(index, 0), size);
    if (size === 4) return [op(`v128.store ${first}`, lanes).text];
    const { offset, base } = split(first);
    return [op(`v128.store${size * 32}_lane ${offset}0 ${base}`, packed(size, lanes)).text];
  }
  const v = bind(p, "v128", lanes.text);
  return [0, 1, 2, 3].map((i) => {
    const { offset, base } = split(address(p, to, onLane(index, i), size));
    return op(`v128.store${width}_lane ${offset}${(i * 4) / size} ${base}`, v).text;
  });
}

/** A value as it lies in memory, in the low bits of its lane. */
function narrowed(p: Printer, dtype: Dtype, v: Text): Text {
  if (dtype === "bool") return op("v128.and", v, "(v128.const i32x4 1 1 1 1)");
  if (dtype === "i8" || dtype === "u8")
    return op("v128.and", v, "(v128.const i32x4 255 255 255 255)");
  if (dtype === "f16" || dtype === "bf16")
    return atom(toHalf(dtype, bind(p, "v128", v.text), (x) => bind(p, "v128", x)));
  return v;
}

/** Four lanes side by side in the low half or quarter. */
function packed(size: number, v: Text): Text {
  const halves = "(v128.const i32x4 0 0 0 0)";
  const bytes = [0, 1, 2, 3].flatMap((i) => Array.from({ length: size }, (_, b) => i * 4 + b));
  const rest = Array.from({ length: 16 - bytes.length }, () => 0);
  return op(`i8x16.shuffle ${[...bytes, ...rest].join(" ")}`, v, halves);
}
