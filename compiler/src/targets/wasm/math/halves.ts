/**
 * Four f32 lanes as two vectors of two f64, for the steps of a function that need more than 24
 * bits.
 */
import { type Code, call, choice, laneOp, op, shuffle } from "../code.ts";
import type { Bind } from "./vector.ts";

export type Half = "low" | "high";

const upper = [8, 9, 10, 11, 12, 13, 14, 15];
const lower = [0, 1, 2, 3, 4, 5, 6, 7];

/** Lanes 0 and 1, or 2 and 3, as doubles. */
export function half(x: Code, which: Half): Code {
  const lanes = which === "low" ? x : shuffle([...upper, ...upper], x, x);
  return op("f64x2.promote_low_f32x4", lanes);
}

/** Four floats of two vectors of doubles. */
export function joinHalves(low: Code, high: Code): Code {
  const narrow = (x: Code): Code => op("f32x4.demote_f64x2_zero", x);
  return shuffle([...lower, 16, 17, 18, 19, 20, 21, 22, 23], narrow(low), narrow(high));
}

/** `f` of the halves of the arguments, joined. */
export function inDoubles(
  x: readonly Code[],
  f: (halves: readonly Code[]) => Code,
  bind: Bind,
): Code {
  const of = (which: Half): Code => f(x.map((t) => bind("v128", half(t, which))));
  return joinHalves(of("low"), of("high"));
}

/** The host's function of each lane, for arguments too rare to be worth a vector. */
export function perLane(name: string, x: readonly Code[], { lanes = 4 }: Bind): Code {
  const value = (lane: number): Code => {
    const wide = x.map((t) => op("f64.promote_f32", laneOp("f32x4.extract_lane", lane, t)));
    return op("f32.demote_f64", call(`Math.${name}`, wide));
  };
  let all = op("f32x4.splat", value(0));
  for (let lane = 1; lane < lanes; lane++)
    all = laneOp("f32x4.replace_lane", lane, all, value(lane));
  return all;
}

/** `rare` if any lane of the mask is set, else `usual`: a jump, so that only the rare case pays. */
export const whereAny = (mask: Code, rare: Code, usual: Code): Code =>
  choice("v128", op("v128.any_true", mask), rare, usual);
