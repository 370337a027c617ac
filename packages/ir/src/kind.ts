/**
 * Checks of what kind of thing an argument is, for callers that no type checker has seen: lists, lists of extents, and options. A leaf but
 * for dims; what values must fit is for those who use them.
 */
import { DimExpr } from "./dim.ts";
import { GraphError, ShapeError } from "./errors.ts";

/** What something that is no tensor is, for messages. */
export function kindOf(x: unknown): string {
  if (typeof x === "string") return JSON.stringify(x);
  if (typeof x === "bigint") return `${x}n`;
  if (Object.is(x, -0)) return "-0";
  if ((typeof x !== "object" && typeof x !== "function") || x === null) return String(x);
  try {
    return x.constructor?.name || "an object";
  } catch {
    // A proxy, or a getter, that throws.
    return "an object";
  }
}

/** Throws GraphError unless `value` is a list. */
export function checkList(op: string, what: string, value: unknown): void {
  if (!Array.isArray(value))
    throw new GraphError(`${op}: ${what} must be a list, got ${kindOf(value)}`);
}

/** Throws ShapeError unless `value` is a whole number or an extent made of symbols. */
export function checkExtentKind(op: string, what: string, value: unknown): void {
  if (!(value instanceof DimExpr) && !Number.isSafeInteger(value))
    throw new ShapeError(`${op}: ${what} must be a whole number or a symbol, got ${kindOf(value)}`);
}

/** Throws unless `value` is a list of whole numbers and symbols. */
export function checkExtents(op: string, what: string, value: unknown): void {
  checkList(op, what, value);
  for (const d of value as readonly unknown[]) checkExtentKind(op, `an entry of ${what}`, d);
}

/** Throws GraphError unless `value` may be a record of options. */
export function checkRecord(op: string, value: unknown, what = "options"): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new GraphError(`${op}: ${what} must be an object, got ${kindOf(value)}`);
}
