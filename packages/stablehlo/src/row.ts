/**
 * What a row of the table is: how one node is written. A row gets the node, the concrete type of its result, its operands by
 * name, and a builder; it gives the names of the results.
 */
import type { Dim, Graph, Tensor } from "@kiln-ml/ir";
import type { Builder, Ref } from "./builder.ts";
import type { Type } from "./text.ts";

export interface Site {
  readonly b: Builder;
  readonly node: Tensor;
  /** The type of the node, or of its first result. */
  readonly type: Type;
  /** An extent with its symbols bound. */
  dim(d: Dim): number;
  typeOf(t: { readonly dtype: Type["dtype"]; readonly shape: readonly Dim[] }): Type;
  /** The results of a region of the node for these arguments, written by `b`; `inherit` lets it read what is outside. */
  inline(b: Builder, region: Graph, args: readonly Ref[], inherit: boolean): Ref[];
}

export type Row = (site: Site, ...operands: Ref[]) => Ref | Ref[];
export type Rows = Readonly<Record<string, Row>>;

export const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** An attribute that is a list of numbers; absent, it is empty. */
export const listOf = (value: unknown): readonly number[] =>
  (value as readonly number[] | undefined) ?? [];

/** The axes of `rank` that are not in `axes`, ascending. */
export const others = (rank: number, axes: readonly number[]): number[] =>
  range(rank).filter((a) => !axes.includes(a));
