/**
 * Signals of a head, made up: a rhythm over each half, which rests while the opposite hand is
 * imagined to move, in coloured noise.
 */
import { electrodes, rate } from "./views.ts";

/** What differs from person to person. */
export interface Person {
  readonly muHz: number;
  readonly strength: number;
  readonly alpha: number;
}

const between = (low: number, high: number): number => low + (high - low) * Math.random();

export const person = (): Person => ({
  muHz: between(9, 12),
  strength: between(1.2, 2.2),
  alpha: between(0.4, 1.2),
});

/** How much of the rhythm reaches an electrode: it is the motor cortex', under C3 and C4. */
const reach: Readonly<Record<(typeof electrodes)[number], number>> = {
  F3: 0.5,
  F4: 0.5,
  C3: 1,
  C4: 1,
  P3: 0.6,
  P4: 0.6,
  O1: 0.15,
  O2: 0.15,
};

/** One second in which a hand is imagined: 0 left, 1 right. f32[electrodes, rate]. */
export function trial({ muHz, strength, alpha }: Person, hand: number): Float32Array {
  const data = new Float32Array(electrodes.length * rate);
  const phases = [between(0, 6.3), between(0, 6.3), between(0, 6.3)] as const;
  electrodes.forEach((name, e) => {
    // Odd numbers lie over the left half, which rests for the right hand.
    const half = Number(name.slice(1)) % 2 === 1 ? 1 : 0;
    const mu = strength * reach[name] * (half === hand ? 0.3 : 1);
    const back = name.startsWith("O") ? alpha * 1.5 : alpha * 0.3;
    let slow = 0;
    for (let t = 0; t < rate; t++) {
      slow = 0.9 * slow + between(-0.7, 0.7);
      const turn = (2 * Math.PI * t) / rate;
      data[e * rate + t] =
        mu * Math.sin(muHz * turn + phases[half]!) +
        back * Math.sin(10 * turn + phases[2]) +
        slow +
        between(-0.8, 0.8);
    }
  });
  return data;
}
