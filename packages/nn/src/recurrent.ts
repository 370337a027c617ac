/**
 * Recurrent layers over sequences: plain, gated (GRU) and long short-term memory, in several layers
 * and in both directions. One loop of the program a layer and direction, so that the length may be
 * a symbol. Gates stand in PyTorch's order.
 */
import {
  checkOptions,
  concat,
  type Dim,
  type Dtype,
  DtypeError,
  fullDtype,
  GraphError,
  iota,
  isInteger,
  type OptionNames,
  printShape,
  promote,
  ShapeError,
  sameShape,
  scan,
  select,
  stack,
  type Tensor,
  widened,
  zeros,
} from "@kiln-ml/ir";
import { Dropout } from "./dropout.ts";
import { uniform } from "./init.ts";
import { buildOrWait, ensureBuilt, withSize } from "./lazy.ts";
import { Module } from "./module.ts";
import { checkCount, checkExtent, checkRank, weight } from "./parameter.ts";
import type {
  RecurrentInputs,
  RecurrentOptions,
  RecurrentResult,
  RecurrentSizes,
} from "./recurrent-types.ts";

export type { RecurrentInputs, RecurrentOptions, RecurrentResult } from "./recurrent-types.ts";

/** What one step makes of the gates of the input, the weights of the state, and the state. */
export type Step = (x: Tensor, cell: Cell, state: readonly Tensor[]) => Tensor[];

export interface CellSizes {
  readonly hidden: number;
  /** Blocks of `hidden` rows. */
  readonly gates: number;
  readonly bias: boolean;
  /** Width of the hidden state, where it is projected. */
  readonly projSize?: number | undefined;
}

/** Weights of one layer in one direction. */
export abstract class Cell extends Module {
  readonly weightInput!: Tensor;
  readonly weightHidden!: Tensor;
  readonly biasInput: Tensor | undefined;
  readonly biasHidden: Tensor | undefined;
  /** [projSize, hidden]: what the hidden state is multiplied with, where that is asked for. */
  readonly weightProjection: Tensor | undefined;

  constructor(inputs: number | undefined, sizes: CellSizes, args: readonly unknown[] = []) {
    super(args);
    buildOrWait(this, inputs, (size) => this.makeWeights(size, sizes));
  }

  protected makeWeights(inputs: number, { hidden, gates, bias, projSize }: CellSizes): void {
    const init = uniform(-1 / Math.sqrt(hidden), 1 / Math.sqrt(hidden));
    const rows = gates * hidden;
    Object.assign(this, {
      weightInput: weight("weightInput", [rows, inputs], init),
      weightHidden: weight("weightHidden", [rows, projSize ?? hidden], init),
      ...(bias && {
        biasInput: weight("biasInput", [rows], init),
        biasHidden: weight("biasHidden", [rows], init),
      }),
      ...(projSize !== undefined && {
        weightProjection: weight("weightProjection", [projSize, hidden], init),
      }),
    });
  }

  /** Gates of inputs, of one step or of all. */
  gatesOf(x: Tensor): Tensor {
    return product(x, this.weightInput, this.biasInput);
  }

  /** Gates of the hidden state; of rows from one on, or up to one. */
  ofHidden(h: Tensor, from?: number, to?: number): Tensor {
    const part = (t: Tensor) => (from === undefined ? t : t.sliceAxis(0, from, to));
    return product(h, part(this.weightHidden), this.biasHidden && part(this.biasHidden));
  }
}

/** A cell within a layer, whose forward is that product. */
class LayerCell extends Cell {
  override forward(x: Tensor): Tensor {
    return this.gatesOf(x);
  }
}

/** In f32 at least, whatever products are computed in: a loop's state is f32 from step to step. */
function product(x: Tensor, w: Tensor, bias: Tensor | undefined): Tensor {
  const y = widened(x.matmul(w.transpose([1, 0])));
  return bias ? y.add(bias) : y;
}

const recurrentOptions: OptionNames<RecurrentOptions> = {
  layers: 1,
  bidirectional: 1,
  bias: 1,
  dropout: 1,
};
const recurrentInputs: OptionNames<RecurrentInputs> = { lengths: 1, state: 1 };

interface Kind extends Omit<CellSizes, "bias" | "hidden"> {
  readonly op: string;
  /** How many tensors the state is. */
  readonly states: number;
  readonly step: Step;
}

/** Sizes, of which that of the input may be left out, then options. */
export type RecurrentArguments<Options> =
  | readonly [hidden: number, options?: Options]
  | readonly [inputs: number, hidden: number, options?: Options];

class Recurrent extends Module {
  readonly forwards!: LayerCell[];
  readonly backwards!: LayerCell[];
  readonly drop: Dropout | undefined;
  readonly inputs!: number;
  readonly hidden: number;
  readonly layers: number;
  readonly bidirectional: boolean;
  private readonly kind: Kind;

  constructor(
    kind: Kind,
    args: readonly unknown[],
    [inputs, hidden, options]: RecurrentSizes<RecurrentOptions> = withSize(
      args,
      2,
    ) as RecurrentSizes<RecurrentOptions>,
  ) {
    super(args);
    const {
      layers = 1,
      bidirectional = false,
      bias = true,
      dropout = 0,
    } = checkOptions(kind.op, options ?? {}, recurrentOptions);
    if (inputs !== undefined) checkCount(kind.op, "inputs", inputs);
    checkCount(kind.op, "hidden", hidden);
    checkCount(kind.op, "layers", layers);
    if (kind.projSize !== undefined) checkProjection(kind.op, kind.projSize, hidden);
    this.hidden = hidden;
    this.layers = layers;
    this.bidirectional = bidirectional;
    this.kind = kind;
    if (dropout !== 0) this.drop = new Dropout(dropout);
    buildOrWait(this, inputs, (size) => this.build(size, bias));
  }

  private build(inputs: number, bias: boolean): void {
    const { hidden, layers, bidirectional, kind } = this;
    const wide = (bidirectional ? 2 : 1) * (kind.projSize ?? hidden);
    const cells = () =>
      Array.from(
        { length: layers },
        (_, i) => new LayerCell(i ? wide : inputs, { ...kind, hidden, bias }),
      );
    Object.assign(this, { inputs, forwards: cells(), backwards: bidirectional ? cells() : [] });
  }

  /** Widths of the tensors of the state: h, and what is beside it. */
  private get widths(): readonly number[] {
    const { projSize = this.hidden, states } = this.kind;
    return Array.from({ length: states }, (_, k) => (k ? this.hidden : projSize));
  }

  override forward(x: Tensor, given: RecurrentInputs = {}): RecurrentResult {
    const { op } = this.kind;
    checkOptions(op, given, recurrentInputs);
    checkRank(op, x, 3);
    ensureBuilt(op, this, x, -1);
    checkExtent(op, x, -1, this.inputs, "inputs");
    const [batch, length] = x.shape as [Dim, Dim, Dim];
    this.check(batch, given);
    const within = given.lengths && iota([length, batch, 1]).less(given.lengths.expandDims(1));
    const last: Tensor[][] = [];
    let y = x.transpose([1, 0, 2]);
    for (const [i, cell] of this.forwards.entries()) {
      if (i && this.drop) y = this.drop.forward(y);
      const back = this.backwards[i];
      const ways = [cell, ...(back ? [back] : [])].map((c) => {
        const gates = c.forward(y);
        const first = this.first(gates.dtype, batch, last.length, given.state);
        const run = this.runCell(c, gates, first, within, c === back);
        last.push(run.carry);
        return run.y;
      });
      y = concat(ways, -1);
    }
    const dtype = fullDtype(promote(x.dtype, this.forwards[0]!.weightInput.dtype));
    const state = this.widths.map((_, k) => stack(last.map((s) => s[k]!)).convert(dtype));
    return { y: y.transpose([1, 0, 2]).convert(dtype), state };
  }

  /** Gates of the inputs, [T, B, gates·hidden] → [T, B, hidden]. */
  private runCell(
    cell: Cell,
    inputs: Tensor,
    first: readonly Tensor[],
    within: Tensor | undefined,
    reverse: boolean,
  ) {
    const { carry, ys } = scan(
      first,
      [inputs, ...(within ? [within] : [])],
      (state, [gates, inside]) => {
        const next = this.kind.step(gates!, cell, state);
        const kept = inside ? next.map((t, k) => select(inside, t, state[k]!)) : next;
        return { carry: kept, ys: [inside ? select(inside, next[0]!, 0) : next[0]!] };
      },
      { reverse },
    );
    return { carry, y: ys[0]! };
  }

  /** What the n-th of all cells begins with. */
  private first(
    dtype: Dtype,
    batch: Dim,
    n: number,
    state: readonly Tensor[] | undefined,
  ): readonly Tensor[] {
    if (state) return state.map((s) => s.take(n).convert(dtype));
    return this.widths.map((width) => zeros([batch, width], dtype));
  }

  private check(batch: Dim, { lengths, state }: RecurrentInputs): void {
    const { op, states } = this.kind;
    if (lengths && !isInteger(lengths.dtype))
      throw new DtypeError(
        `${op}: lengths must be integers, got ${lengths.dtype}\n  feed an Int32Array, or convert: lengths.convert("i32")`,
      );
    if (lengths && !sameShape(lengths.shape, [batch]))
      throw new ShapeError(
        `${op}: lengths must be one a sequence: ${printShape(lengths.shape)} for ${printShape([batch])}\n  give one length for each entry of the batch`,
      );
    if (!state) return;
    if (state.length !== states)
      throw new GraphError(
        `${op}: state must be ${states} tensors, got ${state.length}\n  pass what the layer returned as its state, or leave it out for zeros`,
      );
    for (const [k, width] of this.widths.entries()) {
      const s = state[k]!;
      const shape = [this.forwards.length + this.backwards.length, batch, width];
      if (!sameShape(s.shape, shape))
        throw new ShapeError(
          `${op}: state must be ${printShape(shape)}, got ${printShape(s.shape)}\n  pass what the layer returned as its state, or leave it out for zeros`,
        );
    }
  }

  override describe(): string {
    const layers = this.layers > 1 ? `, ${this.layers} layers` : "";
    const width = this.kind.projSize === undefined ? "" : ` → ${this.kind.projSize}`;
    return `${this.inputs ?? "?"} → ${this.hidden}${width}${layers}${this.bidirectional ? ", both ways" : ""}`;
  }
}

function checkProjection(op: string, projSize: number, hidden: number): void {
  checkCount(op, "projSize", projSize);
  if (projSize >= hidden)
    throw new ShapeError(
      `${op}: projSize must be less than hidden, got ${projSize} for ${hidden}\n  leave it out where the state is to stay as wide`,
    );
}

/** h' = tanh(Wx + b + Uh + d). */
export const elmanStep: Step = (x, cell, [h]) => [x.add(cell.ofHidden(h!)).tanh()];

/** With the reset gate after the product with the state, or before it. */
export const gruStep =
  (resetAfter: boolean): Step =>
  (x, cell, [before]) => {
    const rows = 2 * (before!.shape.at(-1) as number);
    const [xr, xz, xn] = x.split(3, -1);
    const all = resetAfter ? cell.ofHidden(before!) : cell.ofHidden(before!, 0, rows);
    const [hr, hz, hn] = all.split(resetAfter ? 3 : 2, -1);
    const [r, z] = [xr!.add(hr!).sigmoid(), xz!.add(hz!).sigmoid()];
    const inner = resetAfter ? r.mul(hn!) : cell.ofHidden(r.mul(before!), rows);
    const n = xn!.add(inner).tanh();
    return [n.add(z.mul(before!.sub(n)))];
  };

export const lstmStep: Step = (x, cell, [h, c]) => {
  const [i, f, g, o] = x.add(cell.ofHidden(h!)).split(4, -1);
  const next = f!.sigmoid().mul(c!).add(i!.sigmoid().mul(g!.tanh()));
  const inner = o!.sigmoid().mul(next.tanh());
  return [cell.weightProjection ? product(inner, cell.weightProjection, undefined) : inner, next];
};

/**
 * h' = tanh(W·x + b + U·h + d).
 *
 * x: f32[B, T, in] → y f32[B, T, hidden], state [h]. Without `inputs` those of the first x. All
 * weights are even within ±1/√hidden at first. Throws ShapeError where the input, the lengths or
 * the state do not fit. Elman 1990. `torch.nn.RNN`.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param hidden Features of the hidden state.
 * @example
 *   const { y, state } = new nn.RNN(4, 8).forward(ones([1, 5, 4]));
 *   y.shape // [1, 5, 8]
 *   state[0].shape // [1, 1, 8]
 */
export class RNN extends Recurrent {
  constructor(...args: RecurrentArguments<RecurrentOptions>) {
    super({ op: "rnn", gates: 1, states: 1, step: elmanStep }, args);
  }
}

export interface GruOptions extends RecurrentOptions {
  /**
   * Takes the product with the state before the reset gate: r·(Uh + d). With false, as in the
   * paper, U·(r·h) + d. Default true.
   */
  readonly resetAfter?: boolean;
}

/**
 * r, z = σ(Wx + b + Uh + d) for each; n = tanh(Wx + b + r·(Uh + d)); h' = (1 − z)·n + z·h. Weights
 * hold the rows of r, z, n.
 *
 * x: f32[B, T, in] → y f32[B, T, hidden], state [h]. Otherwise as `RNN`. Cho et al. 2014, with the
 * reset gate after the product unless `resetAfter` is false. `torch.nn.GRU`.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param hidden Features of the hidden state.
 * @example
 *   const { y, state } = new nn.GRU(4, 8, { layers: 2 }).forward(ones([1, 5, 4]));
 *   y.shape // [1, 5, 8]
 *   state[0].shape // [2, 1, 8]; a layer a row
 */
export class GRU extends Recurrent {
  constructor(...args: RecurrentArguments<GruOptions>) {
    const [inputs, hidden, options = {}] = withSize(args, 2) as RecurrentSizes<GruOptions>;
    const { resetAfter = true, ...others } = options;
    const step = gruStep(resetAfter);
    super({ op: "gru", gates: 3, states: 1, step }, args, [inputs, hidden, others]);
  }
}

export interface LstmOptions extends RecurrentOptions {
  /**
   * Width of h, which is o·tanh(c) times a matrix; less than hidden. As wide as c by default. Sak,
   * Senior & Beaufays 2014.
   */
  readonly projSize?: number;
}

/**
 * i, f, o = σ(Wx + b + Uh + d) for each; g = tanh(Wx + b + Uh + d); c' = f·c + i·g; h' =
 * o·tanh(c'). Weights hold the rows of i, f, g, o.
 *
 * x: f32[B, T, in] → y f32[B, T, hidden], state [h, c]. With `projSize` y and h are that wide.
 * Otherwise as `RNN`. Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000.
 * `torch.nn.LSTM`.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param hidden Features of the hidden state.
 * @example
 *   const { y, state } = new nn.LSTM(4, 8, { bidirectional: true }).forward(ones([1, 5, 4]));
 *   y.shape // [1, 5, 16]; both directions side by side
 *   state.map((t) => t.shape) // [[2, 1, 8], [2, 1, 8]]; h and c
 */
export class LSTM extends Recurrent {
  constructor(...args: RecurrentArguments<LstmOptions>) {
    const [inputs, hidden, options = {}] = withSize(args, 2) as RecurrentSizes<LstmOptions>;
    const { projSize, ...others } = options;
    const kind = { op: "lstm", gates: 4, states: 2, step: lstmStep, projSize };
    super(kind, args, [inputs, hidden, others]);
  }
}
