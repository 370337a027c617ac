/**
 * Vectorisation, graph to graph: a function of one place as a function of a batch. Every op has a
 * rule for batches (`batch-rules.ts`), so a product with a vector becomes one with a matrix, and
 * what no argument with a batch reaches is computed once.
 */
import { type Dim, printDim, sameDim } from "../dim.ts";
import { checkOptions, GraphError, type OptionNames, ShapeError } from "../errors.ts";
import { kindOf } from "../kind.ts";
import { inPlaceOf, type Tensor, topologicalOrder, withOperands } from "../node.ts";
import { hasOwnGradient, inlineCalls } from "../ops/control.ts";
import { autocast } from "../precision.ts";
import { checkAxis, printShape } from "../shape.ts";
import { ignoringAssignments } from "../trace.ts";
import { controlOverLanes } from "./batch-control.ts";
import { overLanes } from "./batch-rules.ts";
import { argumentsOf, type TensorFunction, traceFunction } from "./function.ts";
import { type Lane, laned, moveAxis, type RunLanes, shared, spread } from "./lanes.ts";

/** The lanes of the roots, from those of nodes before them. */
function runLanes(roots: readonly Tensor[], known: ReadonlyMap<Tensor, Lane>, size: Dim): Lane[] {
  const lanes = new Map(known);
  const several = new Map<Tensor, readonly Lane[]>();
  const of = (t: Tensor): Lane => lanes.get(t) ?? shared(t);
  const run: RunLanes = (graph, operands) => {
    const params = new Map(graph.params.map((p, i) => [p, operands[i]!] as const));
    return runLanes(inlineCalls(graph.results, undefined, hasOwnGradient), params, size);
  };
  for (const node of topologicalOrder(roots, (t) => known.has(t))) {
    if (lanes.has(node)) continue;
    const from = node.op === "result" ? several.get(node.operands[0]!) : undefined;
    const operands = node.operands.map(of);
    const batched = operands.some((l) => l.batched);
    if (from) lanes.set(node, from[node.attrs.index as number]!);
    else if (batched && node.regions.length)
      several.set(
        node,
        inPlaceOf(node, () => controlOverLanes(node, operands, size, run)),
      );
    else if (batched)
      lanes.set(node, laned(inPlaceOf(node, () => overLanes(node, operands, size))));
    else {
      const same = withOperands(
        node,
        operands.map((l) => l.tensor),
      );
      if (same !== node) lanes.set(node, shared(same));
    }
  }
  return roots.map(of);
}

/**
 * The roots for a batch: each place of it has the values of `given` that `by` has there, along a
 * first axis. Neither assignments nor mixed precision of the scope count.
 */
export function overBatchOf(
  roots: readonly Tensor[],
  by: ReadonlyMap<Tensor, Lane>,
  size: Dim,
): Lane[] {
  const flat = inlineCalls(roots, undefined, hasOwnGradient);
  return ignoringAssignments(() => autocast("f32", () => runLanes(flat, by, size)));
}

/** An axis for each argument or result, null for one that has no batch; one for all of them. */
export type BatchAxes = number | null | readonly (number | null)[];

export interface VmapOptions {
  /**
   * The axis of each argument that is the batch; null for one that every place gets whole. Default
   * 0.
   */
  readonly inAxes?: BatchAxes;
  /** The axis of each result that is the batch. Default 0. */
  readonly outAxes?: number | readonly number[];
}

const vmapOptions: OptionNames<VmapOptions> = { inAxes: 1, outAxes: 1 };

function axesOf(what: string, axes: BatchAxes, count: number): readonly (number | null)[] {
  const list = Array.isArray(axes) ? (axes as readonly (number | null)[]) : undefined;
  if (list && list.length !== count)
    throw new GraphError(
      `vmap: ${what} has ${list.length} entries for ${count}\n  give one number for all, or one for each`,
    );
  const each = list ?? new Array<number | null>(count).fill(axes as number | null);
  for (const a of each)
    if (a !== null && !Number.isInteger(a))
      throw new GraphError(`vmap: ${what} must be axes or null, got ${kindOf(a)}`);
  return each;
}

/** The batch: the extent of the named axes, which all of them have. */
function batchOf(args: readonly Tensor[], axes: readonly (number | null)[]): Dim {
  let size: Dim | undefined;
  for (const [i, x] of args.entries()) {
    const a = axes[i];
    if (a === null || a === undefined) continue;
    const extent = x.shape[a]!;
    if (size !== undefined && !sameDim(size, extent))
      throw new ShapeError(
        `vmap: batches differ: axis ${a} of argument ${i}, ${printShape(x.shape)}, has ${printDim(extent)}, another has ${printDim(size)}\n  name the axes of one extent, or null for an argument without a batch`,
      );
    size = extent;
  }
  if (size === undefined)
    throw new GraphError(
      "vmap: no argument has a batch\n  name an axis of one argument at least in inAxes",
    );
  return size;
}

/**
 * f of one place as a function of a batch: it gets tensors without the batch axis, and the function
 * that is returned takes and gives tensors with it. The same numbers as a loop over the batch, in
 * one program: ops get one more axis, `vmap` of a product of a matrix and a vector is one product
 * of two matrices. Random numbers that f draws are the same in each place.
 *
 * inAxes: the batch axis of each argument, default 0, null for one that is the same for all;
 * outAxes: of each result. Throws ShapeError where batches differ, GraphError where there is none,
 * or where f assigns a parameter. `torch.vmap`, `jax.vmap`.
 *
 * @param f A function of tensors that gives a tensor or a list.
 * @example
 *   const w = tensor([[1, 0], [0, 2]]);
 *   vmap((v) => w.matmul(v))(tensor([[1, 1], [3, 4]])) // [[1, 2], [3, 8]]; one product
 *   const dots = vmap((x, y) => x.dot(y), { inAxes: [0, null] });
 *   dots(tensor([[1, 2], [3, 4]]), tensor([1, 10])) // [21, 43]
 */
export function vmap<R extends Tensor | readonly Tensor[]>(
  f: TensorFunction<R>,
  options: VmapOptions = {},
): TensorFunction<R> {
  const { inAxes = 0, outAxes = 0 } = checkOptions("vmap", options, vmapOptions);
  if (typeof f !== "function") throw new GraphError(`vmap: takes a function, got ${kindOf(f)}`);
  return (...xs) => {
    const args = argumentsOf("vmap", xs);
    const axes = axesOf("inAxes", inAxes, args.length).map((a, i) =>
      a === null ? null : checkAxis("vmap", a, args[i]!.rank),
    );
    const size = batchOf(args, axes);
    const types = args.map(({ dtype, shape }, i) => ({
      dtype,
      shape: axes[i] === null ? shape : shape.filter((_, k) => k !== axes[i]),
    }));
    const traced = traceFunction("vmap", f, types);
    const lane = (x: Tensor, i: number): Lane =>
      axes[i] === null ? shared(x) : laned(moveAxis(x, axes[i]!, 0));
    const by = new Map(traced.params.map((p, i) => [p, lane(args[i]!, i)] as const));
    const out = overBatchOf(traced.results, by, size);
    const to = axesOf("outAxes", outAxes, out.length);
    const results = out.map((l, i) => {
      const whole = spread(l, size);
      return moveAxis(whole, 0, checkAxis("vmap", to[i] ?? 0, whole.rank));
    });
    return (traced.single ? results[0]! : results) as R;
  };
}
