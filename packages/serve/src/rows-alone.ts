/**
 * Whether what a model says of a row depends on the rows beside it, as a mean over the batch does:
 * requests of such a model never run together. Found by running rows apart and together.
 */
import type { ModelTensor, OpenedModel } from "kiln-ml/model";
import { join, part, rowsOf } from "./batches.ts";
import { inputsOf, isServed } from "./tensor-json.ts";

/** False also for a model whose rows cannot be told, or that does not run on made-up values. */
export async function rowsAreAlone(model: OpenedModel): Promise<boolean> {
  const symbol = rowsOf(model);
  if (symbol === undefined || !model.inputs.every((s) => isServed(s.dtype))) return false;
  try {
    const counts = [2, 3];
    const random = randomFrom(1);
    const apart = counts.map((rows) => madeUp(model.inputs, symbol, rows, random));
    const together = part(await model.run(join(apart)), counts);
    for (const [i, inputs] of apart.entries()) {
      const alone = await model.run(inputs);
      for (const [name, { data }] of Object.entries(alone)) {
        const other = together[i]![name]!.data;
        if (data.length !== other.length) return false;
        for (const [k, x] of data.entries())
          if (!(Math.abs(Number(x) - Number(other[k])) <= 1e-3 * (1 + Math.abs(Number(x)))))
            return false;
      }
    }
    return true;
  } catch {
    return false;
  }
}

/** Numbers from 0 to 1, the same for every model. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Small positive values, so that roots and logarithms are numbers; other symbols are 4. */
function madeUp(specs: readonly ModelTensor[], symbol: string, rows: number, random: () => number) {
  const inputs = specs.map(({ name, dtype, shape }) => {
    const extents = shape.map((d) => (typeof d === "number" ? d : d === symbol ? rows : 4));
    const data = Array.from({ length: extents.reduce((a, b) => a * b, 1) }, () => {
      const x = 0.05 + random();
      return dtype.startsWith("f") ? x : Math.round(x / 1.1);
    });
    return [name, { shape: extents, data }];
  });
  return inputsOf({ inputs: Object.fromEntries(inputs) }, specs);
}
