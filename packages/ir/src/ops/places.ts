/**
 * Indices as a user gives them, made into places: counted from the end where they are negative, and refused where it is known
 * that they are outside. What is known to be a place costs nothing.
 */
import { isOp } from "../attributes.ts";
import { addDim, type Dim, isStatic, printDim, subDim } from "../dim.ts";
import { isInteger, maxOf } from "../dtype.ts";
import { DtypeError, ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { requireAtLeast } from "../requirement.ts";
import { apply, checkTensor, filled, inDtype } from "./apply.ts";
import { dimValue } from "./create.ts";
import { broadcastInDim } from "./movement.ts";
import { constantValueOf, hasHostData, hostDataOf } from "./source.ts";

/** Throws unless `i` is a tensor of integers. */
export function checkIndex(op: string, i: Tensor): void {
  checkTensor(op, i);
  if (!isInteger(i.dtype))
    throw new DtypeError(
      `${op}: indices are ${i.dtype}, not an integer\n  give them as an Int32Array, or a tensor or input of dtype i32`,
    );
}

interface Range {
  readonly min: number;
  readonly max: number;
}

const ranges = new WeakMap<Tensor, Range>();

/** The least and the greatest of the values that a data leaf holds. */
function rangeOfData(t: Tensor): Range | undefined {
  if (!hasHostData(t)) return undefined;
  const known = ranges.get(t);
  if (known) return known;
  const found = { min: Infinity, max: -Infinity };
  for (const x of hostDataOf(t)) {
    if (x < found.min) found.min = x;
    if (x > found.max) found.max = x;
  }
  ranges.set(t, found);
  return found;
}

/** Ops that move elements of their operands, so that their range is that of the result. */
const moves = new Set(["reshape", "transpose", "broadcastInDim", "slice", "reverse", "concat"]);

/** How far a proof looks back. */
const deepest = 8;

/** The range of values that the graph itself holds; undefined where a run decides. */
function rangeOf(t: Tensor, depth = 0): Range | undefined {
  const value = constantValueOf(t);
  if (value !== undefined) return { min: value, max: value };
  if (t.op === "data") return rangeOfData(t);
  if (!moves.has(t.op) || t.op === "slice" || depth === deepest) return undefined;
  const parts = t.operands.map((x) => rangeOf(x, depth + 1));
  if (!parts.every((r) => r !== undefined)) return undefined;
  return {
    min: Math.min(...parts.map((r) => r.min)),
    max: Math.max(...parts.map((r) => r.max)),
  };
}

const alwaysPlaces = new Set(["iota", "argMax", "argMin", "argSort", "abs"]);
const ofFirst = new Set(["gather", "rem", "shiftRight"]);
const ofEither = new Set(["maximum", "and"]);
const ofAll = new Set([
  ...moves,
  ...["add", "mul", "div", "minimum", "pad", "cumsum", "reduceSum", "reduceMax", "reduceMin"],
]);

/** True where the graph says that no element is negative. */
function isPlace(t: Tensor, depth = 0): boolean {
  if (t.dtype.startsWith("u") || alwaysPlaces.has(t.op)) return true;
  if (t.op === "constant" || t.op === "data") return (rangeOf(t)?.min ?? -1) >= 0;
  if (depth === deepest) return false;
  const parts = t.operands.map((x) => () => isPlace(x, depth + 1));
  if (ofFirst.has(t.op)) return parts[0]!();
  if (ofEither.has(t.op)) return parts.some((p) => p());
  if (t.op === "select") return parts.slice(1).every((p) => p());
  if (t.op === "convert") {
    const from = t.operands[0]!.dtype;
    return from === "bool" || (isInteger(from) && parts[0]!());
  }
  return ofAll.has(t.op) && parts.every((p) => p());
}

/** 0 to the last of an iota. */
function countedRange(t: Tensor): { readonly min: number; readonly max: Dim } | undefined {
  return isOp(t, "iota") ? { min: 0, max: subDim(t.shape[t.attrs.axis]!, 1) } : undefined;
}

/** Throws where values that the graph holds are outside of `extent`; where that is a symbol, the run does. */
function checkKnown(op: string, index: Tensor, extent: Dim, whole: string): void {
  const known = rangeOf(index) ?? countedRange(index);
  if (!known || known.min === Infinity) return;
  const refuse = (value: Dim) => () =>
    new ShapeError(
      `${op}: index ${printDim(value)} is outside ${whole}, whose places are ${printDim(subDim(0, extent))} to ${printDim(subDim(extent, 1))}`,
    );
  requireAtLeast(subDim(extent, known.max), 1, refuse(known.max));
  requireAtLeast(addDim(extent, known.min), 0, refuse(known.min));
}

/**
 * `index` into `extent` places, negative elements counted from the end. `whole` names what has the places. Throws ShapeError for
 * one that is outside, where the graph holds it.
 */
export function placesOf(op: string, index: Tensor, extent: Dim, whole: string): Tensor {
  checkIndex(op, index);
  checkKnown(op, index, extent, whole);
  return isPlace(index) ? index : fromEnd(index, extent);
}

/** index, or index + extent where it is negative. Of a dtype that does not hold the extent, as i32. */
function fromEnd(index: Tensor, extent: Dim): Tensor {
  const holds = isStatic(extent) && extent <= maxOf(index.dtype);
  const i = holds ? index : inDtype(index, "i32");
  const { shape } = i;
  const length = isStatic(extent)
    ? filled(extent, i.dtype, shape)
    : broadcastInDim(dimValue(extent), shape, []);
  const negative = apply("less", [i, filled(0, i.dtype, shape)]);
  return apply("select", [negative, apply("add", [i, length]), i]);
}
