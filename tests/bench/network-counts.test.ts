/**
 * What a step of a network launches and keeps, counted for a card without one: what another block
 * or layer adds. Times are measured elsewhere.
 */
import { input, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { program } from "../../bench/cases.ts";
import { gpt, type NetworkRow } from "../../bench/gpu-network-cases.ts";
import {
  cardSketch,
  countsOf,
  type NetworkCounts,
  networkCountRows,
} from "../../bench/gpu-network-counts.ts";

const [batch, channels, size] = [32, 64, 56];
const activationBytes = 4 * batch * channels * size ** 2;

/** Convolutions with BatchNorm and ReLU, trained by SGD with momentum. */
function convolutions(blocks: number): NetworkCounts {
  const net = new nn.Sequential(
    ...Array.from({ length: blocks }, () => [
      new nn.Conv2d(channels, channels, 3, { padding: 1, bias: false }),
      new nn.BatchNorm2d(channels),
      new nn.ReLU(),
    ]).flat(),
  );
  const [x, y] = [
    input("x", "f32", [batch, channels, size, size]),
    input("y", "f32", [batch, channels]),
  ];
  const lossOf = (): Tensor => net.forward(x).mean([2, 3]).sub(y).square().mean();
  const step = program([x, y], () => {
    const loss = lossOf();
    const rule = { lr: 0.01, momentum: 0.9, weightDecay: 1e-4 };
    new optim.SGD(net.parameters(), rule).step(loss);
    return loss;
  });
  return countsOf(step, cardSketch(false));
}

/** What one more of them adds. */
function added<T extends "launches" | "slotBytes">(
  of: (count: number) => NetworkCounts,
  what: T,
): number {
  const [some, more] = [of(2), of(6)];
  return (more[what] - some[what]) / 4;
}

test("a convolution with BatchNorm and ReLU takes ten launches, forward and backward", () => {
  // Forward: the product, both sums of parts, those joined, the norm. Backward: the same but for
  // one, and the weight's gradient, whose parts are joined with those of other layers.
  assert.ok(added(convolutions, "launches") <= 10, `${added(convolutions, "launches")}`);
});

test("a convolution with BatchNorm and ReLU keeps its product and its result, and no gradient", () => {
  const bytes = added(convolutions, "slotBytes");
  assert.ok(bytes <= 2.1 * activationBytes, `${bytes / activationBytes} activations`);
});

for (const [half, most] of [
  [false, 30],
  [true, 31],
] as const)
  test(`a layer of GPT takes ${most} launches, forward and backward, ${half ? "in halves" : "in f32"}`, () => {
    const layers = (count: number): NetworkCounts => {
      const sizes = { width: 768, heads: 12, layers: count, tokens: 512, vocabulary: 8192 };
      return countsOf(gpt(sizes, 8, half), cardSketch(half));
    };
    assert.ok(added(layers, "launches") <= most, `${added(layers, "launches")}`);
  });

test("launches of a table's row are those of its kinds", () => {
  const sizes = { width: 64, heads: 2, layers: 1, tokens: 32, vocabulary: 64 };
  const row: NetworkRow = {
    name: "small",
    build: () => gpt(sizes, 2, false),
    work: ["gpt"],
    classes: 64,
    goal: 1,
  };
  const [all, ...kinds] = networkCountRows((name) => name === "small", [row]);
  const memory = kinds.pop()!;
  assert.is(all!.metric, "launches");
  assert.is(memory.metric, "temporary memory");
  assert.is(
    kinds.reduce((sum, { value }) => sum + value!, 0),
    all!.value,
  );
  assert.equal(
    networkCountRows(() => false, [row]),
    [],
  );
});

test.run();
