/**
 * A table of vectors looked up by index.
 */
import {
  checkOptions,
  checkTensor,
  DtypeError,
  GraphError,
  inFloat32,
  isInteger,
  type OptionNames,
  ShapeError,
  select,
  stopGradient,
  type Tensor,
  take,
} from "@kiln-ml/ir";
import { type Initializer, normal } from "./init.ts";
import { Module } from "./module.ts";
import { checkCount, weight } from "./parameter.ts";

export interface EmbeddingOptions {
  /** Its row is 0 at first and gets no gradient; counts from the end if negative. */
  readonly paddingIdx?: number;
  /** Rows of a larger norm are scaled to it where they are looked up. */
  readonly maxNorm?: number;
  /** Order of that norm, default 2. */
  readonly normType?: number;
  /** What the table is at first; standard normal by default. */
  readonly init?: Initializer;
}

const embeddingOptions: OptionNames<EmbeddingOptions> = {
  paddingIdx: 1,
  maxNorm: 1,
  normType: 1,
  init: 1,
};

/** The options of a table, checked: with `paddingIdx` counted from the front. */
export function tableOf(op: string, count: number, width: number, options: EmbeddingOptions) {
  checkCount(op, "count", count);
  checkCount(op, "width", width);
  const { paddingIdx, maxNorm, normType = 2 } = options;
  const row = paddingIdx !== undefined && paddingIdx < 0 ? count + paddingIdx : paddingIdx;
  if (row !== undefined && !(Number.isInteger(row) && row >= 0 && row < count))
    throw new ShapeError(
      `${op}: paddingIdx ${paddingIdx} is not a row of ${count}\n  give one from 0 to the count less 1, or from the end, -1 the last`,
    );
  for (const [name, value] of Object.entries({ maxNorm, normType }))
    if (value !== undefined && !(value > 0))
      throw new GraphError(`${op}: ${name} must be positive, got ${value}`);
  const init = options.init ?? normal();
  const table = (shape: readonly number[]) => {
    const values = init(shape);
    if (row !== undefined) values.fill(0, row * width, (row + 1) * width);
    return values;
  };
  return { row, maxNorm, normType, weight: weight("weight", [count, width], table) };
}

/** Rows of a table: none of a padding's gradient, none longer than `maxNorm`. */
export function lookUp(
  weight: Tensor,
  x: Tensor,
  { row, maxNorm, normType }: Pick<ReturnType<typeof tableOf>, "row" | "maxNorm" | "normType">,
): Tensor {
  const found = take(weight, x, 0);
  const rows =
    row === undefined ? found : select(x.equal(row).expandDims(-1), stopGradient(found), found);
  if (maxNorm === undefined) return rows;
  return inFloat32([rows], (v) => {
    const length = stopGradient(v).norm([-1], { order: normType, keepDims: true });
    const scale = select(length.greater(maxNorm), length.add(1e-7).reciprocal().mul(maxNorm), 1);
    // The gradient is that of the row as it is given, as if the table held it so.
    return v.add(stopGradient(v.mul(scale.sub(1))));
  });
}

/** Throws unless x holds integers. */
export function checkIndices(op: string, x: Tensor): void {
  checkTensor(op, x);
  if (!isInteger(x.dtype))
    throw new DtypeError(
      `${op}: indices must be integers, got ${x.dtype}\n  feed an Int32Array, or convert: x.convert("i32")`,
    );
}

/**
 * y[..., :] = weight[x[...], :].
 *
 * x: i32[S] → f32[S, width]; `weight` f32[count, width], standard Gaussian at first. An index out
 * of range is clamped. `maxNorm` scales what is looked up and leaves the table as it is. Throws
 * DtypeError if x holds no integers, ShapeError for a `paddingIdx` that is no row.
 * `torch.nn.Embedding`.
 *
 * @param count Rows of the table.
 * @param width Features of a row.
 * @example
 *   const table = new nn.Embedding(1000, 64, { paddingIdx: 0 });
 *   table.forward(tensor([[5, 0]], { dtype: "i32" })).shape // [1, 2, 64]
 */
export class Embedding extends Module {
  readonly weight: Tensor;
  readonly count: number;
  readonly width: number;
  readonly paddingIdx: number | undefined;
  private readonly table: ReturnType<typeof tableOf>;

  constructor(count: number, width: number, options: EmbeddingOptions = {}) {
    super([count, width, options]);
    checkOptions("embedding", options, embeddingOptions);
    this.table = tableOf("embedding", count, width, options);
    this.count = count;
    this.width = width;
    this.paddingIdx = this.table.row;
    this.weight = this.table.weight;
  }

  override forward(x: Tensor): Tensor {
    checkIndices("embedding", x);
    return lookUp(this.weight, x, this.table);
  }

  override describe(): string {
    return `${this.count} × ${this.width}`;
  }
}
