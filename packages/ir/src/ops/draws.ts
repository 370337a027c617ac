/**
 * Random state that is drawn from inside of regions. State is a seed and a counter, u32[2]; a region assigns nothing, so inside of one
 * each draw takes the counter that it had outside plus a number of its own, made of the step, and what encloses the region moves the
 * counter by all that its steps have drawn.
 */
import { addDim, type Dim, maxDim, mulDim } from "../dim.ts";
import { GraphError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { assign, currentValue } from "../trace.ts";
import { dimValue } from "./create.ts";
import { iota } from "./source.ts";

/** Keys that a region has drawn so far, by the state that they come from. */
export type Draws = ReadonlyMap<Tensor, Dim>;

interface Frame {
  readonly op: string;
  /** Of a region that runs once for each of `length` steps, the step. */
  readonly step: { readonly place: Tensor; readonly length: Dim } | undefined;
  /** False where nobody knows how often the region will run. */
  readonly counted: boolean;
  readonly drawn: Map<Tensor, Dim>;
}

const frames: Frame[] = [];

/** Runs `define`, whose nodes go into a region, and says what a step of it draws. */
export function countingDraws<T>(
  frame: Pick<Frame, "op" | "step" | "counted">,
  define: () => T,
): { value: T; drawn: Draws } {
  const drawn = new Map<Tensor, Dim>();
  frames.push({ ...frame, drawn });
  try {
    return { value: define(), drawn };
  } finally {
    frames.pop();
  }
}

/** Counts the draws of a region that runs `times`, where it stands. */
export function addDraws(drawn: Draws, times: Dim = 1): void {
  const around = frames.at(-1);
  for (const [state, count] of drawn) {
    const all = mulDim(count, times);
    if (around) around.drawn.set(state, addDim(around.drawn.get(state) ?? 0, all));
    else assign(state, moved(currentValue(state), dimValue(all, "u32")));
  }
}

/** Draws of two regions of which one runs: as many as the one that draws more. */
export function eitherDraws(a: Draws, b: Draws): Draws {
  const states = new Set([...a.keys(), ...b.keys()]);
  return new Map([...states].map((s) => [s, maxDim(a.get(s) ?? 0, b.get(s) ?? 0)] as const));
}

/** (seed, counter + by). Threefry makes the streams of two counters independent. */
const moved = (state: Tensor, by: Tensor): Tensor => state.add(iota([2], 0, "u32").mul(by));

/**
 * The next key of random state, u32[2]: another at every call and at every step. Throws GraphError inside of a loop whose steps nobody
 * counts.
 */
export function nextKey(state: Tensor): Tensor {
  const around = frames.at(-1);
  // A node of its own: the parameter itself would be read as what is assigned to it later.
  const now = currentValue(state).stopGradient();
  const open = frames.find((f) => !f.counted);
  if (open)
    throw new GraphError(
      `${open.op}: the body draws random numbers from ${String(state.attrs.name)}, but how often it runs is not known\n  use scan, or carry a key`,
    );
  if (!around) {
    assign(state, moved(now, dimValue(1, "u32")));
    return now;
  }
  const number = numberOfDraw(state);
  around.drawn.set(state, addDim(around.drawn.get(state) ?? 0, 1));
  return moved(now, number);
}

/**
 * Of all draws since the outermost region began: with m draws before in each region, s of L steps, from the outermost inwards:
 * s₁ + L₁·(m₁ + s₂ + L₂·(m₂ + …)). No two are the same.
 */
function numberOfDraw(state: Tensor): Tensor {
  return frames.reduceRight(
    (inner, { step, drawn }) => {
      const before = inner.add(dimValue(drawn.get(state) ?? 0, "u32"));
      if (!step) return before;
      return before.mul(dimValue(step.length, "u32")).add(step.place.convert("u32"));
    },
    dimValue(0, "u32"),
  );
}
