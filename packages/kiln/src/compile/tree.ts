/**
 * Trees of values as functions take and return them: arrays and plain objects with leaves inside. Knows nothing of
 * what a leaf means beyond the predicate it is given.
 */

export type Tree<T> = T | readonly Tree<T>[] | { readonly [key: string]: Tree<T> };

export const isRecord = (x: unknown): x is Record<string, unknown> => {
  if (typeof x !== "object" || x === null) return false;
  const prototype = Object.getPrototypeOf(x);
  return prototype === Object.prototype || prototype === null;
};

/** The tree with `fn` applied to everything that is neither an array nor a plain object, or that `isLeaf` accepts. */
export function mapTree(
  tree: unknown,
  isLeaf: (x: unknown) => boolean,
  fn: (leaf: unknown, path: string) => unknown,
  path = "",
): unknown {
  if (!isLeaf(tree)) {
    if (Array.isArray(tree)) return tree.map((x, i) => mapTree(x, isLeaf, fn, join(path, `${i}`)));
    if (isRecord(tree))
      return Object.fromEntries(
        Object.entries(tree).map(([k, x]) => [k, mapTree(x, isLeaf, fn, join(path, k))]),
      );
  }
  return fn(tree, path);
}

/** `mapTree` of each argument; the list of arguments is never a leaf itself. */
export const mapArguments = (
  args: readonly unknown[],
  isLeaf: (x: unknown) => boolean,
  fn: (leaf: unknown, path: string) => unknown,
): unknown[] => args.map((arg, i) => mapTree(arg, isLeaf, fn, `${i}`));

const join = (a: string, b: string): string => (a ? `${a}.${b}` : b);
