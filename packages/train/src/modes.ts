/**
 * A model before and after a run: which of its modules were in training, and layers that learn their sizes from the first input.
 */
import { input, trace } from "@kiln-ml/ir";
import type { Module } from "@kiln-ml/nn";
import type { ArgumentType } from "./front.ts";
import type { Step } from "./options.ts";

/** Which modules train. Those of layers that are not built yet are not there to be asked. */
export function trainingOf(net: Module): ReadonlyMap<Module, boolean> {
  const found = new Map<Module, boolean>();
  try {
    net.apply((m) => {
      found.set(m, m.training);
    });
  } catch {
    found.set(net, net.training);
  }
  return found;
}

export function restoreTraining(before: ReadonlyMap<Module, boolean>): void {
  for (const [module, on] of before) module.training = on;
}

/** Sets all modules, of a model that may not be built yet. */
export function setTraining(net: Module, on: boolean): void {
  try {
    net.train(on);
  } catch {
    net.training = on;
  }
}

/** Builds the graph once and drops it, so that all layers know their sizes. */
export function buildLazily(step: Step, types: readonly ArgumentType[]): void {
  trace(() => step(...types.map((t, i) => input(`batch${i}`, t.dtype, t.shape))));
}
