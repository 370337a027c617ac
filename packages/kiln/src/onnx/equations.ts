/**
 * What symbols of a file have to be for its graph to be one program: learnt from pairs of extents that an import found to be unequal. A
 * file names every free extent; that the length of a mask is that of the cache and of the tokens, or that a height is a multiple of 32,
 * it does not say. What is learnt is a guess, so that every call is looked at: one that does not fit is compiled for its numbers.
 */
import { type Dim, dim, isStatic, mulDim, sameDim, subDim, substitute } from "@kiln-ml/ir";

/** Strides of networks halve extents; the least multiple that makes two chains of them equal is taken. */
const multiples = [2, 4, 8, 16, 32, 64];

/** As many as there can be in a graph that somebody wrote; a hostile one ends here. */
const mostLearnt = 64;

const symbolsIn = (d: Dim): readonly string[] =>
  isStatic(d) ? [] : [...(d as Exclude<Dim, number>).symbols.keys()];

const withOne = (d: Dim, name: string, value: Dim): Dim => substitute(d, new Map([[name, value]]));

export class Equations {
  /** In the order in which they are applied. */
  readonly #learnt: (readonly [name: string, value: Dim])[] = [];

  get any(): boolean {
    return this.#learnt.length > 0;
  }

  /** A dim with all that is known put in. */
  apply(d: Dim): Dim {
    return this.#learnt.reduce((e, [name, value]) => withOne(e, name, value), d);
  }

  /** Finds what makes two extents equal. False where nothing simple does. */
  learn(a: Dim, b: Dim): boolean {
    if (this.#learnt.length >= mostLearnt) return false;
    const found = alone(a, b) ?? alone(b, a) ?? multiple(a, b);
    if (found) this.#learnt.push(found);
    return found !== undefined;
  }
}

/** A symbol by itself is what the other side is. */
function alone(a: Dim, b: Dim): readonly [string, Dim] | undefined {
  const [name, ...more] = symbolsIn(a);
  if (name === undefined || more.length > 0 || !sameDim(a, dim(name))) return undefined;
  return symbolsIn(b).includes(name) ? undefined : [name, b];
}

/** A symbol of both sides is a multiple of a number. */
function multiple(a: Dim, b: Dim): readonly [string, Dim] | undefined {
  for (const k of multiples)
    for (const name of symbolsIn(a)) {
      const value = mulDim(dim(name), k);
      if (sameDim(withOne(a, name, value), withOne(b, name, value))) return [name, value];
    }
  return undefined;
}

/** Whether there are numbers, 1 at least, for the symbols of the dims that make them these extents, one symbol after the other. */
export function solvable(pairs: readonly (readonly [Dim, number])[]): boolean {
  const known = new Map<string, Dim>();
  for (let rest = pairs; rest.length > 0; ) {
    const left: (readonly [Dim, number])[] = [];
    for (const [d, extent] of rest) {
      const e = substitute(d, known);
      if (e === extent) continue;
      const [name, ...more] = symbolsIn(e);
      if (name === undefined) return false;
      if (more.length > 0) left.push([d, extent]);
      else {
        const value = solved(e, name, extent);
        if (value === undefined) return false;
        known.set(name, value);
      }
    }
    if (left.length === rest.length) return false;
    rest = left;
  }
  return true;
}

/** The number that a symbol has to be, if the dim grows evenly with it. */
function solved(d: Dim, name: string, extent: number): number | undefined {
  const [low, high] = [withOne(d, name, 1), withOne(d, name, 2)];
  const slope = subDim(high, low);
  if (!isStatic(low) || !isStatic(slope) || slope === 0) return undefined;
  const value = 1 + (extent - (low as number)) / (slope as number);
  if (!Number.isInteger(value) || value < 1) return undefined;
  return withOne(d, name, value) === extent ? value : undefined;
}
