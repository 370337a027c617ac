/**
 * Every kind of layer through the compiler and the runtime, with the gradients of its parameters and input: bit for bit
 * what the reference gives on js, within the ulps of the ops on wasm.
 */
import { type Dtype, grad, input, type Tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import { agreesOnJs, agreesOnWasm } from "../support/targets.ts";
import { asValue, Session } from "./fixture.ts";

class Block extends nn.Module {
  readonly norm1 = new nn.LayerNorm(4);
  readonly attention = new nn.MultiHeadAttention(4, 2);
  readonly norm2 = new nn.RmsNorm(4);
  readonly mlp = new nn.Sequential(new nn.Linear(4, 8), new nn.GELU(), new nn.Linear(8, 4));
  readonly dropout = new nn.Dropout(0.5, { seed: 1 });
  override forward(x: Tensor): Tensor {
    const y = x.add(this.attention.forward(this.norm1.forward(x), { causal: true }));
    return y.add(this.dropout.forward(this.mlp.forward(this.norm2.forward(y))));
  }
}

const layers: Record<string, [nn.Layer, readonly number[], Dtype?]> = {
  linear: [new nn.Linear(3, 2), [4, 3]],
  "conv1d of stride 2": [new nn.Conv1d(2, 2, 3, { stride: 2, padding: 1 }), [1, 2, 7]],
  "conv2d in groups": [new nn.Conv2d(2, 4, 3, { groups: 2, padding: "same" }), [1, 2, 4, 4]],
  "conv2d dilated": [new nn.Conv2d(1, 2, 2, { dilation: 2, stride: [2, 1] }), [2, 1, 5, 5]],
  batchNorm1d: [new nn.BatchNorm1d(3), [4, 3]],
  "batchNorm2d in evaluation": [new nn.BatchNorm2d(2).eval(), [2, 2, 2, 2]],
  layerNorm: [new nn.LayerNorm([2, 3]), [2, 2, 3]],
  rmsNorm: [new nn.RmsNorm(5), [3, 5]],
  groupNorm: [new nn.GroupNorm(2, 4), [2, 4, 3]],
  embedding: [new nn.Embedding(5, 3), [2, 4], "i32"],
  dropout: [new nn.Dropout(0.3, { seed: 2 }), [4, 5]],
  "maxPool2d overlapping": [new nn.MaxPool2d(3, { stride: 2, padding: 1 }), [1, 2, 5, 5]],
  avgPool2d: [new nn.AvgPool2d(2, { padding: 1 }), [1, 1, 4, 4]],
  adaptiveAvgPool2d: [new nn.AdaptiveAvgPool2d([2, 3]), [1, 2, 5, 7]],
  softmax: [new nn.Softmax(0), [3, 4]],
  "transformer block": [new Block(), [2, 3, 4]],
};

/** A fixed sequence without pattern; whole numbers for indices. */
function numbers(shape: readonly number[], dtype: Dtype): number[] {
  const size = shape.reduce((a, b) => a * b, 1);
  return Array.from({ length: size }, (_, i) =>
    dtype === "i32" ? (i * 7) % 5 : Math.sin(12.9898 * (i + 1)) * 2,
  );
}

const on = { js: agreesOnJs, wasm: agreesOnWasm };

for (const [name, [layer, shape, dtype = "f32"]] of Object.entries(layers))
  for (const target of ["js", "wasm"] as const)
    test(`${target}: ${name} compiles to what the reference gives`, async () => {
      const x = input("x", dtype, shape);
      const { value, updates } = trace(() => {
        const y = layer.forward(x);
        const sources = [...(dtype === "f32" ? [x] : []), ...layer.parameters()];
        return [y, ...grad(y.mul(y).sum(), sources)];
      });
      const session = new Session();
      const feeds = new Map([[x, asValue({ shape, data: numbers(shape, dtype) }, dtype)]]);
      for (const p of layer.state().values()) feeds.set(p, session.valueOf(p));
      const outputs = value.map((v, i) => ({ name: `out${i}`, value: v }));
      await on[target]({ inputs: [x], outputs, updates: [...updates] }, feeds);
    });

test.run();
