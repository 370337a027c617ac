/**
 * Loads and stores: one element in all lanes, four neighbours, or four elements lane by lane. Bytes
 * and halves are widened to 32 bits when loaded and narrowed when stored; bool is a byte in memory
 * and a mask in a lane.
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
import { strideOf } from "../../kernel/stride.ts";
import { conditionsText, indexText } from "../index-text.ts";
import type { Load } from "../target-language.ts";
import {
  type Address,
  type Code,
  choice,
  i32Const,
  laneOp,
  memory,
  memoryLane,
  op,
  shuffle,
  splat,
} from "./code.ts";
import { fromHalf, fromSignedHalf, toHalf } from "./half.ts";
import {
  bind,
  constantCode,
  laneName,
  maskOf,
  numbers,
  onLane,
  type Printer,
  varies,
} from "./printer.ts";
import { runningBase } from "./running.ts";
import { wrapped } from "./spell.ts";

export const bytesOf = (dtype: Dtype): number => storageBytes(dtype, "wasm");

/** What lies in lanes takes 1, 2 or 4 bytes. */
const bitsOf = (size: number) => (size * 8) as 8 | 16 | 32;

/** The address of a buffer or array as it stands in index expressions, in bytes. */
const addressOf = (buffer: string): Dim => anyInteger(`=${buffer}`);
/** The symbol's name, to be bound where the buffer is declared. */
export const addressName = (buffer: string): string => `=${buffer}`;

/**
 * Constants up to this go into the instruction; the runtime keeps as many bytes free below the
 * first buffer.
 */
const mostOffset = 1024;

function address(p: Printer, buffer: string, index: Dim, size: number): Address {
  const { e } = p;
  const base = addressOf(buffer);
  let d = addDim(base, mulDim(e.resolved(index), size));
  const constant = constantIn(d);
  const offset = constant > 0 && constant <= mostOffset ? constant : 0;
  if (offset) d = addDim(d, -offset);
  return { offset, base: runningBase(p, d) ?? indexText(e, d) };
}

const none = (dtype: Dtype): Code => constantCode(0, dtype);

export function loadCode(p: Printer, l: Load): Code {
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
  return choice(type, conditionsText(e, guard), element, none(l.dtype));
}

/** One element in all lanes. */
function loadSame(p: Printer, l: Load, index: Dim): Code {
  const size = bytesOf(l.dtype);
  const at = address(p, l.from, index, size);
  if (l.dtype === "f64") return memory("f64.load", at);
  if (size === 4) return memory("v128.load32_splat", at);
  if (size === 2) return widened(p, l.dtype, op("i32x4.splat", memory("i32.load16_u", at)));
  return widened(p, l.dtype, op("i32x4.splat", memory("i32.load8_u", at)));
}

/** Unsigned bytes or halves in 32-bit lanes as values of the dtype. */
function widened(p: Printer, dtype: Dtype, v: Code): Code {
  if (dtype === "bool") return op("i32x4.ne", v, splat("i32x4", 0));
  if (dtype === "i8") return wrapped(v, dtype);
  if (dtype === "f16" || dtype === "bf16")
    return fromHalf(dtype, bind(p, "v128", v), (x) => bind(p, "v128", x));
  return v;
}

function loadNeighbours(p: Printer, l: Load, index: Dim): Code {
  const size = bytesOf(l.dtype);
  const at = address(p, l.from, onLane(index, 0), size);
  if (size === 4) return memory("v128.load", at);
  if (l.dtype === "f16") {
    const bound = (x: Code): Code => bind(p, "v128", x);
    return fromSignedHalf(memory("v128.load16x4_s", at), bound);
  }
  if (size === 2) return widened(p, l.dtype, memory("v128.load16x4_u", at));
  const bytes = op(
    "i32x4.extend_low_i16x8_u",
    op("i16x8.extend_low_i8x16_u", memory("v128.load32_zero", at)),
  );
  return widened(p, l.dtype, bytes);
}

/** Elements anywhere, one by one. */
function loadLanes(p: Printer, l: Load, index: Dim): Code {
  const at = numbers(p.width).map((i) => address(p, l.from, onLane(index, i), bytesOf(l.dtype)));
  return gathered(p, l.dtype, at);
}

function gathered(p: Printer, dtype: Dtype, at: readonly Address[]): Code {
  const size = bytesOf(dtype);
  const width = bitsOf(size);
  const [first, ...rest] = at;
  const start =
    size === 4
      ? memory("v128.load32_zero", first!)
      : memoryLane(`v128.load${width}_lane`, first!, 0, splat("i32x4", 0));
  const all = rest.reduce(
    (v, a, i) => memoryLane(`v128.load${width}_lane`, a, ((i + 1) * 4) / size, v),
    start,
  );
  return size === 4 ? all : widened(p, dtype, all);
}

/**
 * Where the guard differs by lane: a lane that must not load takes the buffer's first element, and
 * 0 in its place.
 */
function guardedLanes(p: Printer, l: Load, index: Dim, guard: readonly Condition[]): Code {
  const { e } = p;
  const base = indexText(e, addressOf(l.from));
  const inside = numbers(p.width).map((i) => {
    const here = guard.map((c) => ({ test: c.test, value: onLane(c.value, i) }));
    return bind(p, "i32", conditionsText(e, here));
  });
  const at = numbers(p.width).map((i) => {
    const d = addDim(addressOf(l.from), mulDim(onLane(index, i), bytesOf(l.dtype)));
    return { offset: 0, base: op("select", indexText(e, d), base, inside[i]!) };
  });
  const mask = inside
    .slice(1)
    .reduce(
      (v, lane, i) => laneOp("i32x4.replace_lane", i + 1, v, op("i32.sub", i32Const(0), lane)),
      maskOf(inside[0]!),
    );
  return op("v128.and", gathered(p, l.dtype, at), mask);
}

/**
 * A load whose value is dropped: an engine must keep it, since it might trap. In lanes, that of the
 * first.
 */
export function prefetch(p: Printer, from: string, at: Dim, dtype: Dtype): Code {
  const first = address(p, from, onLane(p.e.resolved(at), 0), bytesOf(dtype));
  return op("drop", memory("i32.load8_u", first));
}

/** Statements that store a value. */
export function stores(p: Printer, to: string, at: Dim, value: Code, dtype: Dtype): Code[] {
  const index = p.e.resolved(at);
  const size = bytesOf(dtype);
  if (dtype === "f64") return [memory("f64.store", address(p, to, index, size), value)];
  const lanes = narrowed(p, dtype, value);
  const width = bitsOf(size);
  if (!varies(p, index))
    return [memoryLane(`v128.store${width}_lane`, address(p, to, index, size), 0, lanes)];
  if (strideOf(index, laneName) === 1) {
    const first = address(p, to, onLane(index, 0), size);
    if (size === 4) return [memory("v128.store", first, lanes, ...p.some)];
    return [memoryLane(`v128.store${size === 2 ? 64 : 32}_lane`, first, 0, packed(size, lanes))];
  }
  const v = bind(p, "v128", lanes);
  return numbers(p.width).map((i) => {
    const there = address(p, to, onLane(index, i), size);
    return memoryLane(`v128.store${width}_lane`, there, (i * 4) / size, v);
  });
}

/** A value as it lies in memory, in the low bits of its lane. */
function narrowed(p: Printer, dtype: Dtype, v: Code): Code {
  if (dtype === "bool") return op("v128.and", v, splat("i32x4", 1));
  if (dtype === "i8" || dtype === "u8") return op("v128.and", v, splat("i32x4", 255));
  if (dtype === "f16" || dtype === "bf16")
    return toHalf(dtype, bind(p, "v128", v), (x) => bind(p, "v128", x));
  return v;
}

/** Four lanes side by side in the low half or quarter. */
function packed(size: number, v: Code): Code {
  const halves = splat("i32x4", 0);
  const bytes = [0, 1, 2, 3].flatMap((i) => Array.from({ length: size }, (_, b) => i * 4 + b));
  const rest = Array.from({ length: 16 - bytes.length }, () => 0);
  return shuffle([...bytes, ...rest], v, halves);
}
