/**
 * Layers whose weights become few bits: which are meant, and what is refused before any changes.
 */

import { GraphError } from "@kiln-ml/ir";
import { nn } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const three = () =>
  new nn.Sequential(new nn.Linear(4, 4), new nn.Linear(4, 4), new nn.Linear(4, 4));

for (const flags of ["", "g", "y"])
  test(`a pattern of flags "${flags}" means each layer that it matches`, () => {
    const pattern = new RegExp("\\d", flags);
    const net = nn.quantizeWeights(three(), { bits: 8, targets: pattern });
    assert.is([...net.buffers().keys()].length, 6);
    assert.is(nn.lora(three(), { rank: 1, targets: pattern }).parameters().length, 6);
  });

const refused = (f: () => unknown, message: string): void =>
  assert.throws(f, (e: Error) => e instanceof GraphError && e.message === message);

test("what cannot be quantized is refused before any layer changes", () => {
  const net = three();
  nn.weightNorm([...net.modules().values()].filter((m) => m instanceof nn.Linear)[1]!);
  const normed =
    "quantizeWeights: the weight of a layer is computed, by a weight norm\n  call nn.removeWeightNorm first";
  refused(() => nn.quantizeWeights(net, { bits: 8 }), normed);
  assert.is([...net.buffers().keys()].length, 0);
  const asText = "quantizeWeights: paths are matched by a RegExp, got string\n  say /^name/";
  refused(() => nn.quantizeWeights(net, { bits: 8, targets: "0" as never }), asText);
  const layer = new nn.Linear(4, 4);
  const unknown =
    "quantizedWeight: activations is i4, not f32 or i8\n  take f32 where every digit counts";
  refused(() => nn.holdQuantized(layer, { bits: 8, activations: "i4" as never }), unknown);
  const absent = "quantizedWeight: options are undefined\n  say { bits: 4 } or { bits: 8 }";
  refused(() => nn.holdQuantized(layer, undefined as never), absent);
  assert.is(layer.quantized, undefined);
});

test.run();
