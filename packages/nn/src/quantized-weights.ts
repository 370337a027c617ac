/**
 * Weights of few bits in the place of a network's matrices: steps in words, with a scale for each
 * block of inputs, which are state as weights are. Nothing here trains them; `nn.lora` trains
 * beside them.
 */
import {
  assign,
  checkOptions,
  GraphError,
  type OptionNames,
  type QuantizedOptions,
  type QuantizedProductOptions,
  quantized,
} from "@kiln-ml/ir";
import { recordChange } from "./changes.ts";
import { isBuilt } from "./lazy.ts";
import { Linear } from "./linear.ts";
import { checkModule, type Module } from "./module.ts";
import { matching } from "./paths.ts";
import { QuantizedWeight } from "./quantized-weight.ts";

export interface QuantizeWeightsOptions extends QuantizedOptions, QuantizedProductOptions {
  /** Paths of the layers that are quantized, `blocks.0.fc1`; all `Linear` layers by default. */
  readonly targets?: RegExp;
}

const quantizeOptions: OptionNames<QuantizeWeightsOptions> = {
  bits: 1,
  block: 1,
  zeroPoint: 1,
  activations: 1,
  targets: 1,
};

/**
 * Gives `Linear` layers of a network their weights in 4 or 8 bits: `fc1.weight` becomes
 * `fc1.quantized.words` and `fc1.quantized.scales`, state that no gradient changes. The network is
 * changed, and returned; make optimizers afterwards.
 *
 * An error is at most half a scale an element (a whole one in 4 bits without a zero point), the
 * scale 1/127 or 1/8 of the largest element of its block. Throws GraphError where no layer has a
 * path that `targets` matches. No counterpart in PyTorch's core; `quantize_` of torchao.
 *
 * @param net A module.
 * @example
 *   const net = new nn.Sequential(new nn.Linear(64, 8), new nn.ReLU(), new nn.Linear(8, 2));
 *   nn.quantizeWeights(net, { bits: 8, targets: /^0/ });
 *   [...net.buffers().keys()] // ["0.quantized.words", "0.quantized.scales"]
 */
export function quantizeWeights<M extends Module>(net: M, options: QuantizeWeightsOptions): M {
  const op = "quantizeWeights";
  checkModule(op, net);
  const { targets, activations = "f32", ...format } = checkOptions(op, options, quantizeOptions);
  const isMeant = matching(op, targets);
  const chosen = [...net.modules()].flatMap(([path, m]) =>
    m instanceof Linear && isBuilt(m) && !m.quantized && isMeant(path) ? [m] : [],
  );
  if (!chosen.length)
    throw new GraphError(
      `${op}: no Linear layer with weights has a path like ${String(targets ?? "any")}\n  net.modules() has the paths`,
    );
  for (const layer of chosen) checkPlain(op, layer);
  for (const layer of chosen) {
    const parts = quantized(layer.matrix(), format);
    const own = holdQuantized(layer, { ...format, activations });
    assign(own.words, parts.words);
    assign(own.scales, parts.scales);
    if (own.offsets) assign(own.offsets, parts.offsets!);
  }
  return net;
}

function checkPlain(op: string, layer: Linear): void {
  if (layer.weight.op !== "param")
    throw new GraphError(
      `${op}: the weight of a layer is computed, by a weight norm\n  call nn.removeWeightNorm first`,
    );
}

/**
 * Puts an empty quantized weight in the place of a layer's own, for values that are loaded: as
 * `quantizeWeights`, which fills it. No counterpart in PyTorch.
 *
 * @param layer A layer that has its weights.
 * @example
 *   const layer = new nn.Linear(64, 8);
 *   nn.holdQuantized(layer, { bits: 4 }).words.shape // [8, 8]
 */
export function holdQuantized(
  layer: Linear,
  options: QuantizedOptions & QuantizedProductOptions,
): QuantizedWeight {
  checkModule("holdQuantized", layer);
  if (!(layer instanceof Linear) || !isBuilt(layer) || layer.quantized)
    throw new GraphError(
      "holdQuantized: the layer has no weight of floats\n  give a Linear layer whose extents are known, and that is not quantized",
    );
  checkPlain("holdQuantized", layer);
  const [outputs, inputs] = layer.matrix().shape as [number, number];
  const own = new QuantizedWeight(outputs, inputs, options);
  const plain = layer.weight;
  Object.assign(layer, { weight: undefined, quantized: own });
  recordChange(layer, "quantizeWeights", options, () =>
    Object.assign(layer, { weight: plain, quantized: undefined }),
  );
  return own;
}
