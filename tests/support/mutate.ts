/**
 * Damaged versions of a file, for readers that must refuse or read anything: flipped bits, bytes set to the values
 * that lengths and varints are sensitive to, truncation, pieces cut out, doubled, moved and swapped with noise.
 * Deterministic for a given random number generator.
 */

/** Numbers in [0, 1). */
export type Random = () => number;

/** A small generator with a 32-bit state, so that a failure can be told by its seed (mulberry32's mixing). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
    return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** `count` damaged copies of `seed`, one at a time; each has one to four injuries. */
export function* mutations(seed: Uint8Array, count: number, random: Random): Generator<Uint8Array> {
  for (let i = 0; i < count; i++) {
    // A copy in any case: a Buffer's slice is none.
    let bytes: Uint8Array = new Uint8Array(seed);
    const injuries = 1 + Math.floor(random() * 4);
    for (let k = 0; k < injuries; k++) {
      const injure = all[Math.floor(random() * all.length)]!;
      bytes = injure(bytes, random);
    }
    yield bytes;
  }
}

type Injury = (bytes: Uint8Array, random: Random) => Uint8Array;

const below = (limit: number, random: Random): number => Math.floor(random() * limit);

/** Half of the places are among the first bytes, where headers lie. */
const place = (bytes: Uint8Array, random: Random): number =>
  below(random() < 0.5 ? Math.min(bytes.length, 256) : bytes.length, random);

const joined = (...parts: readonly Uint8Array[]): Uint8Array => {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
};

const span = (bytes: Uint8Array, random: Random): [number, number] => {
  const from = place(bytes, random);
  return [from, Math.min(bytes.length, from + 1 + below(64, random))];
};

const telling = [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x22, 0x2a, 0x3a, 0x4a, 0x2c, 0x7b, 0x5d];

const all: readonly Injury[] = [
  (bytes, random) => {
    const at = place(bytes, random);
    if (at < bytes.length) bytes[at]! ^= 1 << below(8, random);
    return bytes;
  },
  (bytes, random) => {
    const at = place(bytes, random);
    if (at < bytes.length) bytes[at] = telling[below(telling.length, random)]!;
    return bytes;
  },
  (bytes, random) => bytes.subarray(0, below(bytes.length + 1, random)),
  (bytes, random) => {
    const [from, to] = span(bytes, random);
    return joined(bytes.subarray(0, from), bytes.subarray(to));
  },
  (bytes, random) => {
    const [from, to] = span(bytes, random);
    return joined(bytes.subarray(0, to), bytes.subarray(from));
  },
  (bytes, random) => {
    const [from, to] = span(bytes, random);
    const at = place(bytes, random);
    return joined(bytes.subarray(0, at), bytes.subarray(from, to), bytes.subarray(at));
  },
  (bytes, random) => {
    const [from, to] = span(bytes, random);
    for (let i = from; i < to; i++) bytes[i] = below(256, random);
    return bytes;
  },
];
