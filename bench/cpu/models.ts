/**
 * The models of the CPU table, in the layers and ops that users have. Parameters take the workload's values, moved to
 * the layout each layer keeps; nothing here is written for speed.
 */
import { concat, geluTanh, nn, param, type Tensor } from "kiln-ml";
import { floats, type Operand, permuted } from "./workloads.ts";

type Operands = Readonly<Record<string, Operand>>;

/** The value of an operand as what a layer starts from. */
const given = (operand: Operand) => () => floats(operand);

/** A layer of a weight stored [inputs, outputs]; layers keep [outputs, inputs]. */
function linear(w: Operand, b: Operand): nn.Linear {
  const [inputs, outputs] = w.shape as [number, number];
  const init = () => permuted(floats(w), w.shape, [1, 0]);
  return new nn.Linear(inputs, outputs, { init, biasInit: given(b) });
}

class Gelu extends nn.Module {
  override forward(x: Tensor): Tensor {
    return geluTanh(x);
  }
}

export const mlpOf = (o: Operands): nn.Sequential =>
  new nn.Sequential(
    linear(o.w1!, o.b1!),
    new Gelu(),
    linear(o.w2!, o.b2!),
    new Gelu(),
    linear(o.w3!, o.b3!),
  );

export const cnnOf = (o: Operands): nn.Sequential =>
  new nn.Sequential(
    new nn.Conv2d(1, 32, 3, { init: given(o.k1!), biasInit: given(o.c1!) }),
    new nn.ReLU(),
    new nn.Conv2d(32, 64, 3, { init: given(o.k2!), biasInit: given(o.c2!) }),
    new nn.ReLU(),
    new nn.MaxPool2d(2),
    new nn.Flatten(),
    linear(o.w3!, o.b3!),
    new nn.ReLU(),
    linear(o.w4!, o.b4!),
  );

/** nn.LayerNorm starts at gain 1 and bias 0; this one at given values. */
class Norm extends nn.LayerNorm {
  override readonly weight: Tensor;
  override readonly bias: Tensor;
  constructor(gain: Operand, bias: Operand) {
    super(gain.shape, { affine: true });
    this.weight = param(floats(gain), { name: "weight", shape: gain.shape });
    this.bias = param(floats(bias), { name: "bias", shape: bias.shape });
  }
}

/** A pre-norm block whose query, key and value are one projection, as GPT-2 has it. */
export class Block extends nn.Module {
  readonly norm1: Norm;
  readonly norm2: Norm;
  readonly qkv: nn.Linear;
  readonly out: nn.Linear;
  readonly up: nn.Linear;
  readonly down: nn.Linear;
  readonly heads = 8;

  constructor(o: Operands) {
    super();
    this.norm1 = new Norm(o.g1!, o.n1!);
    this.norm2 = new Norm(o.g2!, o.n2!);
    this.qkv = linear(o.wqkv!, o.bqkv!);
    this.out = linear(o.wo!, o.bo!);
    this.up = linear(o.wf!, o.bf!);
    this.down = linear(o.wp!, o.bp!);
  }

  override forward(x: Tensor): Tensor {
    const mixed = x.add(this.out.forward(this.#attend(this.norm1.forward(x))));
    return mixed.add(this.down.forward(geluTanh(this.up.forward(this.norm2.forward(mixed)))));
  }

  /** [B, T, width] → the same: attention in heads, without the last projection. */
  #attend(x: Tensor): Tensor {
    const [batch, length, width] = x.shape as [number, number, number];
    const split = [batch, length, 3, this.heads, width / this.heads];
    const parts = this.qkv.forward(x).reshape(split).transpose([2, 0, 3, 1, 4]).split(3);
    const [q, k, v] = parts.map((part) => part.squeeze(0)) as [Tensor, Tensor, Tensor];
    return nn.attention(q, k, v).transpose([0, 2, 1, 3]).reshape([batch, length, width]);
  }
}

/**
 * All hidden states of an LSTM, unrolled, with gates in the order input, forget, cell, output. The projection of the
 * inputs is one product over all steps. Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000.
 */
export function lstm(x: Tensor, wx: Tensor, wh: Tensor, b: Tensor): Tensor {
  const [steps, batch] = x.shape as [number, number];
  const width = wh.shape[0] as number;
  const projected = x.matmul(wx).add(b).split(steps);
  let hidden: Tensor | undefined;
  let cell: Tensor | undefined;
  const states: Tensor[] = [];
  for (const part of projected) {
    const own = part.reshape([batch, 4 * width]);
    const gates = hidden ? own.add(hidden.matmul(wh)) : own;
    const [input, forget, update, output] = gates.split(4, 1) as [Tensor, Tensor, Tensor, Tensor];
    const fresh = input.sigmoid().mul(update.tanh());
    cell = cell ? forget.sigmoid().mul(cell).add(fresh) : fresh;
    hidden = output.sigmoid().mul(cell.tanh());
    states.push(hidden.expandDims(0));
  }
  return concat(states);
}
