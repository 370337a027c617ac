/**
 * What lowering knows of one group: its members, which of them are stored, and the kernel's buffers.
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
  type Tensor,
} from "@kiln-ml/ir";
import type { Choices } from "../choices.ts";
import type { Group, Placement } from "../fuse/group.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import type { Storage } from "../program.ts";
import type { Buffers } from "./buffers.ts";
import { type Rename, renamed } from "./loops.ts";
import { choose, constant, Values } from "./value.ts";

export interface Job {
  readonly group: Group;
  readonly stored: ReadonlySet<Tensor>;
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
export const openBlock = (job: Job): Values =>
  new Values(
    (t) => {
      if (!job.outside(t)) return undefined;
      const { tensor, offset } = job.storage(t);
      job.reads.add(t);
      return { name: job.buffers.read(tensor), offset };
    },
    (t) => job.stored.has(t),
  );

/** Members of a group in an order in which each stands after what it needs. */
export const membersOf = (group: Group): [Tensor, Placement][] =>
  [...group.members].sort(([a], [b]) => a.id - b.id);

export const isReduceOp = (t: Tensor): boolean => opRecord(t.op).family === "reduce";

/** Stores a member's element from inside its block. */
export function storeMember(job: Job, values: Values, node: Tensor, rename: Rename): Stmt {
  const coords = renamed(job.group.members.get(node)!.coords, rename);
  const value = values.at(node, coords);
  const { tensor, offset } = job.storage(node);
  job.writes.add(node);
  const to = job.buffers.write(tensor);
  return { kind: "store", to, index: addDim(offsetOf(node.shape, coords), offset), value };
}

/** Stores every member of the group that a buffer holds. */
export function storeMembers(job: Job, block: Values, rename: Rename): void {
  for (const [node] of membersOf(job.group))
    if (job.stored.has(node)) block.body.push(storeMember(job, block, node, rename));
}

/** The value a reduction or scan starts from, in the dtype of its accumulator. */
export function identityOf(node: Tensor, kept: Dtype = node.dtype): Expr {
  const { dtype } = node.operands[0]!;
  const low = isFloat(dtype) ? -Infinity : minOf(dtype);
  const high = isFloat(dtype) ? Infinity : maxOf(dtype);
  const start = { sum: 0, prod: 1, max: low, min: high, any: 0, all: 1, argMax: 0, argMin: 0 };
  return constant(kept, start[opRecord(node.op).reducer!]);
}

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
