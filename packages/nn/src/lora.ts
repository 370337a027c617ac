/**
 * Low-rank adaptation: products of a trained network get a small second path, which alone is
 * trained. Hu et al. 2021.
 */

import {
  assign,
  checkOptions,
  GraphError,
  type OptionNames,
  setFrozen,
  type Tensor,
} from "@kiln-ml/ir";
import { recordChange, undoChanges } from "./changes.ts";
import { wrapForward } from "./forwards.ts";
import { constant, kaimingUniform } from "./init.ts";
import { Linear } from "./linear.ts";
import { checkModule, Module } from "./module.ts";
import { checkCount, weight } from "./parameter.ts";
import { matching } from "./paths.ts";

export interface LoraOptions {
  /** The extent between both factors, default 8. */
  readonly rank?: number;
  /** The second path counts alpha/rank. Default: the rank. */
  readonly alpha?: number;
  /** Paths of the layers that get one, `blocks.0.att.query`; all `Linear` layers by default. */
  readonly targets?: RegExp;
}

const loraOptions: OptionNames<LoraOptions> = { rank: 1, alpha: 1, targets: 1 };

/** The factors of one layer. A field of it, so that its parameters are found: `fc1.lora.a`. */
class LowRank extends Module {
  readonly a: Tensor;
  readonly b: Tensor;
  readonly scale: number;

  constructor(inputs: number, outputs: number, rank: number, alpha: number) {
    super([inputs, outputs, rank, alpha]);
    this.a = weight("a", [rank, inputs], kaimingUniform());
    this.b = weight("b", [outputs, rank], constant(0));
    this.scale = alpha / rank;
  }

  override forward(x: Tensor): Tensor {
    const inner = x.matmul(this.a.transpose([1, 0]));
    return inner.matmul(this.b.transpose([1, 0])).mul(this.scale);
  }
}

interface Adapted extends Linear {
  lora?: LowRank;
}

const adaptedIn = (net: Module): Adapted[] =>
  [...net.modules().values()].filter((m): m is Adapted => m instanceof Linear && "lora" in m);

/**
 * Gives layers of a network y = x·Wᵀ + b + alpha/rank · x·Aᵀ·Bᵀ, with B zeros at first, and freezes
 * everything but A and B: `fc1.lora.a` and `fc1.lora.b`. The network is changed, and returned; make
 * the optimizer afterwards.
 *
 * a: f32[rank, in], b: f32[out, rank]. Throws GraphError where no `Linear` layer has a path that
 * `targets` matches. `get_peft_model` of PEFT; no counterpart in PyTorch.
 *
 * @param net A module.
 * @example
 *   const net = new nn.Sequential(new nn.Linear(3, 3), new nn.ReLU(), new nn.Linear(3, 2));
 *   nn.lora(net, { rank: 2, targets: /^0/ }); // of the first layer alone
 *   net.parameters().map((p) => p.shape) // [[2, 3], [3, 2]]; all that is trained
 *   const optimizer = new optim.AdamW(net.parameters(), { lr: 1e-3 });
 */
export function lora<M extends Module>(net: M, options: LoraOptions = {}): M {
  checkModule("lora", net);
  const { rank = 8, alpha = rank, targets } = checkOptions("lora", options, loraOptions);
  checkCount("lora", "rank", rank);
  const isMeant = matching("lora", targets);
  const chosen = [...net.modules()].filter(([path, m]) => m instanceof Linear && isMeant(path));
  if (!chosen.length)
    throw new GraphError(
      `lora: no Linear layer has a path like ${String(targets ?? "any")}\n  net.modules() has the paths`,
    );
  net.freeze();
  for (const [, m] of chosen) {
    const layer = m as Adapted;
    if (layer.lora) throw new GraphError("lora: a layer has it already\n  call nn.mergeLora first");
    const low = new LowRank(layer.inputs, layer.outputs, rank, alpha);
    layer.lora = low;
    const takeOff = wrapForward(layer, (plain, [x]) =>
      (plain(x) as Tensor).add(low.forward(x as Tensor)),
    );
    recordChange(layer, "lora", { rank, alpha }, takeOff);
  }
  return net;
}

/**
 * Adds the second paths to the weights and takes them away: the network is as fast as before, and
 * computes the same. What was frozen is trained again. Throws GraphError where there is none.
 * `merge_and_unload` of PEFT; no counterpart in PyTorch.
 *
 * @param net A module.
 * @example
 *   const net = nn.lora(new nn.Sequential(new nn.Linear(3, 2)), { rank: 1 });
 *   const y = await net.forward(ones([1, 3])).data();
 *   const merged = nn.mergeLora(net);
 *   allClose(merged.forward(ones([1, 3])), tensor(y)) // true
 */
export function mergeLora<M extends Module>(net: M): M {
  checkModule("mergeLora", net);
  const adapted = adaptedIn(net);
  if (!adapted.length)
    throw new GraphError("mergeLora: no layer has a second path\n  call nn.lora first");
  if (adapted.some((layer) => layer.quantized))
    throw new GraphError(
      "mergeLora: the weight of a layer is quantized, and has no room for more digits\n  keep the second path, or quantize after it is merged",
    );
  if (adapted.some((layer) => layer.weight.op !== "param"))
    throw new GraphError(
      "mergeLora: the weight of a layer is computed, by a weight norm\n  call nn.removeWeightNorm first",
    );
  for (const layer of adapted) {
    const { a, b, scale } = layer.lora!;
    assign(layer.weight, layer.weight.add(b.matmul(a).mul(scale)));
    delete layer.lora;
    undoChanges(layer, (change) => change.name === "lora");
  }
  for (const t of net.state().values()) setFrozen(t, false);
  return net;
}
