/**
 * Ops on words as two halves of 16 bits, which schedules of wasm write and no graph has: SIMD
 * multiplies eight of them at once and adds neighbours. By name, as calls of kernel IR.
 */

const low = (w: number): number => (w << 16) >> 16;
const high = (w: number): number => w >> 16;
const joined = (low: number, high: number): number => (low & 0xffff) | (high << 16);

/** Both halves shifted to the left and then back, which keeps a field of each with its sign. */
const halves = (w: number, left: number, right: number): number =>
  joined(((low(w) << (16 + left)) >> 16) >> right, ((high(w) << (16 + left)) >> 16) >> right);

/** The sum of the products of both halves. */
const dotHalves = (a: number, b: number): number =>
  (Math.imul(low(a), low(b)) + Math.imul(high(a), high(b))) | 0;

/** What they are of i32, as one element. */
export const halfOps: Readonly<Record<string, (...args: readonly number[]) => number>> = {
  halves: (w, left, right) => halves(w!, left!, right!),
  dotHalves: (a, b) => dotHalves(a!, b!),
};
