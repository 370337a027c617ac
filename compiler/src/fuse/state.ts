/**
 * The state of fusion: groups so far, where each node is, and what the target allows. Data and
 * small facts only.
 */
import { type Dim, maxOfDim, sizeOf, type Tensor } from "@kiln-ml/ir";
import type { Card } from "../machine/machine.ts";
import type { Program, Storage } from "../program.ts";
import { extentGuess as usual } from "../sizes.ts";
import type { Attention, Attentions } from "./attention.ts";
import type { Group, Loop } from "./group.ts";
import type { Inlined } from "./kernel-limits.ts";

/** What a target allows a group to become. */
export interface FusionLimits {
  /** Most elements of one row that phases may loop over. */
  readonly row: number;
  /**
   * Most elements a reduction over the outer loops may cover (it runs in one workgroup on a GPU).
   */
  readonly total: number;
  /** Most tensors one kernel may read and write. */
  readonly bindings: number;
  /**
   * Most elements that the first workgroup of another kernel computes along with its own; without,
   * single ones.
   */
  readonly guestElements?: number;
  /** Which products of one left operand share a kernel; none does without. */
  readonly siblings?: SiblingLimits;
  /** Whether products of f16 are so fast that bringing their operands limits them. */
  readonly matrixUnits?: boolean;
  /** What casts beforehand are weighed by. */
  readonly machine?: Card;
  /** Whether f16 is stored and read as easily as f32, in half the memory. */
  readonly halves?: boolean;
  /** How softmax(q·kᵀ)·v is found and becomes one group, on targets that can. */
  readonly attention?: AttentionFusion;
  /** Makes kernels of equal loops one, where a launch costs something. */
  readonly equalLoops?: (state: Fusion) => void;
}

export interface SiblingLimits {
  /** Most sums of one column of each: rows times products. */
  readonly sums: number;
  /** Least columns, and least terms of a sum. */
  readonly columns: number;
  readonly depth: number;
  /** Whether memory of the right operands has to run along depth. */
  readonly alongDepth: boolean;
}

/**
 * What fusion of attentions adds to that of nodes; a target brings it, so that others do without.
 */
export interface AttentionFusion {
  /** Sums of `apart` are not found together with others, and what is `stored` in none. */
  find(
    order: readonly Tensor[],
    stored: ReadonlySet<Tensor>,
    apart: ReadonlySet<Tensor>,
  ): Attentions;
  /** The nodes, with attentions where they are to be opened. */
  arrange(order: readonly Tensor[], found: Attentions): readonly (Tensor | Attention)[];
  open(state: Fusion, attention: Attention): void;
}

export interface Fusion {
  readonly program: Program;
  readonly limits: FusionLimits;
  readonly on: boolean;
  readonly groups: Group[];
  readonly groupOf: Map<Tensor, Group>;
  /** Nodes that must be stored: outputs and updates, without the reshapes around them. */
  readonly required: ReadonlySet<Tensor>;
  /** What products read of narrower integers, which is never stored. */
  readonly unpacked: ReadonlySet<Tensor>;
  /** The nodes that read each. */
  readonly readers: ReadonlyMap<Tensor, readonly Tensor[]>;
  /** What was found to be read by computing a node; see `readAgain`. */
  readonly read: Map<Tensor, ReadonlySet<Tensor>>;
  /** How much is inlined in nodes that float. */
  readonly inlined: Map<Tensor, Inlined>;
  /** The groups that read a node, the latest few hundred of them. */
  readonly readingGroups: Map<Tensor, Set<Group>>;
  /**
   * Whether the program is known to have more than kernels have room for, and whether that was
   * found out.
   */
  readonly cut: boolean;
  capped: boolean;
  /** The required nodes whose memory is a run of another tensor's. */
  readonly storedIn: Map<Tensor, Storage>;
  /** Products of weights and values that are groups with all that makes the weights. */
  readonly attentions: Attentions;
  /** What is done apart because a kernel bound too many tensors. */
  readonly relief: Relief;
  /** Told of every group that was looked at for a node and not taken; `why-apart.ts` says why. */
  readonly refused?: Refused | undefined;
}

/** Called while fusion stands where the decision was made. */
export type Refused = (fusion: Fusion, group: Group, node: Tensor) => void;

/** What to do apart when fusion runs again: kernels bound too many tensors, or had no schedule. */
export interface Relief {
  /** Nodes that join no kernel of what they read. */
  readonly barriers: ReadonlySet<Tensor>;
  /** Nodes that share a kernel with no others: what runs beside, and products of one operand. */
  readonly apart: ReadonlySet<Tensor>;
  /** Nodes that are stored rather than inlined. */
  readonly forced: ReadonlySet<Tensor>;
  /** Pointwise nodes at which a long kernel ends and the next begins. */
  readonly cuts: ReadonlySet<Tensor>;
}

const none: ReadonlySet<Tensor> = new Set();
export const noRelief: Relief = { barriers: none, apart: none, forced: none, cuts: none };

/** Adds an empty group. */
export function openGroup(
  state: Fusion,
  parts: Pick<Group, "kind" | "outer" | "outerSpace"> & Partial<Group>,
): Group {
  const group: Group = {
    id: state.groups.length,
    anchor: undefined,
    inner: [],
    fullSpace: undefined,
    axes: [],
    contraction: undefined,
    attention: undefined,
    members: new Map(),
    siblings: [],
    operandReductions: [],
    guests: [],
    beside: [],
    deps: new Set(),
    users: new Set(),
    needs: 0n,
    computed: new Set(),
    reads: new Set(),
    waiting: new Map(),
    phase: new Map(),
    ...parts,
  };
  state.groups.push(group);
  return group;
}

/** The number of iterations, with a guess of 256 for a symbol without a bound. */
export const extentGuess = (loops: readonly Pick<Loop, "extent">[]): number =>
  loops.reduce((n, l) => n * guess(l.extent), 1);

const guess = (d: Dim): number => {
  const max = maxOfDim(d);
  return Number.isFinite(max) ? max : usual;
};

export const withinRow = (state: Fusion, group: Group): boolean =>
  extentGuess(group.inner) <= state.limits.row;

export const isSingle = (t: Tensor): boolean => sizeOf(t.shape) === 1;
