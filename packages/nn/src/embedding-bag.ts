/**
 * Rows of a table looked up and pooled: bags of words.
 */
import {
  checkOptions,
  type Dim,
  GraphError,
  inFloat32,
  iota,
  minOf,
  type OptionNames,
  printShape,
  ShapeError,
  sameShape,
  scatter,
  select,
  type Tensor,
  zeros,
} from "@kiln-ml/ir";
import { checkIndices, type EmbeddingOptions, lookUp, tableOf } from "./embedding.ts";
import { Module } from "./module.ts";
import { checkRank } from "./parameter.ts";

export interface EmbeddingBagOptions extends EmbeddingOptions {
  /** How the rows of a bag become one; "mean" by default. An empty bag gives 0. */
  readonly mode?: "mean" | "sum" | "max";
}

const bagOptions: OptionNames<EmbeddingBagOptions> = {
  mode: 1,
  paddingIdx: 1,
  maxNorm: 1,
  normType: 1,
  init: 1,
};

export interface BagInputs {
  /** i32[B], ascending from 0: where each bag begins in a flat list of indices. */
  readonly offsets?: Tensor;
  /** A factor for each index, for sums. */
  readonly perSampleWeights?: Tensor;
}

const bagInputs: OptionNames<BagInputs> = { offsets: 1, perSampleWeights: 1 };

/**
 * y[b] = the mean, sum or maximum of weight[x] over the indices of bag b.
 *
 * x: i32[B, n], a bag a row; or i32[n] with `offsets` i32[B] → f32[B, width]. Indices equal to
 * `paddingIdx` count for nothing. Throws GraphError for weights without sums, or a flat list
 * without `offsets`; DtypeError if x holds no integers. `torch.nn.EmbeddingBag`.
 *
 * @param count Rows of the table.
 * @param width Features of a row.
 * @example
 *   const words = tensor([1, 2, 3], { dtype: "i32" });
 *   const offsets = tensor([0, 2], { dtype: "i32" }); // bags [1, 2] and [3]
 *   new nn.EmbeddingBag(1000, 16).forward(words, { offsets }).shape // [2, 16]
 */
export class EmbeddingBag extends Module {
  readonly weight: Tensor;
  readonly count: number;
  readonly width: number;
  readonly mode: "mean" | "sum" | "max";
  readonly paddingIdx: number | undefined;
  private readonly table: ReturnType<typeof tableOf>;

  constructor(count: number, width: number, options: EmbeddingBagOptions = {}) {
    super([count, width, options]);
    const { mode = "mean" } = checkOptions("embeddingBag", options, bagOptions);
    if (mode !== "mean" && mode !== "sum" && mode !== "max")
      throw new GraphError(`embeddingBag: mode must be mean, sum or max, got ${String(mode)}`);
    this.table = tableOf("embeddingBag", count, width, options);
    this.count = count;
    this.width = width;
    this.mode = mode;
    this.paddingIdx = this.table.row;
    this.weight = this.table.weight;
  }

  override forward(x: Tensor, given: BagInputs = {}): Tensor {
    checkIndices("embeddingBag", x);
    const { offsets, perSampleWeights } = checkOptions("embeddingBag", given, bagInputs);
    checkRank("embeddingBag", x, offsets ? 1 : 2);
    if (perSampleWeights && (this.mode !== "sum" || !sameShape(perSampleWeights.shape, x.shape)))
      throw this.mode === "sum"
        ? new ShapeError(
            `embeddingBag: perSampleWeights must be ${printShape(x.shape)}, got ${printShape(perSampleWeights.shape)}`,
          )
        : new GraphError(`embeddingBag: perSampleWeights are for mode sum, not ${this.mode}`);
    const rows = lookUp(this.weight, x, this.table);
    const row = this.table.row;
    const counts = row === undefined ? undefined : x.notEqual(row).expandDims(-1);
    return inFloat32([rows, perSampleWeights], (v, w) => {
      const weighted = w ? v.mul(w.expandDims(-1)) : v;
      return offsets ? this.ofList(weighted, counts, offsets) : this.ofRows(weighted, counts);
    });
  }

  private ofRows(rows: Tensor, counts: Tensor | undefined): Tensor {
    if (this.mode === "max") return empty(masked(rows, counts, minOf(rows.dtype)).max([1]));
    const total = masked(rows, counts, 0).sum([1]);
    if (this.mode === "sum") return total;
    if (!counts) return rows.mean([1]);
    return total.div(counts.convert(rows.dtype).sum([1]).maximum(1));
  }

  private ofList(rows: Tensor, counts: Tensor | undefined, offsets: Tensor): Tensor {
    checkIndices("embeddingBag", offsets);
    checkRank("embeddingBag", offsets, 1);
    const [bags, length] = [offsets.shape[0]!, rows.shape[0]!] as [Dim, Dim];
    const begun = offsets.expandDims(0).lessEqual(iota([length, bags]));
    const bag = begun.convert("i32").sum([1]).sub(1);
    const shape = [bags, this.width];
    if (this.mode === "max") {
      const lowest = minOf(rows.dtype);
      const first = zeros(shape, rows.dtype).add(lowest);
      return empty(scatter(first, masked(rows, counts, lowest), [bag], [0], "max"));
    }
    const total = scatter(zeros(shape, rows.dtype), masked(rows, counts, 0), [bag], [0]);
    if (this.mode === "sum") return total;
    const ones = counts ? counts.convert(rows.dtype) : zeros([length, 1], rows.dtype).add(1);
    return total.div(scatter(zeros([bags, 1], rows.dtype), ones, [bag], [0]).maximum(1));
  }

  override describe(): string {
    return `${this.count} × ${this.width}, ${this.mode}`;
  }
}

const masked = (rows: Tensor, counts: Tensor | undefined, otherwise: number): Tensor =>
  counts ? select(counts, rows, otherwise) : rows;

/** What no row has raised is an empty bag. */
const empty = (y: Tensor): Tensor => select(y.greater(minOf(y.dtype)), y, 0);
