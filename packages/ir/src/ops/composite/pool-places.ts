/**
 * Max pooling that also tells where each maximum stood, and the way back: values put where they
 * came from.
 */
import { addDim, type Dim, isStatic, mulDim, subDim } from "../../dim.ts";
import { isFloat, minOf } from "../../dtype.ts";
import { checkOptions, DtypeError, type OptionNames, ShapeError } from "../../errors.ts";
import type { Tensor } from "../../node.ts";
import { printShape, sameShape, sizeOf } from "../../shape.ts";
import { checkTensor, perAxis, range } from "../apply.ts";
import { dimValue, zeros } from "../create.ts";
import { convert } from "../elementwise/convert.ts";
import { scatter } from "../gather.ts";
import { reshape } from "../movement.ts";
import {
  type Frame,
  frameOf,
  maxPool,
  type PoolOptions,
  placed,
  poolOptions,
  surround,
  windowAxes,
} from "../pool.ts";
import { argMax } from "../reduce.ts";
import { iota } from "../source.ts";

const value = (d: Dim) => (isStatic(d) ? d : dimValue(d));

/**
 * The place of each maximum in its window, row-major. Around the image stands less than anything in
 * it.
 */
function placesInWindows(x: Tensor, f: Frame): Tensor {
  const high = f.high.map((d, i) => addDim(d, f.extra[i]!));
  const narrow = !isFloat(x.dtype) && x.dtype !== "i32" && x.dtype !== "u32";
  const [from, lowest] = narrow
    ? [convert(x, "i32"), minOf(x.dtype) - 1]
    : [x, isFloat(x.dtype) ? Number.NEGATIVE_INFINITY : minOf(x.dtype)];
  return argMax(placed(surround(from, lowest, f.low, high), f), windowAxes(f), {
    empty: "identity",
  });
}

function placesInPlane(x: Tensor, f: Frame): Tensor {
  const within = placesInWindows(x, f);
  let place: Tensor | undefined;
  for (const [i, extent] of x.shape.slice(2).entries()) {
    const inner = f.size.slice(i + 1).reduce((a, b) => a * b, 1);
    const offset = within.div(inner).rem(f.size[i]!).mul(f.dilation[i]!);
    const start = iota(within.shape, i + 2).mul(f.stride[i]!);
    // A window of nothing but −∞ points to what is around the image.
    const at = start
      .add(offset)
      .sub(value(f.low[i]!))
      .maximum(0)
      .minimum(value(subDim(extent, 1)));
    place = place ? place.mul(value(extent)).add(at) : at;
  }
  return place!;
}

/**
 * The largest element of each window, and where it stands: i32 places in the plane of its channel,
 * row-major, the first of equals.
 *
 * x[N, C, D…] → values and indices [N, C, D′…]. The options and errors are those of `maxPool`, and
 * so is the gradient of the values. `F.max_pool2d(…, return_indices=True)`.
 *
 * @param x [N, C, D…].
 * @example
 *   const { values, indices } = maxPoolWithIndices(tensor([[[1, 3, 7, 5]]]), { size: 2 });
 *   values // [[[3, 7]]]
 *   indices // [[[1, 2]]]
 */
export function maxPoolWithIndices(
  x: Tensor,
  options: PoolOptions,
): { readonly values: Tensor; readonly indices: Tensor } {
  checkTensor("maxPoolWithIndices", x);
  checkOptions("maxPoolWithIndices", options, poolOptions);
  const frame = frameOf("maxPoolWithIndices", x, options);
  return { values: maxPool(x, options), indices: placesInPlane(x, frame) };
}

export interface MaxUnpoolOptions {
  /** The window that was pooled by. */
  readonly size: number | readonly number[];
  /** Defaults to `size`. */
  readonly stride?: number | readonly number[];
  /** As of the pool, default 0. */
  readonly padding?: number | readonly number[];
  /** The extents D of the result; by default (D′ − 1)·stride − 2·padding + size. */
  readonly outputSize?: readonly Dim[];
}

const maxUnpoolOptions: OptionNames<MaxUnpoolOptions> = {
  size: 1,
  stride: 1,
  padding: 1,
  outputSize: 1,
};

/**
 * Values put where `maxPoolWithIndices` found them, 0 elsewhere; of several for one place the last
 * counts.
 *
 * x[N, C, D′…], indices i32 of the same shape → [N, C, D…]. Throws ShapeError where shapes differ,
 * DtypeError unless the indices are integers. `F.max_unpool2d`.
 *
 * @param x Values, [N, C, D′…].
 * @param indices i32 of the same shape.
 * @example
 *   const indices = tensor([[[1, 2]]], { dtype: "i32" });
 *   maxUnpool(tensor([[[3, 7]]]), indices, { size: 2 }) // [[[0, 3, 7, 0]]]
 */
export function maxUnpool(x: Tensor, indices: Tensor, options: MaxUnpoolOptions): Tensor {
  for (const t of [x, indices]) checkTensor("maxUnpool", t);
  const given = checkOptions("maxUnpool", options, maxUnpoolOptions);
  if (!sameShape(x.shape, indices.shape) || x.rank < 3)
    throw new ShapeError(
      `maxUnpool: x is ${printShape(x.shape)}, indices are ${printShape(indices.shape)}\n  both are [N,C,...] of one shape`,
    );
  if (indices.dtype === "bool" || isFloat(indices.dtype))
    throw new DtypeError(`maxUnpool: indices are ${indices.dtype}, not an integer`);
  const n = x.rank - 2;
  const size = perAxis("maxUnpool", "size", given.size, n, 1);
  const stride = perAxis("maxUnpool", "stride", given.stride ?? size, n, 1);
  const padding = perAxis("maxUnpool", "padding", given.padding, n, 0);
  const implied = range(n).map((i) =>
    addDim(mulDim(subDim(x.shape[i + 2]!, 1), stride[i]!), size[i]! - 2 * padding[i]!),
  );
  const extents = given.outputSize ?? implied;
  const [batch, channels] = x.shape as [Dim, Dim];
  const [planes, from, to] = [mulDim(batch, channels), sizeOf(x.shape.slice(2)), sizeOf(extents)];
  const flat = (t: Tensor) => reshape(t, [planes, from]);
  const own = iota([planes, from], 0);
  const image = zeros([planes, to], x.dtype);
  const filled = scatter(image, flat(x), [own, flat(convert(indices, "i32"))], [0, 1], "set");
  return reshape(filled, [batch, channels, ...extents]);
}
