/**
 * What lowering knows of one group: its members, which of them are stored, and the kernel's
 * buffers.
 */
import type { Limits } from "@kiln-ml/artifact";
import {
  addDim,
  type Dim,
  type Dtype,
  isFloat,
  maxOf,
  minOf,
  offsetOf,
  opRecord,
  type Reducer,
  type Tensor,
} from "@kiln-ml/ir";
import type { Choices } from "../choices.ts";
import type { ComputeAt, Group } from "../fuse/group.ts";
import { constant } from "../kernel/expr.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import type { Rename } from "../kernel/map.ts";
import type { Storage } from "../program.ts";
import type { Buffers } from "./buffers.ts";
import { renamed } from "./loops.ts";
import { choose, Values } from "./value.ts";

export interface LoweringContext {
  readonly group: Group;
  readonly stored: ReadonlySet<Tensor>;
  /** Nodes whose values memory shows: the stored ones, and those that stored copies are of. */
  readonly shown: ReadonlySet<Tensor>;
  /** What the device offers. */
  readonly limits: Limits;
  readonly features: readonly string[];
  /** Asked where a schedule has a choice; the schedule's own if absent. */
  readonly choices: Choices | undefined;
  readonly buffers: Buffers;
  /** True for what the kernel reads from memory: leaves, and nodes that other groups store. */
  readonly outside: (t: Tensor) => boolean;
  /** The memory of a stored node. */
  readonly storage: (t: Tensor) => Storage;
  /** Nodes loaded from memory, and members stored, so far. */
  readonly reads: Set<Tensor>;
  readonly writes: Set<Tensor>;
}

/** A block of statements that loads what lies outside the group. */
export const openBlock = (context: LoweringContext): Values =>
  new Values(
    (t) => {
      if (!context.outside(t)) return undefined;
      const { tensor, offset } = context.storage(t);
      context.reads.add(t);
      return { name: context.buffers.nameOf(tensor), offset };
    },
    (t) => context.shown.has(t),
  );

/** Members of a group in an order in which each stands after what it needs. */
export const membersOf = (group: Group): [Tensor, ComputeAt][] =>
  [...group.members].sort(([a], [b]) => a.id - b.id);

export const isReduceOp = (t: Tensor): boolean => opRecord(t.op).family === "reduce";

/** Stores a member's element from inside its block. */
export function storeMember(
  context: LoweringContext,
  values: Values,
  node: Tensor,
  rename: Rename = new Map(),
): Stmt {
  const coords = renamed(context.group.members.get(node)!.coords, rename);
  const value = values.at(node, coords);
  const { tensor, offset } = context.storage(node);
  context.writes.add(node);
  const to = context.buffers.nameOf(tensor);
  return { kind: "store", to, index: addDim(offsetOf(node.shape, coords), offset), value };
}

/** Stores every member of the group that a buffer holds. */
export function storeMembers(context: LoweringContext, block: Values, rename: Rename): void {
  for (const [node] of membersOf(context.group))
    if (context.stored.has(node)) block.body.push(storeMember(context, block, node, rename));
}

/** The value that a reducer of elements of a dtype starts from: it changes nothing. */
export function startOf(reducer: Reducer, dtype: Dtype): number {
  const low = isFloat(dtype) ? -Infinity : minOf(dtype);
  const high = isFloat(dtype) ? Infinity : maxOf(dtype);
  return { sum: 0, prod: 1, max: low, min: high, any: 0, all: 1, argMax: 0, argMin: 0 }[reducer];
}

/** The same of a reduction or scan. */
export const identityOf = (node: Tensor): Expr =>
  constant(node.dtype, startOf(opRecord(node.op).reducer!, node.operands[0]!.dtype));

/** The element a reduction takes in at result coordinates and loop variables. */
export function reducedValue(
  values: Values,
  node: Tensor,
  coords: readonly Dim[],
  vars: readonly Dim[],
): Expr {
  const [piece] = opRecord(node.op).pieces!(node, [...coords, ...vars]);
  const value = values.at(node.operands[piece!.operand]!, piece!.coords, piece!.when);
  return choose(piece!.when, value, identityOf(node));
}
