/** Reparameterisations by name, as a config repeats them. */
import type { ChangeName } from "./changes.ts";
import { lora } from "./lora.ts";
import type { Module } from "./module.ts";
import { type QuantizeWeightsOptions, quantizeWeights } from "./quantized-weights.ts";
import { spectralNorm, weightNorm } from "./weight-norms.ts";

const byName: Readonly<Record<ChangeName, (m: Module, options: object) => Module>> = {
  weightNorm,
  spectralNorm,
  lora,
  quantizeWeights: (m, options) => quantizeWeights(m, options as QuantizeWeightsOptions),
};

export const isChange = (name: unknown): name is ChangeName =>
  typeof name === "string" && Object.hasOwn(byName, name);

export function applyChange(m: Module, name: ChangeName, options: object): void {
  byName[name](m, options);
}
