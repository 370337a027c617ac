/**
 * The structure of a group: everything that lowering looks at, as text in which tensors are
 * numbers. Groups of one structure become one kernel, bound to other tensors, so that fifty equal
 * layers are lowered once. Knows no target.
 */
import { attrKey, DimExpr, keyOfDim, Tensor } from "@kiln-ml/ir";
import { isLeaf, keyOfCoords } from "../access.ts";
import { nameOfBuffer } from "./buffers.ts";
import type { LoweringContext } from "./context.ts";

export interface Structure {
  readonly key: string;
  /** The tensors by number. */
  readonly tensors: readonly Tensor[];
}

/** What a group knows of other groups; lowering asks for those through `outside`. */
const aside = new Set([
  "id",
  "deps",
  "users",
  "needs",
  "computed",
  "reads",
  "waiting",
  "phase",
  "beside",
]);

export function structureOf(context: LoweringContext): Structure {
  const numbers = new Map<Tensor, number>();
  const written = new Map<Tensor, number>();
  const parts: string[] = [];
  const number = (t: Tensor): number => {
    const known = numbers.get(t) ?? numbers.size;
    numbers.set(t, known);
    return known;
  };
  /** Where a node's value lies in memory. */
  const place = (t: Tensor): string => {
    const { tensor, offset } = context.storage(t);
    return `${number(tensor)} ${nameOfBuffer(tensor)} ${typeOf(tensor)}+${keyOfDim(offset)}`;
  };
  /** Writes down what a node is, and gives its number. */
  const write = (t: Tensor, outside: boolean): void => {
    const operands = t.operands.map((o) => written.get(o)!);
    const own = outside ? [isLeaf(t)] : [t.op, operands, attrKey(t.attrs)];
    const kept = outside || context.stored.has(t) ? place(t) : context.shown.has(t) ? "shown" : "";
    const found = number(t);
    written.set(t, found);
    parts.push(`${found}=${own.join()} ${typeOf(t)} ${kept}`);
  };
  /**
   * The node's number; the first mention writes down what it is, and before that what it is made
   * of.
   */
  const node = (root: Tensor): number => {
    const stack = [root];
    for (let t = stack.at(-1); t; t = stack.at(-1)) {
      const height = stack.length;
      const outside = context.outside(t);
      if (!written.has(t) && !outside)
        for (const o of [...t.operands].reverse()) if (!written.has(o)) stack.push(o);
      if (stack.length > height) continue;
      if (!written.has(t)) write(t, outside);
      stack.pop();
    }
    return written.get(root)!;
  };
  const group = JSON.stringify(context.group, (name, value: unknown) => {
    if (aside.has(name)) return undefined;
    if (value instanceof Tensor) return node(value);
    if (value instanceof DimExpr) return value.key;
    return value instanceof Map ? [...value] : value;
  });
  return { key: [...parts, group].join("\n"), tensors: [...numbers.keys()] };
}

const typeOf = (t: Tensor): string => `${t.dtype}[${keyOfCoords(t.shape)}]`;
