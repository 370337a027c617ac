/**
 * Losses of certain tasks: few positives among many (focal), overlap of regions (dice), pairs among
 * others (InfoNCE), style (Gram matrices).
 */
import {
  checkOptions,
  checkTensor,
  dimValue,
  inFloat32,
  iota,
  mulDim,
  type OptionNames,
  printShape,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { crossEntropy } from "./cross-entropy.ts";
import { type LossOptions, lossOf, lossOptions, mse } from "./losses.ts";
import { checkShapes } from "./margin-losses.ts";
import { checkWithin } from "./parameter.ts";
import { type Reduction, reduce } from "./reduction.ts";

export interface FocalOptions extends LossOptions {
  /** Weight of positives, 1 − alpha that of negatives; default 0.25, none if negative. */
  readonly alpha?: number;
  /** How much less easy examples count, default 2. */
  readonly gamma?: number;
}

const focalOptions: OptionNames<FocalOptions> = { ...lossOptions, alpha: 1, gamma: 1 };

/**
 * −α_t·(1 − p_t)^γ·ln p_t, p_t = t·σ(x) + (1 − t)·(1 − σ(x)), α_t likewise of `alpha`.
 *
 * x, t: float[S], t from 0 to 1 → float[], or float[S] without reduction. Lin et al. 2017, eq. 5;
 * torchvision's sigmoid_focal_loss, whose default is no reduction.
 * `torchvision.ops.sigmoid_focal_loss`.
 *
 * @param target 0 or 1.
 * @example
 *   const options = { gamma: 2, alpha: 0.25 };
 *   nn.focal(tensor([0]), tensor([1]), options) // 0.04332; ¼·(1 − ½)²·ln 2
 */
export function focal(x: Tensor, target: Tensor, options: FocalOptions = {}): Tensor {
  const { alpha = 0.25, gamma = 2, reduction } = checkOptions("focal", options, focalOptions);
  checkWithin("focal", "alpha", alpha, -Number.MAX_VALUE, 1);
  checkWithin("focal", "gamma", gamma, 0, Number.MAX_VALUE);
  return lossOf("focal", [x, target], reduction, (a, t) => {
    const not = t.neg().add(1);
    const ce = not.mul(a).add(a.neg().softplus());
    const missing = a.sigmoid().mul(not).add(a.neg().sigmoid().mul(t));
    const hard = gamma === 0 ? ce : ce.mul(gamma === 2 ? missing.square() : missing.pow(gamma));
    return alpha < 0 ? hard : hard.mul(t.mul(2 * alpha - 1).add(1 - alpha));
  });
}

export interface DiceOptions extends LossOptions {
  /** Added above and below, default 1: an empty region met by an empty one has loss 0. */
  readonly smooth?: number;
}

const diceOptions: OptionNames<DiceOptions> = { ...lossOptions, smooth: 1 };

/**
 * 1 − (2·Σ p·t + smooth)/(Σ p + Σ t + smooth), the sums over all axes but the first.
 *
 * p, t: float[N, ...], from 0 to 1 → float[], or float[N] without reduction. Throws ShapeError for
 * rank 0. Milletari et al. 2016, with plain sums in the divisor. `keras.losses.Dice`.
 *
 * @param target From 0 to 1.
 * @example
 *   nn.dice(tensor([[1, 1, 0, 0]]), tensor([[1, 0, 0, 0]]), { smooth: 0 }) // ⅓; 1 − 2·1/(2 + 1)
 */
export function dice(p: Tensor, target: Tensor, options: DiceOptions = {}): Tensor {
  const { smooth = 1, reduction } = checkOptions("dice", options, diceOptions);
  checkWithin("dice", "smooth", smooth, 0, Number.MAX_VALUE);
  checkShapes("dice", { input: p, target });
  if (p.rank === 0) throw new ShapeError("dice: needs a batch axis, got []");
  const axes = p.shape.map((_, i) => i).slice(1);
  return inFloat32([p, target], (q, t) => {
    const sum = (x: Tensor): Tensor => (axes.length ? x.sum(axes) : x);
    const both = sum(q.mul(t)).mul(2).add(smooth);
    return reduce(
      both
        .div(sum(q.add(t)).add(smooth))
        .neg()
        .add(1),
      reduction,
    );
  });
}

export interface InfoNceOptions {
  /** "mean" by default; "sum" or "none". */
  readonly reduction?: Reduction;
  /** Divides similarities, default 0.1. */
  readonly temperature?: number;
  /** Brings vectors to length 1 first, so that similarities are cosines; default true. */
  readonly normalize?: boolean;
  /**
   * The mean of both ways, rows among columns and columns among rows, as in CLIP; default false.
   */
  readonly symmetric?: boolean;
}

const infoNceOptions: OptionNames<InfoNceOptions> = {
  reduction: 1,
  temperature: 1,
  normalize: 1,
  symmetric: 1,
};

/**
 * −ln(e^(qᵢ·kᵢ/τ) / Σⱼ e^(qᵢ·kⱼ/τ)): the ith key is right for the ith query, the other keys of the
 * batch are wrong.
 *
 * q, k: float[N, D] → float[], or float[N] without reduction. Throws ShapeError for other ranks or
 * different shapes. van den Oord et al. 2018, eq. 4. No counterpart in PyTorch.
 *
 * @example
 *   const pairs = tensor([[1, 0], [0, 1]]); // each query is its own key
 *   nn.infoNce(pairs, pairs, { temperature: 1 }) // 0.31326; ln(1 + e⁻¹)
 */
export function infoNce(q: Tensor, k: Tensor, options: InfoNceOptions = {}): Tensor {
  const op = "infoNce";
  const o = checkOptions(op, options, infoNceOptions);
  const { temperature = 0.1, normalize = true, symmetric = false, reduction = "mean" } = o;
  checkWithin(op, "temperature", temperature, Number.MIN_VALUE, Number.MAX_VALUE);
  checkShapes(op, { queries: q, keys: k });
  if (q.rank !== 2)
    throw new ShapeError(`${op}: needs queries and keys [N,D], got ${printShape(q.shape)}`);
  return inFloat32([q, k], (a, b) => {
    const [x, y] = normalize ? [a.normalize(), b.normalize()] : [a, b];
    const scores = x.matmul(y.transpose()).mul(1 / temperature);
    const own = iota([q.shape[0]!], 0, "i32");
    const rows = crossEntropy(scores, own, { reduction });
    return symmetric
      ? rows.add(crossEntropy(scores.transpose(), own, { reduction })).mul(0.5)
      : rows;
  });
}

/**
 * F·Fᵀ/(C·H·W) with F the channels of an image as rows: how much channels go together, wherever
 * they do.
 *
 * x: float[N, C, ...] → float[N, C, C]. Throws ShapeError for a rank below 3. Gatys et al. 2016,
 * eq. 3. No counterpart in PyTorch.
 *
 * @example
 *   nn.gramMatrix(tensor([[[1, 2], [3, 4]]])) // [[[1.25, 2.75], [2.75, 6.25]]]; x·xᵀ/4
 */
export function gramMatrix(x: Tensor): Tensor {
  checkTensor("gramMatrix", x);
  if (x.rank < 3) throw new ShapeError(`gramMatrix: needs [N,C,...], got ${printShape(x.shape)}`);
  const [n, c, ...rest] = x.shape;
  const size = rest.reduce(mulDim, 1);
  return inFloat32([x], (wide) => {
    const rows = wide.reshape([n!, c!, size]);
    return rows.matmul(rows.transpose([0, 2, 1])).div(dimValue(mulDim(c!, size), wide.dtype));
  });
}

/**
 * Mean squared difference of the Gram matrices of two feature maps: the style of one layer. Sum it
 * over layers.
 *
 * x, target: float[N, C, ...] → float[], or float[N, C, C] without reduction. Sizes past C may
 * differ. Gatys et al. 2016, eq. 4. No counterpart in PyTorch.
 *
 * @example
 *   const features = tensor([[[1, 2], [3, 4]]]);
 *   nn.gramMatrixLoss(features, features) // 0
 */
export function gramMatrixLoss(x: Tensor, target: Tensor, options: LossOptions = {}): Tensor {
  checkOptions("gramMatrixLoss", options, lossOptions);
  return mse(gramMatrix(x), gramMatrix(target), options);
}
