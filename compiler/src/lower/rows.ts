/**
 * Lowers map and rows groups: the statements of one outer iteration, in phases. A phase is one run
 * of the inner loops; it holds the reductions that need only earlier phases, and the stores of what
 * is ready by then. The schedules put the loops around it.
 */
import {
  type Dim,
  isFloat,
  offsetOf,
  opRecord,
  symbolsIn,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";
import { isScan } from "../access.ts";
import type { Loop } from "../fuse/group.ts";
import { load, ref } from "../kernel/expr.ts";
import type { Expr, Of, Stmt } from "../kernel/kernel.ts";
import type { Rename } from "../kernel/map.ts";
import {
  identityOf,
  isReduceOp,
  type LoweringContext,
  membersOf,
  openBlock,
  reducedValue,
  storeMember,
} from "./context.ts";
import { renamed } from "./loops.ts";
import type { Values } from "./value.ts";

/** How a target runs the loops around the statements. */
export interface RowLoops {
  readonly rename: Rename;
  /** Puts the inner loops around a phase. */
  inner(body: readonly Stmt[]): Stmt[];
  /** Makes partial results of a phase whole; nothing on one thread. */
  combine?(reduces: readonly Tensor[], names: readonly string[]): Stmt[];
  /**
   * Where costly values that several phases need are kept, an element an inner iteration; absent to
   * compute them anew.
   */
  readonly keep?: Keep;
  /** Puts what is needed around statements that one invocation per outer iteration runs. */
  once(body: readonly Stmt[]): Stmt[];
}

export interface Keep {
  readonly index: Dim;
  readonly size: Dim;
  /** f32 in double, where it is not rounded when it is computed either. */
  readonly double: boolean;
  /** Also keep elements that were loaded, where memory is slower than the arrays. */
  readonly loads?: boolean;
  readonly width?: 1 | 4;
}

interface Phase {
  readonly reduces: Tensor[];
  readonly stores: Tensor[];
}

/**
 * The reductions of a group by phase, and its stored inner-level members by the phase that stores
 * them.
 */
export function phasesOf(context: LoweringContext): Phase[] {
  const depth = depthsOf(context);
  const depthOf = (t: Tensor): number => depth.get(t)!;
  const phases: Phase[] = [];
  const phase = (i: number): Phase => {
    while (phases.length <= i) phases.push({ reduces: [], stores: [] });
    return phases[i]!;
  };
  for (const [node, p] of membersOf(context.group))
    if (isReduceOp(node) && p.level === "outer") phase(depthOf(node) - 1).reduces.push(node);
    else if (p.level === "full" && context.stored.has(node)) phase(depthOf(node)).stores.push(node);
  return phases;
}

/** Of what a group computes, the reductions that have to be known before, one after the other. */
function depthsOf({ group, outside }: LoweringContext): Map<Tensor, number> {
  const depth = new Map<Tensor, number>();
  for (const t of topologicalOrder([...group.members.keys()], outside)) {
    let below = 0;
    if (!outside(t)) for (const o of t.operands) below = Math.max(below, depth.get(o)!);
    const reduces = isReduceOp(t) && group.members.get(t)?.level === "outer";
    depth.set(t, reduces ? below + 1 : below);
  }
  return depth;
}

export const accName = (context: LoweringContext, node: Tensor): string => {
  const running = membersOf(context.group)
    .map(([t]) => t)
    .filter((t) => isReduceOp(t) || isScan(t));
  return `${opRecord(node.op).reducer}${running.indexOf(node)}`;
};

const extentsOf = (loops: readonly Loop[]): Dim[] => loops.map((l) => l.extent);

/** Declares the accumulator of a reduction or scan. */
export const declareAcc = (context: LoweringContext, node: Tensor): Of<"acc"> => ({
  kind: "acc",
  name: accName(context, node),
  dtype: node.dtype,
  init: identityOf(node),
  widened: opRecord(node.op).reducer === "sum" || opRecord(node.op).reducer === "prod",
});

function accumulate(
  context: LoweringContext,
  values: Values,
  node: Tensor,
  coords: Dim[],
  vars: Dim[],
): Stmt {
  const value = reducedValue(values, node, coords, vars);
  const reducer = opRecord(node.op).reducer!;
  const extents = extentsOf(
    context.group.members.get(node)!.level === "root" ? context.group.outer : context.group.inner,
  );
  const position = reducer.startsWith("arg") ? { position: offsetOf(extents, vars) } : {};
  return { kind: "accumulate", name: accName(context, node), reducer, value, ...position };
}

/** Appends the statements of one outer iteration to `block`. */
export function emitRow(context: LoweringContext, block: Values, loops: RowLoops): void {
  const { group } = context;
  const outer = renamed(group.outerSpace.coords, loops.rename);
  emitPhases(context, block, loops, loops.keep ? repeated(context, loops) : new Map());
  const members = membersOf(group);
  const stores = members.filter(([t, p]) => p.level === "outer" && context.stored.has(t));
  const tail: Stmt[] = [];
  const at = block.body.length;
  for (const [node] of stores) tail.push(storeMember(context, block, node, loops.rename));
  // Run-time indices that the stores needed stand before them.
  block.body.push(...(tail.length ? loops.once([...block.body.splice(at), ...tail]) : []));
  for (const [node, p] of members)
    if (isReduceOp(node) && p.level === "root") {
      const value = accumulate(context, block, node, [], outer);
      block.body.push(value);
    }
}

/**
 * Names of arrays by the value they keep: costly ones that more than one phase computes, then loads
 * that are left.
 */
function repeated(context: LoweringContext, loops: RowLoops): Map<string, string> {
  const kept = new Map<string, string>();
  const count = (of: (inner: Values) => Iterable<string>): void => {
    const phases = new Map<string, number>();
    emitPhases(context, openBlock(context), loops, kept, (inner) => {
      for (const key of of(inner)) phases.set(key, (phases.get(key) ?? 0) + 1);
    });
    for (const [key, n] of phases) if (n > 1) kept.set(key, `kept${kept.size}`);
  };
  count((inner) => inner.costly);
  if (loops.keep?.loads) count((inner) => loadsAlong(context, inner, loops.rename));
  return kept;
}

/** Keys of the loads of a phase whose elements differ from one inner iteration to the next. */
function loadsAlong(context: LoweringContext, inner: Values, rename: Rename): string[] {
  const vars = renamed(
    context.group.inner.map((l) => l.at),
    rename,
  );
  const along = new Set(vars.flatMap((d) => [...symbolsIn(d).keys()]));
  return [...inner.loaded].filter((key) => {
    const e = inner.valueOf(key);
    return e.kind === "load" && [...symbolsIn(e.index).keys()].some((name) => along.has(name));
  });
}

function emitPhases(
  context: LoweringContext,
  block: Values,
  loops: RowLoops,
  kept: ReadonlyMap<string, string>,
  seen: (inner: Values) => void = () => {},
): void {
  const { group } = context;
  const vars = renamed(
    group.inner.map((l) => l.at),
    loops.rename,
  );
  const outer = renamed(group.outerSpace.coords, loops.rename);
  const filled = new Map<string, Expr>();
  for (const { reduces, stores } of phasesOf(context)) {
    if (reduces.length + stores.length === 0) continue;
    block.body.push(...reduces.map((r) => declareAcc(context, r)));
    const inner = block.inner();
    for (const [key, value] of filled) inner.know(key, value);
    for (const r of reduces) inner.body.push(accumulate(context, inner, r, outer, vars));
    for (const s of stores) inner.body.push(storeMember(context, inner, s, loops.rename));
    for (const key of [...inner.costly, ...inner.loaded])
      if (kept.has(key)) keepValue(block, inner, key, kept.get(key)!, loops.keep!, filled);
    seen(inner);
    block.body.push(...loops.inner(inner.body));
    if (reduces.length && loops.combine)
      block.body.push(
        ...loops.combine(
          reduces,
          reduces.map((r) => accName(context, r)),
        ),
      );
    for (const r of reduces) block.bind(r, ref(accName(context, r), r.dtype));
  }
}

/** Keeps a value in an array for later phases. */
function keepValue(
  block: Values,
  inner: Values,
  key: string,
  name: string,
  { index, size, double, width }: Keep,
  filled: Map<string, Expr>,
): void {
  const value = inner.valueOf(key);
  const { dtype } = value;
  const kept = {
    ...(width === undefined ? {} : { width }),
    ...(double && isFloat(dtype) ? { widened: true as const } : {}),
  };
  block.body.push({ kind: "array", name, dtype, size, space: "private", ...kept });
  inner.body.push({ kind: "store", to: name, index, value });
  filled.set(key, load(name, value.dtype, index));
}

/** Reductions over the outer loops. */
export const rootReduces = (context: LoweringContext): Tensor[] =>
  membersOf(context.group)
    .filter(([t, p]) => isReduceOp(t) && p.level === "root")
    .map(([t]) => t);

/** Appends the stores that follow the outer loops. */
export function emitRoot(context: LoweringContext, block: Values): void {
  for (const r of rootReduces(context)) block.bind(r, ref(accName(context, r), r.dtype));
  for (const [node, p] of membersOf(context.group))
    if (p.level === "root" && context.stored.has(node))
      block.body.push(storeMember(context, block, node, new Map()));
}
