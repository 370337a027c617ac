/**
 * Lowers one group to one kernel by a target's schedule. Says which tensor each kernel parameter
 * is; places and text come later.
 */
import { packedBytes } from "@kiln-ml/artifact";
import {
  addDim,
  collectSymbols,
  type Dim,
  isMovement,
  mulDim,
  opOf,
  opRecord,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";
import { isLeaf } from "../access.ts";
import { type Choice, Choices } from "../choices.ts";
import type { Attention } from "../fuse/attention.ts";
import { dependsOn, type Group } from "../fuse/group.ts";
import type { Fusion } from "../fuse/state.ts";
import { countedNames } from "../kernel/count-names.ts";
import type { Kernel, Stmt } from "../kernel/kernel.ts";
import { bindingOf } from "../kernel/parts.ts";
import { accessesIn, dimsIn, eachStmt } from "../kernel/walk.ts";
import { sortFlops } from "../sizes.ts";
import { Buffers } from "./buffers.ts";
import { type LoweringContext, membersOf } from "./context.ts";
import { totalOf } from "./loops.ts";
import { structureOf } from "./structure.ts";
import { resetNames } from "./value.ts";

/** How a target turns the groups of each kind into loops. */
export interface Schedule {
  rows(context: LoweringContext): Scheduled;
  scan(context: LoweringContext): Scheduled;
  contraction(context: LoweringContext): Scheduled;
  scatter(context: LoweringContext): Scheduled;
  sort(context: LoweringContext): Scheduled;
  /** Absent where the fusion limits rule such groups out. */
  attention?(context: LoweringContext): Scheduled;
  /** A kernel with what runs beside it: groups of few elements, products and scatters. */
  beside(main: Scheduled, guests: readonly LoweringContext[]): Scheduled;
}

export interface Scheduled {
  readonly body: readonly Stmt[];
  readonly workgroupSize: number;
  /** The moves that made it of a naive kernel, as text. */
  readonly recipe?: string;
  /** Parameters that every access takes four elements of at a time. */
  readonly vectorised?: ReadonlySet<string>;
  /**
   * Products and scatters of the group that it has no loops for beside the others: they are to be
   * kernels of their own, and this is none.
   */
  readonly apart?: readonly Tensor[];
  /** What it is one of several for; only where the context has choices. */
  readonly choice?: Choice;
}

export interface Lowered {
  readonly group: Group;
  readonly kernel: Kernel;
  /** The tensor of each kernel parameter; undefined for scratch memory. */
  readonly tensors: readonly (Tensor | undefined)[];
  /**
   * The moves that its schedule made of a naive kernel, as text; absent where it built the loops.
   */
  readonly recipe?: string;
  /** Nodes it loads. */
  readonly reads: ReadonlySet<Tensor>;
  /** Nodes it stores, and the tensor each lies in. */
  readonly writes: ReadonlyMap<Tensor, Tensor>;
  /** As of what was scheduled: it is no kernel where there are any. */
  readonly apart?: readonly Tensor[];
  /** A choice its schedule had, and the kernel for another option. */
  readonly choice?: Choice & { readonly kernel: (option: string) => Kernel };
}

/** What is known of the device before anything is lowered. */
export type DeviceFacts = Pick<LoweringContext, "limits" | "features" | "choices">;

export interface LoweringOptions extends DeviceFacts {
  /** Called with each kernel that is made. */
  readonly verify: (kernel: Kernel) => void;
}

/** Lowers the groups of a program; those of one structure once. */
export class Lowering {
  private readonly schedule: Schedule;
  private readonly device: DeviceFacts;
  private readonly verify: LoweringOptions["verify"];
  private readonly known = new Map<
    string,
    { lowered: Lowered; number: ReadonlyMap<Tensor, number> }
  >();

  constructor(schedule: Schedule, { verify, ...device }: LoweringOptions) {
    this.schedule = schedule;
    this.device = device;
    this.verify = verify;
  }

  lower(fusion: Fusion, group: Group, stored: ReadonlySet<Tensor>): Lowered {
    const context = jobOf(fusion, group, stored, this.device);
    const { key, tensors } = structureOf(context);
    const known = this.known.get(key);
    if (known) return rebound(known.lowered, group, (t) => tensors[known.number.get(t)!]!);
    const lowered = lowerJob(context, this.schedule);
    this.verify(lowered.kernel);
    this.known.set(key, { lowered, number: new Map(tensors.map((t, i) => [t, i])) });
    return lowered;
  }
}

/** The same kernel for another group of its structure. */
function rebound(like: Lowered, group: Group, of: (t: Tensor) => Tensor): Lowered {
  return {
    group,
    kernel: like.kernel,
    tensors: like.tensors.map((t) => t && of(t)),
    reads: new Set([...like.reads].map(of)),
    writes: new Map([...like.writes].map(([t, whole]) => [of(t), of(whole)])),
    ...(like.recipe === undefined ? {} : { recipe: like.recipe }),
    ...(like.choice ? { choice: like.choice } : {}),
    ...(like.apart ? { apart: like.apart.map(of) } : {}),
  };
}

function jobOf(
  fusion: Fusion,
  group: Group,
  stored: ReadonlySet<Tensor>,
  device: DeviceFacts,
): LoweringContext {
  const outside = (t: Tensor) => {
    if (isLeaf(t)) return true;
    const other = fusion.groupOf.get(t);
    return other !== undefined && other !== group && !dependsOn(other, group);
  };
  const storage = (t: Tensor) => fusion.storedIn.get(t) ?? { tensor: t, offset: 0 };
  const [reads, writes] = [new Set<Tensor>(), new Set<Tensor>()];
  const shown = shownBy(stored);
  return {
    group,
    stored,
    shown,
    ...device,
    buffers: new Buffers(),
    outside,
    storage,
    reads,
    writes,
  };
}

const shownOf = new WeakMap<ReadonlySet<Tensor>, ReadonlySet<Tensor>>();

/**
 * Stored nodes, and what they are copies of: a scalar whose copies lie in memory is computed once
 * more by others who read it, who must see it with as many digits.
 */
function shownBy(stored: ReadonlySet<Tensor>): ReadonlySet<Tensor> {
  const known = shownOf.get(stored);
  if (known) return known;
  const all = new Set(stored);
  for (const t of all) if (isMovement(t)) for (const o of t.operands) if (!isLeaf(o)) all.add(o);
  shownOf.set(stored, all);
  return all;
}

/** What `Values` calls what it binds. */
const madeUp: ReadonlySet<string> = new Set(["at", "deep"]);

function lowerJob(context: LoweringContext, schedule: Schedule): Lowered {
  resetNames();
  const { group, storage, reads, writes } = context;
  const kind = group.kind === "map" || group.kind === "control" ? "rows" : group.kind;
  const own = schedule[kind]!(context);
  const guests = group.guests.map((part) => ({ ...context, group: part }));
  const main = guests.length ? schedule.beside(own, guests) : own;
  const body = countedNames(main.apart ? [] : main.body, madeUp);
  const params = used(context.buffers, body);
  const kernel: Kernel = {
    name: nameOf(group),
    params: params.map(({ param }) => ({
      ...param,
      width: main.vectorised?.has(param.name) ? 4 : 1,
    })),
    dims: symbolsOf(
      body,
      params.map((p) => p.param.size),
    ),
    body,
    workgroupSize: main.workgroupSize,
    bytes: bytesOf(params.map((p) => p.param)),
    flops: flopsOf(group),
  };
  const tensors = params.map((p) => p.tensor);
  const stores = new Map([...writes].map((t) => [t, storage(t).tensor] as const));
  const { choice } = main;
  const other = (option: string): Kernel => {
    const choices = new Choices({ [choice!.key]: option });
    const fresh = { buffers: new Buffers(), reads: new Set<Tensor>(), writes: new Set<Tensor>() };
    return lowerJob({ ...context, ...fresh, choices }, schedule).kernel;
  };
  const chosen = choice ? { choice: { ...choice, kernel: other } } : {};
  const made = main.recipe === undefined ? {} : { recipe: main.recipe };
  const apart = main.apart ? { apart: main.apart } : {};
  return { group, kernel, tensors, reads, writes: stores, ...made, ...chosen, ...apart };
}

/**
 * The parameters that the final statements mention, as they use them; trial lowerings may have
 * asked for more.
 */
function used(buffers: Buffers, body: readonly Stmt[]): Buffers["params"] {
  const accesses = accessesIn(body);
  return buffers.params.flatMap(({ tensor, param }) => {
    const access = accesses.get(param.name);
    if (!access) return [];
    return { tensor, param: param.access === "scratch" ? param : { ...param, access } };
  });
}

/**
 * Symbols of the program, which the kernel gets as arguments; names bound in the kernel have an
 * extent or a statement.
 */
function symbolsOf(body: readonly Stmt[], sizes: readonly Dim[]): string[] {
  const bound = new Set<string>();
  eachStmt(body, (s) => {
    const name = bindingOf(s);
    if (name?.as === "index") bound.add(name.name);
  });
  const found = new Map();
  for (const d of [...dimsIn(body), ...sizes]) collectSymbols(d, found);
  return [...found.keys()].filter((n) => !bound.has(n)).sort();
}

function bytesOf(params: readonly Kernel["params"][number][]): Dim {
  return params
    .filter((p) => p.access !== "scratch")
    .reduce<Dim>((sum, p) => addDim(sum, mulDim(p.size, packedBytes(p.dtype))), 0);
}

const isProduct = ({ anchor, siblings }: Group, t: Tensor): boolean =>
  t === anchor || siblings.some((s) => s.anchor === t);

/** 2·m·n·k for contractions; elsewhere one operation a node and element. */
function flopsOf(group: Group): Dim {
  let sum: Dim = 0;
  for (const [t] of group.members) {
    if (t === group.anchor && group.attention) {
      sum = addDim(sum, mulDim(mulDim(2, sizeOf(group.attention.space)), termsOf(group.attention)));
    } else if (group.contraction && isProduct(group, t)) {
      const { m, n, batch, k } = group.contraction;
      sum = addDim(sum, mulDim(2, totalOf([...batch, ...m, ...n, ...k])));
    } else if (opRecord(t.op).family === "sort")
      sum = addDim(sum, mulDim(sortFlops, sizeOf(t.operands[0]!.shape)));
    else if (opRecord(t.op).family === "reduce") sum = addDim(sum, sizeOf(t.operands[0]!.shape));
    else sum = addDim(sum, sizeOf(t.shape));
  }
  for (const part of [...group.guests, ...group.operandReductions.map((s) => s.group)])
    sum = addDim(sum, flopsOf(part));
  return sum;
}

/**
 * Products for each weight: the terms of what it is made of, and the columns of the sums that it is
 * in.
 */
function termsOf({ made, sums }: Attention): Dim {
  const depths = made.map(
    (t) => t.operands[0]!.shape[opOf(t, "dotGeneral").attrs.lhsContract[0]!]!,
  );
  return [...depths, ...sums.map((s) => s.columns)].reduce(addDim, 0);
}

const short: Readonly<Record<string, string>> = {
  dotGeneral: "matmul",
  convolution: "conv",
  stopGradient: "copy",
  after: "copy",
};

/** Named after the first and last ops of the group. */
function nameOf(group: Group): string {
  const { attention } = group;
  const own = attention?.softmax ? "attention" : "weighted";
  const sums = new Set(attention?.sums.map((s) => s.result));
  const ops = membersOf(group).map(([t]) => (sums.has(t) ? own : t.op));
  const first = attention ? own : (group.anchor?.op ?? ops[0]!);
  const last = ops.at(-1)!;
  return [first, ...(last !== first ? [last] : [])].map((op) => short[op] ?? op).join("_");
}
