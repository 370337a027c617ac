/**
 * The mathematics of the wasm target: the code of the ops that are more than an instruction or two,
 * on four f32 lanes and on one f64. Arithmetic, comparisons, minimum and maximum, and all of the
 * integers are the emitter's.
 */
import type { Code } from "../code.ts";
import { angle } from "./angle.ts";
import { double } from "./double.ts";
import { exponential } from "./exponential.ts";
import { logarithm } from "./logarithm.ts";
import { power } from "./power.ts";
import { rounding } from "./rounding.ts";
import { trigonometry } from "./trigonometry.ts";
import type { Bind, MathCode } from "./vector.ts";

export type { Bind } from "./vector.ts";

const vector: Readonly<Record<string, MathCode>> = {
  ...rounding,
  ...exponential,
  ...logarithm,
  ...trigonometry,
  ...angle,
  ...power,
};

/** Ops that floats have too and that the emitter spells itself. */
export const plainOps: ReadonlySet<string> = new Set(
  "neg abs add sub mul div maximum minimum equal notEqual less lessEqual greater greaterEqual select isNan isFinite convert bitcast stopGradient".split(
    " ",
  ),
);

/**
 * The code of `op` on four f32 lanes, or undefined if it is no op of this module. The arguments are
 * repeated.
 */
export function vectorMath(op: string, x: readonly Code[], bind: Bind): Code | undefined {
  return Object.hasOwn(vector, op) ? vector[op]!(x, bind) : undefined;
}

/**
 * The code of `op` on one f64, or undefined. Calls `Math.NAME`, which the module imports from the
 * host.
 */
export function doubleMath(op: string, x: readonly Code[], bind: Bind): Code | undefined {
  return Object.hasOwn(double, op) ? double[op]!(x, bind) : undefined;
}

/** The names of the ops on four lanes. */
export const vectorOps: readonly string[] = Object.keys(vector);
/** The names of the ops on one f64. */
export const doubleOps: readonly string[] = Object.keys(double);
