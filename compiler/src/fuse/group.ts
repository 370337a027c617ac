/**
 * Groups: the sets of nodes that become one kernel, each node at the coordinates of the group's
 * loops at which it is computed. A group of kind `rows` runs its outer loops; inside them phases of
 * inner loops with reductions; a `scan` has one such phase, in order along the axis; a
 * `contraction` runs over the result of its anchor; a `control` group is a node with regions, which
 * are programs of their own. Data only; `fuse.ts` decides, `lower/` builds kernels.
 */
import {
  type Condition,
  type Dim,
  floorDiv,
  loopVar,
  modDim,
  offsetOf,
  type Shape,
  sameShape,
  stridesOf,
  type Tensor,
} from "@kiln-ml/ir";
import { indexName } from "../kernel/names.ts";
import type { Attention } from "./attention.ts";

export interface Loop {
  readonly name: string;
  readonly extent: Dim;
  /** The loop variable as an index expression. */
  readonly at: Dim;
}

export const makeLoop = (wanted: string, extent: Dim): Loop => {
  const name = indexName(wanted);
  // The only value of a loop of one iteration; index expressions that are equal then look equal.
  return { name, extent, at: extent === 1 ? 0 : loopVar(name, extent) };
};

/** Where in a group a node is computed: once, in every outer iteration, or in every inner one. */
export type Level = "root" | "outer" | "full";

export interface ComputeAt {
  readonly coords: readonly Dim[];
  readonly level: Level;
}

/**
 * A tensor-shaped region of the group's loops: which coordinates a node of this shape has there.
 */
export interface Space {
  readonly shape: Shape;
  readonly coords: readonly Dim[];
}

/** The operands of a contraction and the loops each depends on. */
export interface Contraction {
  readonly m: readonly Loop[];
  readonly n: readonly Loop[];
  readonly batch: readonly Loop[];
  readonly k: readonly Loop[];
  readonly a: ContractionOperand;
  readonly b: ContractionOperand;
}

/** The operand's element at the loops' coordinates; 0 where a condition fails (padding). */
export interface ContractionOperand {
  readonly operand: Tensor;
  readonly coords: readonly Dim[];
  readonly when: readonly Condition[];
}

export interface Group {
  readonly id: number;
  readonly kind:
    | "map"
    | "rows"
    | "scan"
    | "contraction"
    | "scatter"
    | "sort"
    | "control"
    | "attention";
  /** The contraction, scatter, argSort or node with regions, or the first scan. */
  readonly anchor: Tensor | undefined;
  readonly outer: readonly Loop[];
  readonly outerSpace: Space;
  readonly inner: readonly Loop[];
  /**
   * The space of the reduced or scanned operand, where nodes of its shape can be computed; absent
   * for fold.
   */
  readonly fullSpace: Space | undefined;
  readonly axes: readonly number[];
  readonly contraction: Contraction | undefined;
  readonly attention: Attention | undefined;
  readonly members: Map<Tensor, ComputeAt>;
  /**
   * Other products of the contraction's `a`, with right operands of their own in the same loops:
   * the anchors have one shape.
   */
  readonly siblings: { readonly anchor: Tensor; readonly b: ContractionOperand }[];
  /** Reduction groups whose sums run along with this contraction's operand `a` or `b`. */
  readonly operandReductions: {
    readonly operand: "a" | "b";
    readonly group: Group;
    readonly rename: ReadonlyMap<string, Dim>;
  }[];
  /** Groups of single elements, or few, and products and scatters, in the kernel of this one. */
  readonly guests: Group[];
  /** A member of each group that became part of this one for its loops alone. */
  readonly beside: Tensor[];
  /**
   * Groups whose results this one reads, and those that read its own; changed by `addDependency`
   * alone.
   */
  readonly deps: Set<Group>;
  readonly users: Set<Group>;
  /** The groups that this one needs, directly or through groups between: a bit for each number. */
  needs: bigint;
  /** Its members and what is inlined in them; with the rest below noted by `room.ts` alone. */
  readonly computed: Set<Tensor>;
  /** What it reads from elsewhere. */
  readonly reads: Set<Tensor>;
  /** Members that will have to be stored unless all who read them join: by how many have not. */
  readonly waiting: Map<Tensor, number>;
  /** Members by the run over a row after which they are known, if it is not the first. */
  readonly phase: Map<Tensor, number>;
}

/**
 * The coordinates of a row-major relabelling: the element of `to` at the place of `coords` in
 * `from`.
 */
export function reindex(from: Shape, coords: readonly Dim[], to: Shape): Dim[] {
  if (sameShape(from, to)) return [...coords];
  const linear = offsetOf(from, coords);
  const strides = stridesOf(to);
  return to.map((extent, axis) => {
    const q = floorDiv(linear, strides[axis]!);
    return axis === 0 ? q : modDim(q, extent);
  });
}

/** From here on `group` needs a result of `other`. */
export function addDependency(group: Group, other: Group): void {
  group.deps.add(other);
  other.users.add(group);
  passOn(other, group);
}

/** Users need what a group needs; those that knew it told their own. */
function passOn(group: Group, user: Group): void {
  const left: [of: Group, to: Group][] = [[group, user]];
  for (let next = left.pop(); next; next = left.pop()) {
    const [of, to] = next;
    const before = to.needs;
    to.needs |= of.needs | bitOf(of);
    if (to.needs !== before) for (const u of to.users) left.push([to, u]);
  }
}

const bitOf = (group: Group): bigint => 1n << BigInt(group.id);

/** Gives what `part` needs, and what needs it, to `host`. */
export function moveDependencies(part: Group, host: Group): void {
  for (const d of part.deps) {
    d.users.delete(part);
    if (d !== host) addDependency(host, d);
  }
  for (const u of part.users) {
    u.deps.delete(part);
    if (u !== host) addDependency(u, host);
  }
}

/** True if `group` needs a result of `other`, directly or through groups between. */
export const dependsOn = (group: Group, other: Group): boolean =>
  (group.needs & bitOf(other)) !== 0n;
