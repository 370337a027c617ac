/**
 * Forward-mode differentiation, graph to graph: tangents go along with the values, from the
 * operands to the result. Each op has a rule of its own, in `jvp-rules.ts` and `jvp-control.ts`;
 * none is made of two reverse passes. The result is graph again.
 */
import { isFloat } from "../dtype.ts";
import { DtypeError, GraphError, ShapeError } from "../errors.ts";
import { type Graph, inPlaceOf, type Tensor, topologicalOrder, withOperands } from "../node.ts";
import { filled } from "../ops/apply.ts";
import { hasOwnGradient, inlineCalls, replaceNodes } from "../ops/control.ts";
import { autocast } from "../precision.ts";
import { printShape, sameShape } from "../shape.ts";
import { ignoringAssignments } from "../trace.ts";
import { argumentsOf, type TensorFunction, traceFunction } from "./function.ts";
import { controlTangents } from "./jvp-control.ts";
import { tangentOf } from "./jvp-rules.ts";

/** A value and its tangent; none where that is zero. */
export interface Dual {
  readonly value: Tensor;
  readonly tangent: Tensor | undefined;
}

/** Values and tangents of the roots, from those of nodes before them. */
export type Push = (roots: readonly Tensor[], known: ReadonlyMap<Tensor, Dual>) => Dual[];

/** As `Push`, of a region whose parameters have these values and tangents. */
export type PushGraph = (graph: Graph, operands: readonly Dual[]) => Dual[];

const isCustom = (call: Tensor): boolean =>
  hasOwnGradient(call) && call.attrs.gradient === "custom";

const push: Push = (roots, known) => {
  const duals = new Map(known);
  const several = new Map<Tensor, readonly Dual[]>();
  const of = (t: Tensor): Dual => duals.get(t) ?? { value: t, tangent: undefined };
  for (const node of topologicalOrder(roots, (t) => known.has(t))) {
    if (duals.has(node)) continue;
    const from = node.op === "result" ? several.get(node.operands[0]!) : undefined;
    const operands = node.operands.map(of);
    if (from) duals.set(node, from[node.attrs.index as number]!);
    else if (node.regions.length && operands.some((d) => d.tangent))
      several.set(
        node,
        inPlaceOf(node, () => controlTangents(node, operands, pushGraph)),
      );
    else {
      const value = withOperands(
        node,
        operands.map((d) => d.value),
      );
      const tangents = operands.map((d) => d.tangent);
      const tangent = tangents.some((t) => t)
        ? inPlaceOf(node, () => tangentOf(value, tangents))
        : undefined;
      if (tangent || value !== node) duals.set(node, { value, tangent });
    }
  }
  return roots.map(of);
};

const pushGraph: PushGraph = (graph, operands) =>
  push(
    inlineCalls(graph.results, undefined, isCustom),
    new Map(graph.params.map((p, i) => [p, operands[i]!] as const)),
  );

const typeOf = (t: Tensor): string => `${t.dtype}${printShape(t.shape)}`;

function checkTangents(xs: readonly Tensor[], tangents: readonly Tensor[]): void {
  if (xs.length !== tangents.length)
    throw new GraphError(
      `jvp: there are ${xs.length} arguments and ${tangents.length} tangents\n  give one tangent for each argument`,
    );
  for (const [i, x] of xs.entries()) {
    const t = tangents[i]!;
    if (!isFloat(x.dtype))
      throw new DtypeError(
        `jvp: argument ${i} is ${x.dtype}, not a float\n  only floats have tangents: read it from outside of the function`,
      );
    if (x.dtype !== t.dtype)
      throw new DtypeError(
        `jvp: tangent ${i} is ${typeOf(t)}, the argument ${typeOf(x)}\n  convert the tangent to the dtype of the argument`,
      );
    if (!sameShape(x.shape, t.shape))
      throw new ShapeError(
        `jvp: tangent ${i} is ${typeOf(t)}, the argument ${typeOf(x)}\n  reshape or broadcastTo the tangent to the shape of the argument`,
      );
  }
}

/**
 * Values and tangents of ys where xs have these; neither assignments nor mixed precision of the
 * scope count.
 */
export function pushForward(
  ys: readonly Tensor[],
  xs: readonly Tensor[],
  tangents: readonly Tensor[],
): Dual[] {
  const flat = inlineCalls([...ys, ...xs], undefined, isCustom);
  const leaves = flat.slice(ys.length);
  const known = new Map(leaves.map((x, i) => [x, { value: x, tangent: tangents[i] }] as const));
  return ignoringAssignments(() => autocast("f32", () => push(flat.slice(0, ys.length), known)));
}

/** A zero where there is no tangent. */
export const wholeTangent = ({ value, tangent }: Dual): Tensor =>
  tangent ?? filled(0, isFloat(value.dtype) ? value.dtype : "f32", value.shape);

/** A value and the tangent beside it; lists where the function gave a list. */
export interface ValueAndTangent<R> {
  readonly value: R;
  readonly tangent: R;
}

/**
 * f(xs), and its derivative in the direction of `tangents`: Σ over xs of ∂f/∂x · tangent. Forward
 * mode: about as many operations again as f has, whatever the number of arguments, and nothing is
 * kept. Where f is `y`, a tensor made of xs already, its tangent.
 *
 * xs: floats, tangents: like xs → like the results of f; those of integers and bool are zeros, f32.
 * Throws GraphError, ShapeError or DtypeError unless there is one tangent like each x.
 * `torch.func.jvp`, `jax.jvp`.
 *
 * @param f A function of tensors that gives a tensor or a list.
 * @example
 *   const { value, tangent } = jvp((x) => x.square(), [tensor([3])], [tensor([1])]);
 *   value // [9]
 *   tangent // [6]; 2·x·1
 */
export function jvp(
  y: Tensor,
  xs: Tensor | readonly Tensor[],
  tangents: Tensor | readonly Tensor[],
): Tensor;
export function jvp<R extends Tensor | readonly Tensor[]>(
  f: TensorFunction<R>,
  xs: Tensor | readonly Tensor[],
  tangents: Tensor | readonly Tensor[],
): ValueAndTangent<R>;
export function jvp(
  f: Tensor | TensorFunction,
  xs: Tensor | readonly Tensor[],
  tangents: Tensor | readonly Tensor[],
): Tensor | ValueAndTangent<Tensor | readonly Tensor[]> {
  const [args, directions] = [argumentsOf("jvp", xs), argumentsOf("jvp", tangents)];
  checkTangents(args, directions);
  if (typeof f !== "function")
    return wholeTangent(pushForward(argumentsOf("jvp", f), args, directions)[0]!);
  const traced = traceFunction("jvp", f, args);
  const { params } = traced;
  const along = params.map((p, i) => [p, args[i]!] as const);
  const duals = pushForward(traced.results, params, directions);
  const value = replaceNodes(
    duals.map((d) => d.value),
    new Map(along),
  );
  const tangent = replaceNodes(duals.map(wholeTangent), new Map(along));
  return traced.single ? { value: value[0]!, tangent: tangent[0]! } : { value, tangent };
}
