/**
 * Reference value of argSort: each line by the host's stable sort.
 */
import { sortAttrs } from "../ops/sort.ts";
import type { Evaluate, Value } from "./value.ts";
import { elementAt, tabulate } from "./walk.ts";

/** −1 if x comes before y among ascending numbers, NaN last. */
function compare(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return x < y ? -1 : x > y ? 1 : 0;
}

/** The elements of the line along `axis` through `at`. */
const lineOf = (x: Value, at: readonly number[], axis: number): number[] =>
  Array.from({ length: x.shape[axis]! }, (_, i) =>
    elementAt(
      x,
      at.map((c, a) => (a === axis ? i : c)),
    ),
  );

const argSort: Evaluate<"argSort"> = (node, [x], dims) => {
  const { axis, descending } = sortAttrs(node.operands[0]!, node.attrs);
  const orders = new Map<string, number[]>();
  return tabulate(node, dims, (at) => {
    const key = at.filter((_, a) => a !== axis).join();
    let order = orders.get(key);
    if (!order) {
      const line = lineOf(x!, at, axis);
      const sign = descending ? -1 : 1;
      order = [...line.keys()].sort((i, j) => sign * compare(line[i]!, line[j]!));
      orders.set(key, order);
    }
    return order[at[axis]!]!;
  });
};

export const sorting = { argSort };
