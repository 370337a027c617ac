/**
 * One step of a recurrent layer, for loops of one's own: the weights and names of the layers in
 * `recurrent.ts`.
 */
import {
  checkOptions,
  DtypeError,
  kindOf,
  type OptionNames,
  printShape,
  ShapeError,
  sameShape,
  Tensor,
  zeros,
} from "@kiln-ml/ir";
import { ensureBuilt, withSize } from "./lazy.ts";
import { checkCount, checkExtent } from "./parameter.ts";
import {
  Cell,
  type CellSizes,
  elmanStep,
  gruStep,
  lstmStep,
  type RecurrentArguments,
} from "./recurrent.ts";
import type { RecurrentSizes } from "./recurrent-types.ts";

export interface CellOptions {
  /** Adds biases; true by default. */
  readonly bias?: boolean;
}

const cellOptions: OptionNames<CellOptions> = { bias: 1 };

abstract class RecurrentCell extends Cell {
  declare readonly inputs: number;
  readonly hidden: number;

  constructor(
    op: string,
    gates: number,
    args: readonly unknown[],
    [inputs, hidden, options = {}]: RecurrentSizes<CellOptions> = withSize(
      args,
      2,
    ) as RecurrentSizes<CellOptions>,
  ) {
    const { bias = true } = checkOptions(op, options, cellOptions);
    if (inputs !== undefined) checkCount(op, "inputs", inputs);
    checkCount(op, "hidden", hidden);
    super(inputs, { hidden, gates, bias }, args);
    this.hidden = hidden;
  }

  protected override makeWeights(inputs: number, sizes: CellSizes): void {
    super.makeWeights(inputs, sizes);
    Object.assign(this, { inputs });
  }

  /** The state to begin with, of which there are `count`; zeros where none is given. */
  protected stateFor(op: string, x: Tensor, given: readonly (Tensor | undefined)[]): Tensor[] {
    ensureBuilt(op, this, x, -1);
    checkExtent(op, x, -1, this.inputs, "inputs");
    const shape = [...x.shape.slice(0, -1), this.hidden];
    return given.map((t) => {
      if (t === undefined) return zeros(shape, this.weightInput.dtype);
      if (!(t instanceof Tensor))
        throw new DtypeError(`${op}: the state must be a tensor, got ${kindOf(t)}`);
      if (!sameShape(t.shape, shape))
        throw new ShapeError(
          `${op}: state must be ${printShape(shape)}, got ${printShape(t.shape)}\n  pass what the cell returned, or leave it out for zeros`,
        );
      return t;
    });
  }

  override describe(): string {
    return `${this.inputs ?? "?"} → ${this.hidden}`;
  }
}

/**
 * h' = tanh(Wx + b + Uh + d). `torch.nn.RNNCell`.
 *
 * x: f32[..., in], h: f32[..., hidden], zeros if left out → h'. Without `inputs` those of the first
 * x. Throws ShapeError where the input or the state does not fit.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param hidden Features of the hidden state.
 * @example
 *   const cell = new nn.RNNCell(8, 16);
 *   let h = cell.forward(ones([1, 8]));
 *   h = cell.forward(ones([1, 8]), h);
 *   h.shape // [1, 16]
 */
export class RNNCell extends RecurrentCell {
  constructor(...args: RecurrentArguments<CellOptions>) {
    super("rnnCell", 1, args);
  }

  override forward(x: Tensor, h?: Tensor): Tensor {
    const state = this.stateFor("rnnCell", x, [h]);
    return elmanStep(this.gatesOf(x), this, state)[0]!;
  }
}

export interface GruCellOptions extends CellOptions {
  /** As of `GRU`. Default true. */
  readonly resetAfter?: boolean;
}

/**
 * One step of `GRU`: x f32[..., in], h f32[..., hidden] → h'. Otherwise as `RNNCell`.
 * `torch.nn.GRUCell`.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param hidden Features of the hidden state.
 * @example
 *   const cell = new nn.GRUCell(4, 8);
 *   let h = cell.forward(ones([1, 4]));
 *   h = cell.forward(ones([1, 4]), h);
 *   h.shape // [1, 8]
 */
export class GRUCell extends RecurrentCell {
  readonly resetAfter: boolean;

  constructor(...args: RecurrentArguments<GruCellOptions>) {
    const [inputs, hidden, options = {}] = withSize(args, 2) as RecurrentSizes<GruCellOptions>;
    const { resetAfter = true, ...others } = options;
    super("gruCell", 3, args, [inputs, hidden, others]);
    this.resetAfter = resetAfter;
  }

  override forward(x: Tensor, h?: Tensor): Tensor {
    const state = this.stateFor("gruCell", x, [h]);
    return gruStep(this.resetAfter)(this.gatesOf(x), this, state)[0]!;
  }
}

/** What an `LSTMCell` carries. */
export interface LstmState {
  readonly h: Tensor;
  readonly c: Tensor;
}

/**
 * One step of `LSTM`: x f32[..., in], state { h, c } each f32[..., hidden] → { h, c }. Otherwise as
 * `RNNCell`. `torch.nn.LSTMCell`.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param hidden Features of the hidden state.
 * @example
 *   const cell = new nn.LSTMCell(2, 3);
 *   let state = cell.forward(ones([1, 2]));
 *   state = cell.forward(ones([1, 2]), state);
 *   state.h.shape // [1, 3]
 */
export class LSTMCell extends RecurrentCell {
  constructor(...args: RecurrentArguments<CellOptions>) {
    super("lstmCell", 4, args);
  }

  override forward(x: Tensor, state?: LstmState): LstmState {
    const given = this.stateFor("lstmCell", x, [state?.h, state?.c]);
    const [h, c] = lstmStep(this.gatesOf(x), this, given) as [Tensor, Tensor];
    return { h, c };
  }
}
