/**
 * The arguments of one call: what is fed, what is static, and which program they ask for. Read before the call waits for its
 * turn, so that a caller may change its arrays as soon as it has called.
 */
import type { Dtype } from "@kiln-ml/ir";
import { type Fed, feedOf, isFeed } from "./feed.ts";
import type { InputSpec } from "./inputs.ts";
import type { Pattern } from "./shapes.ts";
import { asStatic, isStatic, keyOfStatic } from "./static.ts";
import { mapArguments } from "./tree.ts";

export interface Given {
  readonly args: readonly unknown[];
  readonly feeds: readonly Fed[];
  readonly statics: readonly { readonly path: string; readonly key: string }[];
}

/** What is kept of a call: no values, so that these can go. */
export interface Kind {
  readonly feeds: readonly {
    readonly path: string;
    readonly dtype: Dtype;
    readonly shape: readonly number[];
  }[];
  readonly statics: Given["statics"];
}

const isLeaf = (x: unknown): boolean => isStatic(x) || isFeed(x);

/** Throws GraphError for what is neither, ShapeError or DtypeError for a tensor that is none. */
export function givenOf(args: readonly unknown[]): Given {
  const feeds: Fed[] = [];
  const statics: { path: string; key: string }[] = [];
  mapArguments(args, isLeaf, (leaf, path) => {
    if (isStatic(leaf)) statics.push({ path, key: keyOfStatic(leaf) });
    else feeds.push(feedOf(leaf, path));
  });
  return { args, feeds, statics };
}

/** True if every argument is one leaf: then their paths are their places. */
export const isPlain = ({ args, feeds, statics }: Given): boolean =>
  args.length === feeds.length + statics.length && feeds.every(({ path }) => !path.includes("."));

export const kindOf = ({ feeds, statics }: Given): Kind => ({
  feeds: feeds.map(({ path, dtype, shape }) => ({ path, dtype, shape })),
  statics,
});

export function areAlike(a: Kind, b: Kind): boolean {
  if (a.feeds.length !== b.feeds.length || a.statics.length !== b.statics.length) return false;
  return (
    a.feeds.every(({ path, dtype, shape }, i) => {
      const other = b.feeds[i]!;
      if (dtype !== other.dtype || shape.length !== other.shape.length) return false;
      return path === other.path && shape.every((d, axis) => d === other.shape[axis]);
    }) && a.statics.every(({ path, key }, i) => isSame(b.statics[i]!, path, key))
  );
}

const isSame = (b: Given["statics"][number], path: string, key: string): boolean =>
  b.path === path && b.key === key;

/** The same text for arguments of one structure, with the same dtypes, ranks and static values. */
export function formOf({ args, feeds }: Given): string {
  const form = mapArguments(args, isLeaf, (x) => (isStatic(x) ? keyOfStatic(x) : 0));
  return JSON.stringify([form, feeds.map((f) => [f.dtype, f.shape.length])]);
}

/** Types in place of the tensors, which are not kept; static values stay. */
export function specsOf({ args, feeds }: Given, pattern: Pattern): readonly InputSpec[] {
  let i = 0;
  let axis = 0;
  return mapArguments(args, isLeaf, (leaf) => {
    if (isStatic(leaf)) return typeof leaf === "string" ? asStatic(leaf) : leaf;
    const { dtype, shape } = feeds[i++]!;
    const from = axis;
    axis += shape.length;
    return { dtype, shape: pattern.slice(from, axis) };
  }) as readonly InputSpec[];
}

/** What `path` leads to in the arguments; undefined where they lack it. */
export function at(args: readonly unknown[], path: readonly string[]): unknown {
  let value: unknown = args;
  for (const part of path) value = (value as Record<string, unknown> | undefined)?.[part];
  return value;
}
