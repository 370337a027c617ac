/**
 * Nodes of known ops, with typed attributes: `isOp` asks, `opOf` knows. Records' `infer` gets attributes as text gave them
 * and checks what they say; all other code reads checked ones through here, without casts.
 */
import type { OpAttrs } from "./attribute-forms.ts";
import { bug } from "./errors.ts";
import type { Attrs, Tensor } from "./node.ts";

export type { OpAttrs, UpdateMode } from "./attribute-forms.ts";

/** The attributes of op K; of an op that the table does not know, or any op, untyped ones. */
export type AttrsOf<K extends string> = K extends keyof OpAttrs ? Attrs & OpAttrs[K] : Attrs;

/** A node of op K. */
export type NodeOf<K extends string> = Tensor & { readonly op: K; readonly attrs: AttrsOf<K> };

/** Reductions over `axes`: all but `fold`. */
export type ReduceOp = keyof OpAttrs & (`reduce${string}` | "argMax" | "argMin");

export type CumulativeOp = "cumsum" | "cumprod" | "cummax" | "cummin";

/** True of a node of one of these ops; its attributes then have their types. */
export const isOp = <const K extends string>(t: Tensor | undefined, ...ops: K[]): t is NodeOf<K> =>
  t !== undefined && (ops as string[]).includes(t.op);

/** The node, where it is known to be of one of these ops. */
export function opOf<const K extends string>(t: Tensor, ...ops: K[]): NodeOf<K> {
  return isOp(t, ...ops) ? t : bug("opOf", `${t.op} is not ${ops.join(" or ")}`);
}

/** The axes of a reduction that is no `fold`. */
export const reducedAxes = (t: Tensor): readonly number[] =>
  (t as NodeOf<ReduceOp>).attrs.axes ?? bug("reducedAxes", `${t.op} has no axes`);
