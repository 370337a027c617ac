/**
 * L-BFGS: steps along an estimate of the inverse Hessian, from the last differences of all
 * parameters and gradients together.
 */
import {
  assign,
  checkOptions,
  checkRecord,
  concat,
  currentValue,
  GraphError,
  kindOf,
  type OptionNames,
  select,
  sliceAxis,
  type Tensor,
} from "@kiln-ml/ir";
import { regularised } from "./decay.ts";
import type { ParamGroup } from "./members.ts";
import { Optimizer, type OptimizerOptions, optimizerOptions, type Update } from "./optimizer.ts";

export interface LbfgsOptions extends OptimizerOptions {
  /** Differences that are kept, default 10. */
  readonly historySize?: number;
  /** A step is taken only while an element of the gradient is greater than this, default 1e-7. */
  readonly toleranceGrad?: number;
  /** And while the slope along the direction is below minus this, default 1e-9. */
  readonly toleranceChange?: number;
}

const lbfgsOptions: OptionNames<LbfgsOptions> = {
  ...optimizerOptions,
  historySize: 1,
  toleranceGrad: 1,
  toleranceChange: 1,
};

/**
 * d = −H·g, H from the last `historySize` pairs s = Δw, y = Δg by the two-loop recursion, begun
 * from (s·y)/(y·y); w ← w + t·d with t = lr, at the first step lr·min(1, 1/Σ|g|). Pairs with s·y ≤
 * 1e-10 are left out. A step is one gradient: there is no line search, so take an lr of 1 or less,
 * and a loss of the whole data.
 *
 * `weightDecay` is a part of the gradient. All parameters are one vector, with the rate of the
 * first group; state is 2·historySize + 2 of their size. Throws GraphError where one of them does
 * not reach the loss, or for a size that is no whole number. Liu & Nocedal 1989; Nocedal & Wright,
 * alg. 7.4; torch.optim.LBFGS with max_iter = 1 and no line search.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.LBFGS([w], { lr: 0.5 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w.abs().less(1).all() // true
 */
export class LBFGS extends Optimizer {
  readonly historySize: number;
  readonly toleranceGrad: number;
  readonly toleranceChange: number;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: LbfgsOptions) {
    checkRecord("lbfgs", options);
    checkOptions("lbfgs", options, lbfgsOptions);
    super("lbfgs", params, options);
    this.historySize = options.historySize ?? 10;
    this.toleranceGrad = options.toleranceGrad ?? 1e-7;
    this.toleranceChange = options.toleranceChange ?? 1e-9;
    if (!(Number.isInteger(this.historySize) && this.historySize >= 1 && this.historySize <= 100))
      throw new GraphError(
        `lbfgs: historySize must be a whole number from 1 to 100, got ${kindOf(options.historySize)}\n  leave it out for 10`,
      );
  }

  protected override get counts(): boolean {
    return true;
  }

  protected override update(): Tensor {
    throw new GraphError("lbfgs: parameters are not updated one by one");
  }

  protected override updateTogether(updates: readonly Update[]): Tensor[] {
    const missing = this.params.filter((p) => !updates.some((u) => u.param === p));
    if (missing.length)
      throw new GraphError(
        `lbfgs: ${missing.map((p) => String(p.attrs.name)).join(", ")} has no gradient, and the step is one of all parameters\n  give the optimizer those that are trained`,
      );
    const { lr, count } = updates[0]!;
    const flat = (parts: readonly Tensor[]): Tensor =>
      concat(
        parts.map((t) => t.reshape([sizeOf(t)]).convert(lr.dtype)),
        0,
      );
    const g = flat(updates.map(regularised));
    const first = count.equal(1);
    const d = this.#direction(g, first);
    const t = select(first, lr.mul(g.abs().sum().reciprocal().minimum(1)), lr);
    const downhill = g.mul(d).sum().lessEqual(-this.toleranceChange);
    const steep = g.abs().max().greater(this.toleranceGrad);
    const step = select(downhill.and(steep), d.mul(t), 0);
    this.#set("gradient", g);
    this.#set("moved", step);
    let from = 0;
    return updates.map(({ value }) => {
      const to = from + sizeOf(value);
      const part = sliceAxis(step, 0, from, to).reshape(value.shape);
      from = to;
      return value.add(part);
    });
  }

  #direction(g: Tensor, first: Tensor): Tensor {
    const { historySize: m } = this;
    const n = sizeOf(g);
    const s = currentValue(this.shared("moved", g, [n]));
    const y = g.sub(currentValue(this.shared("gradient", g, [n])));
    const ys = s.mul(y).sum();
    const holds = ys.greater(1e-10).and(first.not());
    const [steps, slopes] = ["steps", "slopes"].map((what, i) => {
      const old = currentValue(this.shared(what, g, [m, n]));
      const next = [...(m > 1 ? [sliceAxis(old, 0, 1, m)] : []), (i ? y : s).expandDims(0)];
      return this.#set(what, select(holds, concat(next, 0), old), [m, n]);
    }) as [Tensor, Tensor];
    const scale = this.shared("scale", g);
    const safe = (x: Tensor): Tensor => select(x.greater(0), x, 1);
    const before = select(first, 1, currentValue(scale));
    const h = this.#set("scale", select(holds, ys.div(safe(y.mul(y).sum())), before), []);
    const row = (t: Tensor, i: number): Tensor => sliceAxis(t, 0, i, i + 1).reshape([n]);
    const pairs = Array.from({ length: m }, (_, i) => [row(steps, i), row(slopes, i)] as const);
    // Rows that hold no pair yet are 0, and change nothing.
    const rhos = pairs.map(([p, q]) => {
      const dot = p.mul(q).sum();
      return select(dot.greater(0), safe(dot).reciprocal(), 0);
    });
    let d = g.neg();
    const alphas: Tensor[] = [];
    for (let i = m - 1; i >= 0; i--) {
      const [p, q] = pairs[i]!;
      alphas[i] = p.mul(d).sum().mul(rhos[i]!);
      d = d.sub(q.mul(alphas[i]!));
    }
    d = d.mul(h);
    for (const [i, [p, q]] of pairs.entries()) {
      const beta = q.mul(d).sum().mul(rhos[i]!);
      d = d.add(p.mul(alphas[i]!.sub(beta)));
    }
    return d;
  }

  /** Assigns shared state, and gives what it holds then. */
  #set(what: string, value: Tensor, shape: readonly number[] = [sizeOf(value)]): Tensor {
    const state = this.shared(what, value, shape);
    const kept = this.kept(value, currentValue(state));
    assign(state, kept);
    return kept;
  }
}

const sizeOf = (t: Tensor): number => (t.shape as number[]).reduce((a, b) => a * b, 1);
