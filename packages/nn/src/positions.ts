/**
 * Where tokens stand: sinusoids added, rotations of queries and keys, biases of scores; and masks
 * of what may be seen.
 */
import {
  checkOptions,
  checkTensor,
  concat,
  type Dim,
  dimValue,
  inFloat32,
  iota,
  type OptionNames,
  printShape,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { Module } from "./module.ts";
import { checkCount, checkExtent, checkRank } from "./parameter.ts";

export interface PositionOptions {
  /** The longest wavelength over 2π, default 10000. */
  readonly timescale?: number;
}

const positionOptions: OptionNames<PositionOptions> = { timescale: 1 };

function even(op: string, width: number): void {
  checkCount(op, "width", width);
  if (width % 2)
    throw new ShapeError(
      `${op}: width ${width} is odd\n  sines and cosines take turns: give an even width`,
    );
}

/** position·timescale^(−2i/width): f32[T, width / 2], from position `offset`. */
function angles(length: Dim, width: number, timescale: number, offset: Dim | Tensor): Tensor {
  const first = typeof offset === "number" || !("op" in offset) ? dimValue(offset as Dim) : offset;
  const position = iota([length, 1])
    .add(first as Tensor)
    .convert("f32");
  const rate = iota([width / 2])
    .convert("f32")
    .mul((-2 / width) * Math.log(timescale))
    .exp();
  return position.mul(rate);
}

/**
 * x + p with p[t, 2i] = sin(t·timescale^(−2i/width)), p[t, 2i + 1] = cos of the same.
 *
 * x: f32[..., T, width] → the same; T may be a symbol. Throws ShapeError for an odd width. Vaswani
 * et al. 2017, section 3.5. No counterpart in PyTorch.
 *
 * @param width Features of a position.
 * @example
 *   const y = new nn.PositionalEncoding(4).forward(zeros([1, 2, 4]));
 *   y.get(0, 0) // [0, 1, 0, 1]; sin 0, cos 0, …
 */
export class PositionalEncoding extends Module {
  readonly width: number;
  readonly timescale: number;

  constructor(width: number, options: PositionOptions = {}) {
    super([width, options]);
    const { timescale = 10000 } = checkOptions("positionalEncoding", options, positionOptions);
    even("positionalEncoding", width);
    this.width = width;
    this.timescale = timescale;
  }

  /** Tokens stand at `offset` and after. */
  override forward(x: Tensor, offset: Dim | Tensor = 0): Tensor {
    checkExtent("positionalEncoding", x, -1, this.width, "widths");
    checkSequence("positionalEncoding", x);
    const length = x.shape.at(-2)!;
    const angle = angles(length, this.width, this.timescale, offset).expandDims(-1);
    const both = concat([angle.sin(), angle.cos()], -1).reshape([length, this.width]);
    return inFloat32([x], (v) => v.add(both)).convert(x.dtype);
  }
}

export interface RotaryOptions {
  /** Base of the wavelengths, default 10000. */
  readonly theta?: number;
}

const rotaryOptions: OptionNames<RotaryOptions> = { theta: 1 };

/**
 * Each pair (x[2i], x[2i + 1]) turned by the angle t·theta^(−2i/width).
 *
 * x: f32[..., T, width], queries or keys of one head → the same; T may be a symbol. Throws
 * ShapeError for an odd width. Su et al. 2021. No counterpart in PyTorch.
 *
 * @param width Features of a position.
 * @example
 *   const q = ones([1, 2, 4, 16]); // of batch, heads, places and width
 *   const y = new nn.RotaryEncoding(16).forward(q);
 *   allClose(y.norm(-1), q.norm(-1)) // true; pairs are turned, lengths stay
 */
export class RotaryEncoding extends Module {
  readonly width: number;
  readonly theta: number;

  constructor(width: number, options: RotaryOptions = {}) {
    super([width, options]);
    const { theta = 10000 } = checkOptions("rotaryEncoding", options, rotaryOptions);
    even("rotaryEncoding", width);
    this.width = width;
    this.theta = theta;
  }

  /** Tokens stand at `offset` and after. */
  override forward(x: Tensor, offset: Dim | Tensor = 0): Tensor {
    checkExtent("rotaryEncoding", x, -1, this.width, "widths");
    checkSequence("rotaryEncoding", x);
    const angle = angles(x.shape.at(-2)!, this.width, this.theta, offset).expandDims(-1);
    const [sin, cos] = [angle.sin(), angle.cos()];
    return inFloat32([x], (v) => {
      const [a, b] = v.reshape([...x.shape.slice(0, -1), this.width / 2, 2]).split(2, -1) as [
        Tensor,
        Tensor,
      ];
      return concat([a.mul(cos).sub(b.mul(sin)), a.mul(sin).add(b.mul(cos))], -1).reshape(x.shape);
    }).convert(x.dtype);
  }
}

function checkSequence(op: string, x: Tensor): void {
  if (x.rank < 2)
    throw new ShapeError(
      `${op}: input needs rank 2 or more, got ${printShape(x.shape)}\n  give sequences: [...,T,width]`,
    );
}

/**
 * −2^(−8(h + 1)/heads)·(t + S − T − s): a bias for the scores of `heads` heads, f32[heads, T, S],
 * as `mask` of attention beside `causal`. Heads are meant to be a power of two. Press, Smith &
 * Lewis 2022. No counterpart in PyTorch.
 *
 * @param queries T.
 * @param keys S; as many as queries by default.
 * @example
 *   nn.alibi(1, 3) // [[[0, 1/256, 1/128], [−1/256, 0, 1/256], [−1/128, −1/256, 0]]]
 */
export function alibi(heads: number, queries: Dim, keys: Dim = queries): Tensor {
  checkCount("alibi", "heads", heads);
  const slope = iota([heads, 1, 1])
    .add(1)
    .convert("f32")
    .mul((-8 / heads) * Math.LN2)
    .exp();
  const [q, k] = [iota([queries, keys], 0), iota([queries, keys], 1)];
  const gap = k.add(dimValue(queries)).sub(q.add(dimValue(keys)));
  return slope.mul(gap.convert("f32"));
}

/**
 * True where query t may see key s, s ≤ t + S − T: bool[T, S].
 * `torch.nn.Transformer.generate_square_subsequent_mask`, where true is what may be seen.
 *
 * @param queries T.
 * @param keys S; as many as queries by default.
 * @example
 *   nn.causalMask(3) // [[true, false, false], [true, true, false], [true, true, true]]
 */
export function causalMask(queries: Dim, keys: Dim = queries): Tensor {
  const shape = [queries, keys];
  return iota(shape, 1)
    .add(dimValue(queries))
    .lessEqual(iota(shape, 0).add(dimValue(keys)));
}

/**
 * True at places before the length of each sequence: lengths i32[B] → bool[B, 1, 1, S], as `mask`
 * of attention. `key_padding_mask` of `torch.nn.MultiheadAttention`, where true is what may be
 * seen.
 *
 * @param lengths i32[B].
 * @param keys S.
 * @example
 *   const mask = nn.paddingMask(tensor([1, 3], { dtype: "i32" }), 3);
 *   mask.shape // [2, 1, 1, 3]
 *   mask.reshape([2, 3]) // [[true, false, false], [true, true, true]]
 */
export function paddingMask(lengths: Tensor, keys: Dim): Tensor {
  checkTensor("paddingMask", lengths);
  checkRank("paddingMask", lengths, 1);
  return iota([1, 1, 1, keys], 3).less(lengths.reshape([lengths.shape[0]!, 1, 1, 1]));
}
