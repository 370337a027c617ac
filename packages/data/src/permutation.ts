/**
 * Random orders that are the same on every machine: Fisher and Yates's shuffle over threefry2x32.
 */
import { kindOf, ShapeError, threefry2x32 } from "@kiln-ml/ir";

/**
 * 0 … n − 1 in the order that `seed` and `stream` (an epoch, say) fix. `torch.randperm`.
 *
 * @param n How many.
 * @example
 *   permutation(5, 1).sort() // [0, 1, 2, 3, 4]
 */
export function permutation(n: number, seed: number, stream = 0): Uint32Array {
  if (!Number.isInteger(n) || n < 0 || n >= 2 ** 32)
    throw new ShapeError(`permutation: needs an integer from 0 to 2³² − 1, got ${kindOf(n)}`);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new ShapeError(`permutation: seed must be an integer of 0 or more, got ${kindOf(seed)}`);
  if (!Number.isSafeInteger(stream) || stream < 0)
    throw new ShapeError(
      `permutation: stream must be an integer of 0 or more, got ${kindOf(stream)}\n  pass the number of the epoch`,
    );
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  const key = threefry2x32(Math.floor(seed / 2 ** 32), seed >>> 0, stream, 0);
  for (let i = n - 1; i > 0; i--) {
    // Scaling 32 bits to 0 … i favours no index by more than i/2³².
    const j = Math.floor((threefry2x32(key[0], key[1], i, 0)[0] * (i + 1)) / 2 ** 32);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
