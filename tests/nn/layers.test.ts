/**
 * Layers against PyTorch: results and gradients, with the reference evaluator.
 */
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import { checkLayer, fixture, type LayerCase } from "./fixture.ts";

type ConvCase = LayerCase & { readonly config?: nn.ConvOptions };
const cases = fixture<Record<string, ConvCase>>("layers");

const layers: Record<string, (options: nn.ConvOptions | undefined) => nn.Layer> = {
  linear: () => new nn.Linear(4, 3),
  "linear no bias": () => new nn.Linear(4, 3, { bias: false }),
  conv2d: (o) => new nn.Conv2d(2, 4, 3, o),
  "conv2d stride 2 pad 1": (o) => new nn.Conv2d(2, 4, 3, o),
  "conv2d dilation 2": (o) => new nn.Conv2d(2, 4, 3, o),
  "conv2d groups 2": (o) => new nn.Conv2d(2, 4, 3, o),
  "conv2d stride 2,1 pad 1,0": (o) => new nn.Conv2d(2, 4, 3, o),
  "conv2d same": () => new nn.Conv2d(2, 3, [3, 2], { padding: "same" }),
  conv1d: () => new nn.Conv1d(2, 3, 3, { stride: 2, padding: 1 }),
  layerNorm: () => new nn.LayerNorm(5),
  "layerNorm 2 axes": () => new nn.LayerNorm([2, 3]),
  groupNorm: () => new nn.GroupNorm(2, 4),
  embedding: () => new nn.Embedding(6, 3),
  maxPool: () => new nn.MaxPool2d(2),
  "maxPool overlap": () => new nn.MaxPool2d(3, { stride: 2, padding: 1 }),
  avgPool: () => new nn.AvgPool2d(2),
  "avgPool overlap": () => new nn.AvgPool2d(3, { stride: 2, padding: 1 }),
  "adaptiveAvgPool 1": () => new nn.AdaptiveAvgPool2d(1),
  "adaptiveAvgPool 2,3": () => new nn.AdaptiveAvgPool2d([2, 3]),
};

for (const [name, c] of Object.entries(cases))
  test(`${name} agrees with PyTorch`, () => checkLayer(layers[name]!(c.config), c));

test.run();
