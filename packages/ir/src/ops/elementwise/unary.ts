/**
 * Elementwise ops of one operand, a file a family. Integers given to an op on floats become f32. Text is C-family;
 * targets override what they spell otherwise. An op joins the family whose domain and accuracy it shares.
 */

export * from "./exponential.ts";
export * from "./hyperbolic.ts";
export * from "./logic.ts";
export * from "./power.ts";
export * from "./rounding.ts";
export * from "./trigonometric.ts";
