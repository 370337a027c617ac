/** The dtypes of kernel IR's expressions, as far as their parts tell. */
import type { Dtype } from "@kiln-ml/ir";
import type { Expr } from "./kernel.ts";

/** The dtype in which memory holds elements: f64 where it is to hold more than its own says. */
export const heldDtype = ({ dtype, widened }: { dtype: Dtype; widened?: true }): Dtype =>
  widened ? "f64" : dtype;

const toBool: ReadonlySet<string> = new Set(
  "equal notEqual less lessEqual greater greaterEqual isNan isFinite".split(" "),
);
/** Ops whose result's dtype is theirs to choose. */
const chosen: ReadonlySet<string> = new Set(["convert", "bitcast"]);

/**
 * The dtype of a call: bool for comparisons, else that of its operands; undefined for conversions.
 */
export function dtypeOfCall(op: string, args: readonly Expr[]): Dtype | undefined {
  if (chosen.has(op)) return undefined;
  if (toBool.has(op)) return "bool";
  return args[op === "select" ? 1 : 0]?.dtype;
}
