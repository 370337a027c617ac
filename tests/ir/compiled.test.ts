/**
 * Composites, their gradients and random numbers over a symbolic batch, compiled and run, against the reference: bit for bit
 * on js, within the ulps of the ops on wasm.
 */
import * as ir from "@kiln-ml/ir";
import { grad, input, makeValue, random, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import "../support/setup.ts";
import { agreesOnJs, agreesOnWasm } from "../support/targets.ts";

const N = 3;
const numbers = [0.5, -1.25, 3, 0, -0, 7.5, -4, 1e-3, 2, -90, 90, 1];

const ofOne: readonly ((x: Tensor) => Tensor)[] = [
  ...[ir.relu, ir.relu6, ir.leakyRelu, ir.elu, ir.celu, ir.selu, ir.gelu, ir.geluTanh, ir.silu],
  ...[ir.mish, ir.softplus, ir.logSigmoid, ir.softsign, ir.hardSigmoid, ir.hardSwish, ir.hardTanh],
  ...[ir.square, ir.softmax, ir.logSoftmax, ir.logSumExp, ir.mean, ir.variance, ir.norm],
  ...[ir.normalize],
];

const on = { js: agreesOnJs, wasm: agreesOnWasm };

async function agrees(target: keyof typeof on, x: Tensor, values: readonly Tensor[]) {
  const outputs = values.map((value, i) => ({ name: `y${i}`, value }));
  const program = { inputs: [x], outputs, updates: [] };
  await on[target](program, new Map([[x, makeValue("f32", [N, 4], numbers)]]), { N });
}

for (const target of ["js", "wasm"] as const) {
  for (const f of ofOne)
    test(`${target}: ${f.name} and its gradient run as the reference says`, async () => {
      const x = input("x", "f32", ["N", 4]);
      const y = f(x);
      await agrees(target, x, [y, ...grad(y.mul(y).sum(), [x])]);
    });

  test(`${target}: reductions over the batch read its symbolic extent`, async () => {
    const x = input("x", "f32", ["N", 4]);
    await agrees(target, x, [
      x.mean(0),
      x.variance(0),
      x.std(0, { correction: 1 }),
      x.logSumExp(0),
    ]);
  });

  test(`${target}: random numbers are those of the reference`, async () => {
    const x = input("x", "f32", ["N", 4]);
    const [a, b] = random.split(random.key(7), 2) as [Tensor, Tensor];
    const normal = random.normal(a, ["N", 4]);
    await agrees(target, x, [
      random.bits(b, [5]),
      random.uniform(b, ["N", 4], { low: -2, high: 2 }),
      normal.add(x),
      random.randint(b, [6], -3, 4),
      random.bernoulli(a, x.sigmoid(), ["N", 4]),
    ]);
  });

  test(`${target}: codes, products and constants run as the reference says`, async () => {
    const x = input("x", "f32", ["N", 4]);
    const labels = x.abs().convert("i32").argMax(1);
    await agrees(target, x, [
      ir.oneHot(labels, 4),
      ir.logAddExp(x, x.reverse(1)),
      ir.lerp(x, 1, 0.25),
      ir.clamp(x, -1, 1),
      ir.outer(x.sum(0), ir.linspace(0, 1, 3)),
      ir.eye(4).matmul(ir.arange(4, "f32").expandDims(1)),
      ir.where(x.greater(0), x, Number.NaN),
    ]);
  });
}

test.run();
