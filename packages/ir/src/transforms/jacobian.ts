/**
 * Derivatives as tensors: a pull or push for every element of one side, all of them at once, by
 * batching one over a unit basis.
 */
import { isStatic } from "../dim.ts";
import { isFloat } from "../dtype.ts";
import { checkOptions, DtypeError, GraphError, type OptionNames, ShapeError } from "../errors.ts";
import { gradWhereReached } from "../grad.ts";
import type { Tensor } from "../node.ts";
import { filled } from "../ops/apply.ts";
import { replaceNodes } from "../ops/control.ts";
import { equal } from "../ops/elementwise/compare.ts";
import { convert } from "../ops/elementwise/convert.ts";
import { reshape } from "../ops/movement.ts";
import { iota } from "../ops/source.ts";
import { printShape, sizeOf } from "../shape.ts";
import { argumentsOf, standIn, type TensorFunction, traceFunction } from "./function.ts";
import { pushForward, wholeTangent } from "./jvp.ts";
import { laned, moveAxis, spread } from "./lanes.ts";
import { overBatchOf } from "./vmap.ts";

export interface JacobianOptions {
  /**
   * A reverse pass for each element of the result, or a forward pass for each of x; by default what
   * needs fewer.
   */
  readonly mode?: "auto" | "forward" | "reverse";
}

const jacobianOptions: OptionNames<JacobianOptions> = { mode: 1 };

/** For each element of a tensor like t, what is 1 there and 0 elsewhere: [size, …shape]. */
function basisOf(t: Tensor): Tensor {
  const n = sizeOf(t.shape);
  const unit = equal(iota([n, n], 0), iota([n, n], 1));
  return reshape(convert(unit, t.dtype), [n, ...t.shape]);
}

function reverse(y: Tensor, x: Tensor): Tensor {
  const g = standIn(y, "g");
  const [pulled] = gradWhereReached(y, [x], { cotangent: g });
  const n = sizeOf(y.shape);
  const shape = [...y.shape, ...x.shape];
  if (!pulled) return filled(0, x.dtype, shape);
  const [lane] = overBatchOf([pulled], new Map([[g, laned(basisOf(y))]]), n);
  return reshape(spread(lane!, n), shape);
}

function forward(y: Tensor, x: Tensor): Tensor {
  const t = standIn(x, "t");
  const pushed = wholeTangent(pushForward([y], [x], [t])[0]!);
  const n = sizeOf(x.shape);
  const [lane] = overBatchOf([pushed], new Map([[t, laned(basisOf(x))]]), n);
  const columns = reshape(spread(lane!, n), [n, sizeOf(y.shape)]);
  return reshape(moveAxis(columns, 0, 1), [...y.shape, ...x.shape]);
}

/** Reverse passes where the result is no larger than x, or where that is not known. */
function isForward(y: Tensor, x: Tensor, mode: JacobianOptions["mode"]): boolean {
  if (mode === "forward" || mode === "reverse") return mode === "forward";
  const [rows, columns] = [sizeOf(y.shape), sizeOf(x.shape)];
  return isStatic(rows) && isStatic(columns) && columns < rows;
}

function checkFloats(op: string, y: Tensor, xs: readonly Tensor[]): void {
  for (const [what, t] of [["the result", y] as const, ...xs.map((x) => ["x", x] as const)])
    if (!isFloat(t.dtype))
      throw new DtypeError(
        `${op}: ${what} is ${t.dtype}, not a float\n  only floats have derivatives: convert it to f32`,
      );
}

/**
 * y and xs of a tensor made already, or of a function, with what brings the arguments into what is
 * made of them.
 */
function opened(op: string, f: Tensor | TensorFunction, args: readonly Tensor[]) {
  if (typeof f !== "function")
    return { y: argumentsOf(op, f)[0]!, xs: args, close: (ts: readonly Tensor[]) => [...ts] };
  const { params, results, single } = traceFunction(op, f, args);
  if (!single || !results[0])
    throw new GraphError(`${op}: the function must return one tensor, got a list`);
  const by = new Map(params.map((p, i) => [p, args[i]!] as const));
  return { y: results[0], xs: params, close: (ts: readonly Tensor[]) => replaceNodes(ts, by) };
}

type Like<X> = X extends Tensor ? Tensor : Tensor[];

/**
 * All of ∂f/∂x: element [i…, j…] is the derivative of element i… of f(x) by element j… of x. f may
 * be a tensor that is made of xs already.
 *
 * x: a float tensor → shape of f(x) ++ shape of x; a list of tensors → one for each. `mode`
 * "reverse" takes a backward pass for each element of the result, "forward" a tangent for each
 * element of x; all of them run as one batch. Throws DtypeError unless all are floats.
 * `torch.func.jacrev` and `jacfwd`, `jax.jacobian`.
 *
 * @param f A function of tensors, or a tensor made of xs.
 * @param xs A float tensor, or a list.
 * @example
 *   jacobian((x) => x.square(), tensor([1, 2])) // [[2, 0], [0, 4]]; diag(2x)
 */
export function jacobian<X extends Tensor | readonly Tensor[]>(
  f: Tensor | TensorFunction,
  xs: X,
  options: JacobianOptions = {},
): Like<X> {
  const { mode = "auto" } = checkOptions("jacobian", options, jacobianOptions);
  if (!["auto", "forward", "reverse"].includes(mode))
    throw new GraphError(
      `jacobian: mode must be "auto", "forward" or "reverse", got ${String(mode)}`,
    );
  const args = argumentsOf("jacobian", xs as Tensor | readonly Tensor[]);
  const { y, xs: own, close } = opened("jacobian", f, args);
  checkFloats("jacobian", y, own);
  const all = close(own.map((x) => (isForward(y, x, mode) ? forward(y, x) : reverse(y, x))));
  return (Array.isArray(xs) ? all : all[0]!) as Like<X>;
}

/**
 * All second derivatives of a scalar: element [i…, j…] is ∂²f/∂xᵢ∂xⱼ. The gradient is pushed
 * forward along each element of x, in one batch.
 *
 * x: a float tensor → shape of x twice. Throws ShapeError unless f(x) is a scalar, DtypeError
 * unless both are floats. `torch.func.hessian`, `jax.hessian`.
 *
 * @param f A function of tensors, or a tensor made of xs.
 * @example
 *   hessian((x) => x.square().sum(), tensor([1, 2])) // [[2, 0], [0, 2]]
 */
export function hessian(f: Tensor | TensorFunction, x: Tensor): Tensor {
  const { y, xs, close } = opened("hessian", f, argumentsOf("hessian", x));
  checkFloats("hessian", y, xs);
  if (y.rank !== 0)
    throw new ShapeError(
      `hessian: the result is ${printShape(y.shape)}, not a scalar\n  reduce it to one number, or take the jacobian of its gradient`,
    );
  const own = xs[0]!;
  const [g] = gradWhereReached(y, [own]);
  return close([g ? forward(g, own) : filled(0, own.dtype, [...own.shape, ...own.shape])])[0]!;
}
