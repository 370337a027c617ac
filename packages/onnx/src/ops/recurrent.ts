/**
 * RNN, GRU and LSTM. The products with the inputs of all steps are one matrix product; a step then takes one product with the state.
 * Weights keep ONNX's order of gates: iofc for LSTM, zrh for GRU.
 */
import {
  isStatic,
  matmul,
  type Operand,
  reshape,
  scan,
  select,
  sliceAxis,
  stack,
  type Tensor,
  transpose,
  zeros,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { type Activation, activation } from "./recurrent-activation.ts";

/** What one direction is made of. */
interface Direction {
  /** x[T,B,I]·Wᵀ + all biases that are added outside of activations: [T,B,G·H]. */
  readonly inputs: Tensor;
  /** R[G·H,H]. */
  readonly recurrence: Tensor;
  /** Recurrent biases [G·H], if the file has any. */
  readonly recurrentBias: Tensor | undefined;
  readonly activations: readonly Activation[];
  readonly peepholes: Tensor | undefined;
  readonly clip: (x: Tensor) => Tensor;
}

/** From the state before a step to the state after it; the first of the state is what Y shows. */
type Step = (d: Direction, x: Tensor, state: readonly Tensor[], n: NodeContext) => Tensor[];

interface Cell {
  readonly gates: number;
  readonly states: number;
  readonly defaults: readonly string[];
  readonly step: Step;
}

const gate = (x: Tensor, index: number, hidden: number): Tensor =>
  sliceAxis(x, x.rank - 1, index * hidden, (index + 1) * hidden);

const plain = (d: Direction, x: Tensor, h: Tensor): Tensor => {
  const product = x.add(matmul(h, transpose(d.recurrence, [1, 0])));
  return d.recurrentBias ? product.add(d.recurrentBias) : product;
};

/** H' = f(X·Wᵀ + H·Rᵀ + b). */
const rnn: Cell = {
  gates: 1,
  states: 1,
  defaults: ["Tanh"],
  step: (d, x, [h]) => [d.activations[0]!(d.clip(plain(d, x, h!)))],
};

/** Gates z, r, h; `linear_before_reset` multiplies r with the product instead of the state. */
const gru: Cell = {
  gates: 3,
  states: 1,
  defaults: ["Sigmoid", "Tanh"],
  step(d, x, [h], n) {
    const size = hiddenOf(d);
    const [f, g] = d.activations as [Activation, Activation];
    const part = (t: Tensor | undefined, from: number, to: number, axis = 0) =>
      t && sliceAxis(t, axis, from * size, to * size);
    const with2 = (a: Tensor, b: Tensor | undefined) => (b ? a.add(b) : a);
    const product = (state: Tensor, from: number, to: number) =>
      with2(
        matmul(state, transpose(part(d.recurrence, from, to)!, [1, 0])),
        part(d.recurrentBias, from, to),
      );
    const zr = f(d.clip(part(x, 0, 2, x.rank - 1)!.add(product(h!, 0, 2))));
    const [z, r] = [gate(zr, 0, size), gate(zr, 1, size)];
    const hidden = n.flag("linear_before_reset")
      ? r.mul(product(h!, 2, 3))
      : product(r.mul(h!), 2, 3);
    const next = g(d.clip(gate(x, 2, size).add(hidden)));
    return [z.mul(-1).add(1).mul(next).add(z.mul(h!))];
  },
};

/** Gates i, o, f, c, with peepholes from the cell state. */
const lstm: Cell = {
  gates: 4,
  states: 2,
  defaults: ["Sigmoid", "Tanh", "Tanh"],
  step(d, x, [h, c], n) {
    const size = hiddenOf(d);
    const [f, g, out] = d.activations as [Activation, Activation, Activation];
    const all = plain(d, x, h!);
    const peek = (k: number, of: Tensor, to: Tensor) =>
      d.peepholes ? to.add(of.mul(gate(d.peepholes, k, size))) : to;
    const i = f(d.clip(peek(0, c!, gate(all, 0, size))));
    const forget = n.flag("input_forget")
      ? i.mul(-1).add(1)
      : f(d.clip(peek(2, c!, gate(all, 2, size))));
    const cell = forget.mul(c!).add(i.mul(g(d.clip(gate(all, 3, size)))));
    const o = f(d.clip(peek(1, cell, gate(all, 1, size))));
    return [o.mul(out(cell)), cell];
  },
};

const hiddenOf = (d: Direction): number => d.recurrence.shape[1] as number;

/** Steps that are written out one by one; more are a loop. */
const fewSteps = 4;

interface Outcome {
  /** Y of this direction, [T,B,H]. */
  readonly all: Tensor;
  readonly last: readonly Tensor[];
}

/** The state after step `t` and what Y shows of it. Steps beyond a sequence's length keep the state and show 0. */
function advance(
  n: NodeContext,
  cell: Cell,
  d: Direction,
  x: Tensor,
  state: readonly Tensor[],
  t: Operand,
): { state: readonly Tensor[]; shown: Tensor } {
  const next = cell.step(d, x, state, n);
  const lengths = n.maybe(4);
  if (!lengths) return { state: next, shown: next[0]! };
  const inside = reshape(lengths.greater(t), [lengths.shape[0]!, 1]);
  return {
    state: next.map((s, i) => select(inside, s, state[i]!)),
    shown: select(inside, next[0]!, 0),
  };
}

/** All steps of one direction. */
function steps(
  n: NodeContext,
  cell: Cell,
  d: Direction,
  initial: readonly Tensor[],
  backward: boolean,
): Outcome {
  const count = d.inputs.shape[0]!;
  if (!isStatic(count) || count > fewSteps) {
    const { carry, ys } = scan(
      initial,
      [d.inputs],
      (state, [x], t) => {
        const next = advance(n, cell, d, x!, state, t);
        return { carry: next.state, ys: [next.shown] };
      },
      { reverse: backward },
    );
    return { all: ys[0]!, last: carry };
  }
  const shown = new Array<Tensor>(count);
  let state = initial;
  for (let k = 0; k < count; k++) {
    const t = backward ? count - 1 - k : k;
    const x = reshape(sliceAxis(d.inputs, 0, t, t + 1), d.inputs.shape.slice(1));
    const next = advance(n, cell, d, x, state, t);
    state = next.state;
    shown[t] = next.shown;
  }
  if (!count) return { all: zeros([0, ...initial[0]!.shape], initial[0]!.dtype), last: state };
  return { all: stack(shown), last: state };
}

/** Rows of one direction out of a tensor whose first axis is the direction. */
const ofDirection = (t: Tensor | undefined, k: number): Tensor | undefined =>
  t && reshape(sliceAxis(t, 0, k, k + 1), t.shape.slice(1));

function direction(n: NodeContext, cell: Cell, x: Tensor, k: number): Direction {
  const w = ofDirection(n.tensor(1), k)!;
  const r = ofDirection(n.tensor(2), k)!;
  const bias = ofDirection(n.maybe(3), k);
  const width = r.shape[0] as number;
  const product = matmul(x, transpose(w, [1, 0]));
  const own = bias && sliceAxis(bias, 0, 0, width);
  const clip = n.float("clip", 0);
  return {
    inputs: own ? product.add(own) : product,
    recurrence: r,
    recurrentBias: bias && sliceAxis(bias, 0, width, 2 * width),
    activations: cell.defaults.map((name, i) => activation(n, k * cell.defaults.length + i, name)),
    peepholes: cell === lstm ? ofDirection(n.maybe(7), k) : undefined,
    clip: (v) => (clip > 0 ? v.maximum(-clip).minimum(clip) : v),
  };
}

function recurrent(n: NodeContext, cell: Cell): (Tensor | undefined)[] {
  const batchFirst = n.int("layout", 0) === 1;
  const given = n.tensor(0);
  const x = batchFirst ? transpose(given, [1, 0, 2]) : given;
  const batch = x.shape[1]!;
  const kind = n.string("direction", "forward");
  const directions = kind === "bidirectional" ? [false, true] : [kind === "reverse"];
  const hidden = n.tensor(2).shape[2]!;
  const start = (i: number, k: number): Tensor => {
    const all = n.maybe(i);
    const mine = ofDirection(all && batchFirst ? transpose(all, [1, 0, 2]) : all, k);
    return mine ?? zeros([batch, hidden], x.dtype);
  };
  const runs = directions.map((backward, k) => {
    const initial = [5, 6].slice(0, cell.states).map((i) => start(i, k));
    return steps(n, cell, direction(n, cell, x, k), initial, backward);
  });
  const y = n.wants(0)
    ? stack(
        runs.map((r) => r.all),
        1,
      )
    : undefined;
  const last = (s: number) => {
    const state = stack(runs.map((r) => r.last[s]!));
    return batchFirst ? transpose(state, [1, 0, 2]) : state;
  };
  return [
    y && batchFirst ? transpose(y, [2, 0, 1, 3]) : y,
    last(0),
    cell.states > 1 ? last(1) : undefined,
  ];
}

export const recurrentRows: readonly Row[] = [
  row("RNN", (n) => recurrent(n, rnn)),
  row("GRU", (n) => recurrent(n, gru)),
  row("LSTM", (n) => recurrent(n, lstm)),
];
