/**
 * Reverse-mode differentiation, graph to graph: walks from the result back to the operands with the
 * `vjp` of each record and sums what arrives at a node. The result is graph again, so it can be
 * differentiated again. Runs no numbers and simplifies nothing.
 */
import { isOp } from "./attributes.ts";
import { isFloat } from "./dtype.ts";
import {
  bug,
  checkOptions,
  DtypeError,
  GraphError,
  type OptionNames,
  ShapeError,
} from "./errors.ts";
import { checkList, checkRecord } from "./kind.ts";
import { type Tensor, topologicalOrder } from "./node.ts";
import { opRecord, type Pullback } from "./op.ts";
import { apply, checkTensor, filled } from "./ops/apply.ts";
import { callVjp } from "./ops/call-gradient.ts";
import { hasOwnGradient, inlineCalls } from "./ops/control.ts";
import { autocast } from "./precision.ts";
import { inScope } from "./scope.ts";
import { printShape, sameShape } from "./shape.ts";
import { currentValue, ignoringAssignments } from "./trace.ts";

export interface GradOptions {
  /** What multiplies the derivative of each element of y; 1 for a scalar y. */
  readonly cotangent?: Tensor;
  /**
   * What to do with an x that y does not depend on: "error" (the default), "zeros", or "skip":
   * zeros, and its name is told once on the console.
   */
  readonly unused?: "zeros" | "skip" | "error";
}

const typeOf = (t: Tensor): string => `${t.dtype}${printShape(t.shape)}`;

/** `w (param f32[3])`, or the op where there is no name. */
function describe(t: Tensor): string {
  const { name } = t.attrs;
  return typeof name === "string" ? `${name} (${t.op} ${typeOf(t)})` : `${t.op} ${typeOf(t)}`;
}

const gradOptions: OptionNames<GradOptions> = { cotangent: 1, unused: 1 };

/**
 * Σ over y of cotangent · ∂y/∂x, for each x.
 *
 * y: a float scalar, or any float with a cotangent of its shape and dtype → one tensor like each x.
 * An x that is a parameter stands for its value at this point of the program, as far as y was
 * computed from it. Throws ShapeError if y is not a scalar, DtypeError if y or an x is not a float,
 * GraphError if an x does not reach y or an op on the way has no gradient. `torch.autograd.grad`.
 *
 * @param xs Floats that y is computed from.
 * @example
 *   const x = param([1, 2]);
 *   const [dx] = grad(x.square().sum(), [x]);
 *   dx // [2, 4]; 2·x
 */
export function grad(y: Tensor, xs: readonly Tensor[], options: GradOptions = {}): Tensor[] {
  const { unused = "error", cotangent } = checkOptions("grad", options, gradOptions);
  if (unused !== "error" && unused !== "zeros" && unused !== "skip")
    throw new GraphError(`grad: unused must be "error", "zeros" or "skip", got ${String(unused)}`);
  const found = gradWhereReached(y, xs, cotangent === undefined ? {} : { cotangent });
  const missed = xs.filter((_, i) => !found[i]);
  if (missed.length && unused === "error")
    throw new GraphError(
      `grad: ${missed.map(describe).join(", ")} ${missed.length > 1 ? "do" : "does"} not reach y\n  leave it out, or pass { unused: "zeros" } for a gradient of zeros`,
    );
  if (unused === "skip") tellOnce(missed);
  return xs.map((x, i) => found[i] ?? filled(0, x.dtype, x.shape));
}

const told = new WeakSet<Tensor>();

function tellOnce(missed: readonly Tensor[]): void {
  const now = missed.filter((x) => !told.has(x));
  for (const x of now) told.add(x);
  if (now.length)
    console.warn(`grad: ${now.map(describe).join(", ")}: not reached by y, the gradient is 0`);
}

/** As `grad`, but nothing for an x that y does not depend on. */
export function gradWhereReached(
  y: Tensor,
  xs: readonly Tensor[],
  options: Pick<GradOptions, "cotangent"> = {},
): (Tensor | undefined)[] {
  checkRecord("grad", options);
  checkTypes(y, xs, options.cotangent);
  const sources = sourcesOf(y, xs);
  const [root, ...leaves] = inlineCalls([y, ...sources], undefined, hasOwnGradient) as [
    Tensor,
    ...Tensor[],
  ];
  return asBuilt(() => {
    const order = topologicalOrder([root]);
    const active = dependents(order, leaves);
    const seed = options.cotangent ?? filled(1, y.dtype, y.shape);
    const cotangents = backward(order, active, new Map([[root, seed]]));
    const ofNone = (t: Tensor) => (active.has(t) ? filled(0, t.dtype, t.shape) : undefined);
    return leaves.map((leaf) => cotangents.get(leaf) ?? ofNone(leaf));
  });
}

/** Neither assignments nor mixed precision of the scope change what exists already. */
const asBuilt = <T>(define: () => T): T => ignoringAssignments(() => autocast("f32", define));

const pullback: Pullback = (results, cotangents, xs) => {
  const order = topologicalOrder(results);
  const seeds = new Map<Tensor, Tensor>();
  for (const [i, t] of results.entries()) if (cotangents[i]) add(seeds, t, cotangents[i]);
  const sums = backward(order, dependents(order, xs), seeds);
  return xs.map((x) => sums.get(x));
};

function add(sums: Map<Tensor, Tensor>, t: Tensor, part: Tensor): void {
  const before = sums.get(t);
  sums.set(t, before ? apply("add", [before, part]) : part);
}

function checkTypes(y: Tensor, xs: readonly Tensor[], cotangent: Tensor | undefined): void {
  checkTensor("grad", y);
  checkList("grad", "xs", xs);
  for (const x of xs) checkTensor("grad", x);
  if (cotangent !== undefined) checkTensor("grad", cotangent);
  if (!isFloat(y.dtype))
    throw new DtypeError(
      `grad: y is ${describe(y)}, not a float\n  convert y to f32 before what is differentiated`,
    );
  for (const x of xs)
    if (!isFloat(x.dtype))
      throw new DtypeError(
        `grad: x is ${describe(x)}, not a float\n  only floats have gradients: leave it out, or make it f32`,
      );
  if (!cotangent && y.rank !== 0)
    throw new ShapeError(
      `grad: y is ${printShape(y.shape)}, not a scalar\n  pass a cotangent of shape ${printShape(y.shape)}, or reduce y to one number`,
    );
  if (cotangent && !sameShape(cotangent.shape, y.shape))
    throw new ShapeError(
      `grad: cotangent is ${printShape(cotangent.shape)}, y is ${printShape(y.shape)}\n  reshape the cotangent to that of y`,
    );
  if (cotangent && cotangent.dtype !== y.dtype)
    throw new DtypeError(
      `grad: cotangent is ${cotangent.dtype}, y is ${y.dtype}\n  convert the cotangent to the dtype of y`,
    );
}

/**
 * For a parameter that was assigned: the assigned value if y was computed from it, else the
 * parameter.
 */
function sourcesOf(y: Tensor, xs: readonly Tensor[]): Tensor[] {
  if (xs.every((x) => currentValue(x) === x)) return [...xs];
  const reached = new Set(topologicalOrder([y]));
  return xs.map((x) => (reached.has(currentValue(x)) ? currentValue(x) : x));
}

/** The nodes of `order` that are one of `leaves` or depend on one. */
function dependents(order: readonly Tensor[], leaves: readonly Tensor[]): Set<Tensor> {
  const wanted = new Set(leaves);
  const active = new Set<Tensor>();
  for (const node of order)
    if (wanted.has(node) || node.operands.some((t) => active.has(t))) active.add(node);
  return active;
}

/** The summed cotangent of every active node. */
function backward(
  order: readonly Tensor[],
  active: ReadonlySet<Tensor>,
  seeds: ReadonlyMap<Tensor, Tensor>,
): Map<Tensor, Tensor> {
  const sums = new Map(seeds);
  const ofResults = new Map<Tensor, (Tensor | undefined)[]>();
  for (let i = order.length - 1; i >= 0; i--) {
    const node = order[i]!;
    if (!node.operands.some((t) => active.has(t))) continue;
    const g = sums.get(node);
    const several = ofResults.get(node);
    if (isOp(node, "result") && g) {
      const [from, all] = [node.operands[0]!, ofResults.get(node.operands[0]!) ?? []];
      ofResults.set(from, all);
      all[node.attrs.index] = g;
      continue;
    }
    if (!g && !several) continue;
    const parts = inScope(node.scope, () =>
      several ? cotangentsOfAll(node, several, active) : cotangentsOf(node, g!),
    );
    for (const [k, operand] of node.operands.entries()) {
      const part = parts[k];
      if (!part || !active.has(operand)) continue;
      checkPart(node, operand, part);
      add(sums, operand, part);
    }
  }
  return sums;
}

/** One cotangent, or none, for each result of a node with several. */
function cotangentsOfAll(
  node: Tensor,
  cotangents: readonly (Tensor | undefined)[],
  active: ReadonlySet<Tensor>,
): readonly (Tensor | undefined)[] {
  const record = node.op === "call" ? { vjpOfAll: callVjp } : opRecord(node.op);
  if (!record.vjpOfAll) return bug("grad", `${node.op} has several results and no gradient`);
  const asked = node.operands.map((t) => active.has(t));
  const all = (node.results ?? [node]).map((_, i) => cotangents[i]);
  return record.vjpOfAll(all, node, asked, pullback);
}

function cotangentsOf(node: Tensor, g: Tensor): readonly (Tensor | undefined)[] {
  const record = opRecord(node.op);
  if (record.vjp) return record.vjp(g, node, ...node.operands);
  if (record.vjpOfAll)
    return record.vjpOfAll(
      [g],
      node,
      node.operands.map(() => true),
      pullback,
    );
  const nameOf = (t: Tensor) => (t.operands.length ? `%${t.id}` : String(t.attrs.name ?? t.op));
  const operands = node.operands.map(nameOf).join(" ");
  const where = node.site ? ` (${node.site})` : "";
  throw new GraphError(
    `grad: ${node.op} has no gradient: %${node.id}: ${typeOf(node)} = ${node.op} ${operands}${where}\n  put stopGradient around it if it is to count as a constant`,
  );
}

function checkPart(node: Tensor, operand: Tensor, part: Tensor): void {
  if (part.dtype !== operand.dtype || !sameShape(part.shape, operand.shape))
    bug("grad", `${node.op} gives ${typeOf(part)} as the cotangent of ${typeOf(operand)}`);
}

export interface ValueAndGrad {
  readonly value: Tensor;
  readonly grads: Tensor[];
}

/**
 * y beside its gradients; for functions that return both. `jax.value_and_grad`.
 *
 * @param y What is differentiated: a float scalar, or any float with a cotangent.
 * @param xs Floats that y is computed from.
 * @example
 *   const x = param([1, 2]);
 *   const { value, grads } = valueAndGrad(x.square().sum(), [x]);
 *   value // 5
 *   grads // [[2, 4]]
 */
export const valueAndGrad = (
  y: Tensor,
  xs: readonly Tensor[],
  options: GradOptions = {},
): ValueAndGrad => ({ value: y, grads: grad(y, xs, options) });
