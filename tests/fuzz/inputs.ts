/**
 * The inputs of one reader, in chunks that each begin from the seed anew, so that any input can be made again by its
 * number alone. The first chunk is the reader's list of known tricks.
 */
import fc from "fast-check";
import { mutations, seeded } from "../support/mutate.ts";
import type { FuzzReader } from "./readers.ts";

const chunkSize = 100;

export interface Input {
  readonly index: number;
  /** How it was made. */
  readonly kind: "trick" | "damaged file" | "damaged within" | "structured";
  readonly bytes: Uint8Array;
}

/** A 32-bit hash (FNV-1a) of a text and numbers. */
function hash(text: string, ...numbers: readonly number[]): number {
  let h = 0x811c9dc5;
  for (const c of [...text].map((c) => c.charCodeAt(0)).concat(numbers))
    h = Math.imul(h ^ c, 0x01000193) >>> 0;
  return h;
}

/** `count` inputs from number `first` on. */
export function* inputsOf(
  reader: FuzzReader,
  seed: number,
  count: number,
  first = 0,
): Generator<Input> {
  const files = reader.files();
  const tricks = reader.hostile ?? [];
  let left = count;
  for (let i = first; i < tricks.length && left > 0; i++, left--)
    yield { index: i, kind: "trick", bytes: tricks[i]! };
  const start = Math.max(0, first - tricks.length);
  let chunk = Math.floor(start / chunkSize);
  let skip = start % chunkSize;
  for (; left > 0; chunk++) {
    const made = chunkOf(reader, files, hash(reader.name, seed, chunk));
    for (const [i, { kind, bytes }] of made.entries()) {
      if (skip-- > 0) continue;
      if (left-- <= 0) return;
      yield { index: tricks.length + chunk * chunkSize + i, kind, bytes };
    }
  }
}

function chunkOf(
  { made, within }: FuzzReader,
  files: readonly Uint8Array[],
  seed: number,
): Omit<Input, "index">[] {
  const random = seeded(seed);
  const structured = made ? fc.sample(made, { numRuns: chunkSize / 4, seed: seed | 0 }) : [];
  return Array.from({ length: chunkSize }, (_, i) => {
    const file = files[Math.floor(random() * files.length)]!;
    const damage = (bytes: Uint8Array) => [...mutations(bytes, 1, random)][0]!;
    if (made && i % 4 === 0) return { kind: "structured", bytes: structured[i / 4]! };
    if (within && i % 2) return { kind: "damaged within", bytes: within(file, damage, random) };
    return { kind: "damaged file", bytes: damage(file) };
  });
}
