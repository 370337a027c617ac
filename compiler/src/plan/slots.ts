/** The temporary buffers of a plan: which are free, and the sizes that each has to hold. */
import type { Plan } from "@kiln-ml/artifact";
import { type Dim, keyOfDim } from "@kiln-ml/ir";
import { toExtent } from "../kernel/extent.ts";

interface Slot {
  readonly sizes: Map<string, Dim>;
  free: boolean;
}

export class Slots {
  readonly #slots: Slot[] = [];

  /** A slot that is free: one that held the same size if possible, else any, else a new one. */
  take(bytes: Dim): number {
    const key = keyOfDim(bytes);
    let found = this.#slots.findIndex((s) => s.free && s.sizes.has(key));
    if (found < 0) found = this.#bestFit(bytes);
    if (found < 0) found = this.#slots.push({ sizes: new Map(), free: true }) - 1;
    const slot = this.#slots[found]!;
    slot.free = false;
    slot.sizes.set(key, bytes);
    return found;
  }

  free(index: number): void {
    this.#slots[index]!.free = true;
  }

  sizes(): Plan["slots"] {
    return this.#slots.map((s) => ({ sizes: [...s.sizes.values()].map((d) => toExtent(d)) }));
  }

  /** The free slot whose size is nearest; a static value never grows a slot of symbolic size or the other way round. */
  #bestFit(bytes: Dim): number {
    let [best, distance] = [-1, Infinity];
    for (const [i, s] of this.#slots.entries()) {
      if (!s.free) continue;
      const sizes = [...s.sizes.values()];
      const symbolic = sizes.some((d) => typeof d !== "number");
      if (symbolic !== (typeof bytes !== "number")) continue;
      const own = symbolic ? 0 : Math.max(...(sizes as number[]));
      const d = typeof bytes === "number" ? Math.abs(Math.log((own + 1) / (bytes + 1))) : 0;
      if (d < distance) [best, distance] = [i, d];
    }
    return best;
  }
}
