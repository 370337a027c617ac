/**
 * Functions whose gradient is not made by walking through them: `checkpoint`, which is computed
 * again for it, and `customVjp`, whose rule the user writes.
 */
import { isFloat } from "../dtype.ts";
import { DtypeError, GraphError } from "../errors.ts";
import { kindOf } from "../kind.ts";
import { type ResultType, Tensor } from "../node.ts";
import { type ClosedForm, closedForms } from "../ops/call-gradient.ts";
import { resultsOf } from "../ops/control.ts";
import { checkTypes, closeOver, traceBody } from "../ops/regions.ts";
import { argumentsOf, standIn, type TensorFunction, traceFunction } from "./function.ts";

/**
 * f, whose values in between are not kept for the backward pass but computed again there. The same
 * numbers and gradients, at the price of one more forward pass of f; what f makes on its way is
 * dead until then, so that its memory serves others.
 *
 * → a function of the same tensors. Parameters that f reads need not be arguments.
 * `torch.utils.checkpoint`.
 *
 * Throws GraphError if f assigns a parameter. Chen et al. 2016, Training deep nets with sublinear
 * memory cost.
 *
 * @param f A function of tensors that gives a tensor or a list.
 * @example
 *   const layer = new nn.Linear(3, 3);
 *   const block = checkpoint((x) => layer.forward(x).exp());
 *   block(ones([1, 3])).shape // [1, 3]; its exp is computed again for the gradient
 */
export function checkpoint<F extends TensorFunction>(f: F): F {
  return ((...xs: Tensor[]) => {
    const args = argumentsOf("checkpoint", xs);
    const traced = traceFunction("checkpoint", f, args);
    const { regions, captures } = closeOver([traced], false);
    const attrs = { gradient: "recompute" };
    const parts = { op: "call", operands: [...args, ...captures], attrs, regions };
    const results = resultsOf(parts, traced.results);
    return traced.single ? results[0]! : results;
  }) as F;
}

/** Cotangents of the arguments from those of the results, the results, and the arguments. */
export type CustomVjp = (
  cotangents: Tensor[],
  results: Tensor[],
  ...xs: Tensor[]
) => readonly (Tensor | undefined)[];

/**
 * f with a gradient of the user's: `vjp(cotangents, results, ...xs)` gives for each argument the
 * cotangent of its shape and dtype, or undefined for none. The rule is graph, so gradients of the
 * gradient go through it; for `jvp` it is transposed, where it is taken to be linear in the
 * cotangents.
 *
 * → a function of the same tensors. `torch.autograd.Function`, `jax.custom_vjp`.
 *
 * Throws DtypeError if a result is no float, ShapeError or DtypeError if a cotangent has another
 * type than its argument, GraphError if their number differs, or, where the gradient is taken, if
 * one reaches what f reads from outside.
 *
 * @param f A function of tensors that gives a tensor or a list.
 * @param vjp Gives a cotangent, or undefined, for each argument.
 * @example
 *   const clipped = customVjp((x) => x, ([g]) => [g.clamp(-1, 1)]);
 *   const x = param([1, 2]);
 *   grad(clipped(x).mul(tensor([5, 0.5])).sum(), [x]) // [[1, 0.5]]; not 5
 */
export function customVjp<F extends TensorFunction>(f: F, vjp: CustomVjp): F {
  if (typeof vjp !== "function")
    throw new GraphError(`customVjp: the rule must be a function, got ${kindOf(vjp)}`);
  let within = false;
  return ((...xs: Tensor[]) => {
    if (within)
      throw new GraphError(
        "customVjp: the rule calls the function that it is the rule of\n  call the function inside, or take what it gave from the results",
      );
    const args = argumentsOf("customVjp", xs);
    const traced = traceFunction("customVjp", f, args);
    for (const { dtype } of traced.results)
      if (!isFloat(dtype))
        throw new DtypeError(
          `customVjp: a result is ${dtype}, which has no cotangent\n  return it from a function of its own`,
        );
    within = true;
    const rule = traceRule(vjp, traced.results, args, () => {
      within = false;
    });
    const { regions, captures } = closeOver([traced, rule], false);
    const attrs = { gradient: "custom" };
    const parts = { op: "call", operands: [...args, ...captures], attrs, regions };
    const results = resultsOf(parts, traced.results);
    return traced.single ? results[0]! : results;
  }) as F;
}

/** The rule as a body: of cotangents, results and arguments. */
function traceRule(
  vjp: CustomVjp,
  results: readonly ResultType[],
  args: readonly Tensor[],
  end: () => void,
) {
  const gs = results.map((t) => standIn(t, "g"));
  const ys = results.map((t) => standIn(t, "y"));
  const own = args.map((t) => standIn(t));
  return traceBody("customVjp", [...gs, ...ys, ...own], () => {
    const parts = finallyDo(end, () => vjp(gs, ys, ...own));
    if (!Array.isArray(parts) || parts.length !== args.length)
      throw new GraphError(
        `customVjp: the rule must give a list of ${args.length} cotangents, got ${Array.isArray(parts) ? parts.length : kindOf(parts)}\n  give one for each argument, undefined for none`,
      );
    const whole = args.map((x, i) => {
      const part: unknown = parts[i];
      return part instanceof Tensor ? part : standInZero(x);
    });
    checkTypes("customVjp", "argument", args, "the rule gives", whole);
    return whole;
  });
}

function finallyDo<T>(end: () => void, run: () => T): T {
  try {
    return run();
  } finally {
    end();
  }
}

const standInZero = (x: Tensor): Tensor => x.zerosLike();

/**
 * A call of a function whose gradient has a formula; unlike the rule of `customVjp` it is asked for
 * only where gradients are taken.
 */
export function inClosedForm(form: ClosedForm, xs: readonly Tensor[]): Tensor[] {
  closedForms.set(form.name, form);
  const args = argumentsOf(form.name, xs);
  const traced = traceFunction(form.name, (...own) => form.body(...own), args);
  const { regions, captures } = closeOver([traced], false);
  const attrs = { gradient: "closed", name: form.name };
  return resultsOf(
    { op: "call", operands: [...args, ...captures], attrs, regions },
    traced.results,
  );
}
