/**
 * Bounds on gradients before an optimizer uses them.
 */
import { checkList, checkTensor, GraphError, promote, type Tensor } from "@kiln-ml/ir";
import { checkPositive } from "./check.ts";

function checkGradients(op: string, grads: unknown): void {
  checkList(op, "gradients", grads);
  for (const g of grads as readonly unknown[]) checkTensor(op, g);
}

/**
 * √Σ g² over all elements of all gradients, f32[] (f64[] for f64). Throws GraphError for an empty
 * list. `torch.nn.utils.get_total_norm`.
 *
 * @param grads Gradients, as `grad` gives them.
 * @example
 *   optim.globalNorm([tensor([3]), tensor([4])]) // 5
 */
export function globalNorm(grads: readonly Tensor[]): Tensor {
  checkGradients("globalNorm", grads);
  const squares = grads.map((g) => {
    const wide = g.convert(promote(g.dtype, "f32"));
    return wide.mul(wide).sum();
  });
  const [first, ...rest] = squares;
  if (!first)
    throw new GraphError("globalNorm: no gradients, needs one or more\n  pass what grad returned");
  return rest.reduce((a, b) => a.add(b), first).sqrt();
}

/**
 * All gradients times min(1, limit / (norm + 10⁻⁶)), the norm being `globalNorm`. A norm that is
 * not finite makes them NaN or 0 rather than hiding it. Pascanu et al. 2013; the 10⁻⁶ is that of
 * `torch.nn.utils.clip_grad_norm_`.
 *
 * @param grads Gradients, as `grad` gives them.
 * @param limit The bound, positive.
 * @example
 *   const { grads, norm } = optim.clipByGlobalNorm([tensor([3]), tensor([4])], 1);
 *   norm // 5
 *   grads // [[0.6], [0.8]]
 */
export function clipByGlobalNorm(
  grads: readonly Tensor[],
  limit: number,
): { readonly grads: Tensor[]; readonly norm: Tensor } {
  checkPositive("clipByGlobalNorm", "limit", limit);
  const norm = globalNorm(grads);
  const scale = norm.add(1e-6).reciprocal().mul(limit).minimum(1);
  return {
    grads: grads.map((g) => g.mul(scale.convert(promote(g.dtype, "f32"))).convert(g.dtype)),
    norm,
  };
}

/**
 * Each gradient times min(1, limit / (‖g‖₂ + 10⁻⁶)), by its own norm: one parameter cannot shrink
 * the others' steps. In f32 at least. Costs a sum a gradient. Throws GraphError unless the limit is
 * positive. `keras.optimizers.Optimizer(clipnorm)`.
 *
 * @param grads Gradients, as `grad` gives them.
 * @param limit The bound, positive.
 * @example
 *   optim.clipByNorm([tensor([3, 4]), tensor([0.5])], 1) // [[0.6, 0.8], [0.5]]; each by itself
 */
export function clipByNorm(grads: readonly Tensor[], limit: number): Tensor[] {
  checkGradients("clipByNorm", grads);
  checkPositive("clipByNorm", "limit", limit);
  return grads.map((g) => clipByGlobalNorm([g], limit).grads[0]!);
}

/**
 * Every element bounded to [−limit, limit]; NaN stays NaN. `torch.nn.utils.clip_grad_value_`.
 *
 * @param grads Gradients, as `grad` gives them.
 * @param limit The bound, positive.
 * @example
 *   optim.clipByValue([tensor([-3, 0.5])], 1) // [[−1, 0.5]]
 */
export function clipByValue(grads: readonly Tensor[], limit: number): Tensor[] {
  checkGradients("clipByValue", grads);
  checkPositive("clipByValue", "limit", limit);
  return grads.map((g) => g.maximum(-limit).minimum(limit));
}
