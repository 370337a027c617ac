/**
 * Parts of a data set for training and for testing: folds of a cross-validation, and splits that
 * keep the shares of labels or keep groups together. All are lists of indices underneath, so that
 * nothing is read.
 */

import {
  checkList,
  checkOptions,
  GraphError,
  kindOf,
  type OptionNames,
  ShapeError,
} from "@kiln-ml/ir";
import { checkValues } from "./check.ts";
import { checkFractions, subset } from "./dataset.ts";
import { checkSource, type Source } from "./items.ts";
import { permutation } from "./permutation.ts";
import { byLabel, type Label } from "./samplers.ts";

export interface FoldOptions {
  /** Fixes who is in which fold, default 0. */
  readonly seed?: number;
  /**
   * A label of each sample: every fold has each in the share that it has in all, to within one
   * sample.
   */
  readonly stratify?: ArrayLike<Label>;
  /** A group of each sample, such as a patient: all of a group are in one fold. */
  readonly groups?: ArrayLike<Label>;
}

export interface Fold<D> {
  readonly train: D;
  readonly test: D;
}

const foldOptions: OptionNames<FoldOptions> = { seed: 1, stratify: 1, groups: 1 };

/**
 * k folds: each sample is in the test part of one and in the training part of the others.
 *
 * Throws GraphError for k below 2, or with fewer samples or groups than folds.
 * `sklearn.model_selection.KFold`, `StratifiedKFold`.
 *
 * @param source A data set, items or a list.
 * @param k Parts, 2 or more.
 * @example
 *   const folds = kFold(itemsOf([1, 2, 3, 4, 5, 6]), 3);
 *   folds.map(({ train, test }) => [train.length, test.length]) // [[4, 2], [4, 2], [4, 2]]
 */
export function kFold<S, D extends Source<S>>(
  source: D & Source<S>,
  k: number,
  options: FoldOptions = {},
): Fold<D>[] {
  checkSource("kFold", source);
  const { seed = 0, stratify, groups } = checkOptions("kFold", options, foldOptions);
  if (!Number.isInteger(k) || k < 2)
    throw new GraphError(`kFold: needs an integer of 2 folds or more, got ${kindOf(k)}`);
  if (stratify && groups)
    throw new GraphError("kFold: stratify and groups are both given\n  leave one out");
  const n = source.length;
  checkLabels("kFold", "stratify", stratify, n);
  checkLabels("kFold", "groups", groups, n);
  if (n < k) throw new GraphError(`kFold: ${k} folds of ${n} samples`);
  const fold = groups ? foldsOfGroups(groups, k, seed) : foldsOfStrata(stratify, n, k, seed);
  const places = Array.from({ length: n }, (_, i) => i);
  const part = (indices: number[]) =>
    subset(source as Source<S>, Uint32Array.from(indices)) as unknown as D;
  return Array.from({ length: k }, (_, f) => ({
    train: part(places.filter((i) => fold[i] !== f)),
    test: part(places.filter((i) => fold[i] === f)),
  }));
}

function checkLabels(
  op: string,
  what: string,
  labels: ArrayLike<Label> | undefined,
  n: number,
): void {
  if (labels === undefined) return;
  checkValues(op, what, labels);
  if (labels.length !== n)
    throw new ShapeError(`${op}: ${what} has ${labels.length} labels for ${n} samples`);
}

/**
 * Deals the samples out, label by label: so folds differ by one sample at most, in all and in each
 * label.
 */
function foldsOfStrata(
  labels: ArrayLike<Label> | undefined,
  n: number,
  k: number,
  seed: number,
): Uint32Array {
  const strata = labels ? [...byLabel(labels).values()] : [Array.from({ length: n }, (_, i) => i)];
  const fold = new Uint32Array(n);
  let next = 0;
  for (const [s, members] of strata.entries())
    for (const at of permutation(members.length, seed, s)) fold[members[at]!] = next++ % k;
  return fold;
}

/** The largest group first, each to the fold with the fewest samples so far. */
function foldsOfGroups(groups: ArrayLike<Label>, k: number, seed: number): Uint32Array {
  const members = [...byLabel(groups).values()];
  if (members.length < k)
    throw new GraphError(`kFold: ${k} folds of ${members.length} groups\n  ask for fewer folds`);
  const order = Array.from(permutation(members.length, seed), (at) => members[at]!);
  order.sort((a, b) => b.length - a.length);
  const fold = new Uint32Array(groups.length);
  const sizes = new Array<number>(k).fill(0);
  for (const group of order) {
    const smallest = sizes.indexOf(Math.min(...sizes));
    sizes[smallest]! += group.length;
    for (const at of group) fold[at] = smallest;
  }
  return fold;
}

/**
 * Disjoint parts of the given fractions, each with every label in the share that it has in all, to
 * within a sample a label. Throws ShapeError for fractions that are not positive or exceed 1
 * together. `sklearn.model_selection.StratifiedShuffleSplit`.
 *
 * @param source A data set, items or a list.
 * @param fractions Shares of all samples, positive, at most 1 together.
 * @param labels A label for each sample, numbers or texts.
 * @param seed Fixes the draw.
 * @example
 *   const labels = [0, 0, 0, 0, 1, 1, 1, 1];
 *   const [training, test] = stratifiedSplit(itemsOf(labels), [0.75, 0.25], labels);
 *   [test.get(0), test.get(1)].sort() // [0, 1]
 */
export function stratifiedSplit<S, D extends Source<S>>(
  source: D & Source<S>,
  fractions: readonly number[],
  labels: ArrayLike<Label>,
  seed = 0,
): D[] {
  checkSource("stratifiedSplit", source);
  checkList("stratifiedSplit", "fractions", fractions);
  checkFractions("stratifiedSplit", fractions);
  checkValues("stratifiedSplit", "labels", labels);
  checkLabels("stratifiedSplit", "labels", labels, source.length);
  const parts: number[][] = fractions.map(() => []);
  for (const [s, members] of [...byLabel(labels).values()].entries()) {
    const order = permutation(members.length, seed, s);
    for (const [p, [start, end]] of cuts(fractions, members.length).entries())
      for (const at of order.subarray(start, end)) parts[p]!.push(members[at]!);
  }
  return parts.map((part) => {
    part.sort((a, b) => a - b);
    return subset(source as Source<S>, Uint32Array.from(part)) as unknown as D;
  });
}

/**
 * From where to where each part of n goes, so that rounding costs no sample where the fractions sum
 * to 1.
 */
function cuts(fractions: readonly number[], n: number): [number, number][] {
  let sum = 0;
  let start = 0;
  return fractions.map((fraction) => {
    sum += fraction;
    // To the nearest: a label of few samples would else never reach the first part.
    const end = Math.round(sum * n + 1e-6);
    const part: [number, number] = [start, Math.min(end, n)];
    start = part[1];
    return part;
  });
}
