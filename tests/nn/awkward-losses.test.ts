/**
 * Every loss and its gradient on a batch of none, of one, and of a size that is known at the run
 * alone, in f32 and under mixed precision. js gives the bits of the reference; a sum over nothing is
 * 0, and one sample gives numbers.
 */
import { readFileSync } from "node:fs";
import {
  type Dim,
  type Dtype,
  dim,
  grad,
  input,
  makeValue,
  type Tensor,
  trace,
  type Value,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { createCpuDevice } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";

type Loss = (xs: readonly Tensor[], reduction: nn.Reduction) => Tensor;
type Given = readonly [shape: readonly (number | "N")[], dtype?: Dtype];

const rows: Given = [["N", 3]];
const row: Given = [["N"]];
const classes: Given = [["N"], "i32"];
const images: Given = [["N", 2, 3]];

// biome-ignore format: one loss a row
const losses: Readonly<Record<string, readonly [Loss, ...Given[]]>> = {
  bce: [([x, t], reduction) => nn.bce(x!.sigmoid(), t!.sigmoid(), { reduction }), rows, rows],
  bceWithLogits: [([x, t], reduction) => nn.bceWithLogits(x!, t!.sigmoid(), { reduction }), rows, rows],
  cosineEmbedding: [([a, b, y], reduction) => nn.cosineEmbedding(a!, b!, y!.sign(), { reduction }), rows, rows, row],
  crossEntropy: [([x, t], reduction) => nn.crossEntropy(x!, t!, { reduction }), rows, classes],
  ctc: [([x, t], reduction) => nn.ctc(x!.logSoftmax(), t!.add(1), { reduction }), [[4, "N", 3]], [["N", 2], "i32"]],
  dice: [([p, t], reduction) => nn.dice(p!.sigmoid(), t!.sigmoid(), { reduction }), rows, rows],
  focal: [([x, t], reduction) => nn.focal(x!, t!.sigmoid(), { reduction }), rows, rows],
  gaussianNll: [([x, t, v], reduction) => nn.gaussianNll(x!, t!, v!.square().add(1), { reduction }), rows, rows, rows],
  gramMatrix: [([x]) => nn.gramMatrix(x!).sum(), images],
  gramMatrixLoss: [([x, t], reduction) => nn.gramMatrixLoss(x!, t!, { reduction }), images, images],
  hingeEmbedding: [([x, y], reduction) => nn.hingeEmbedding(x!, y!.sign(), { reduction }), rows, rows],
  huber: [([x, t], reduction) => nn.huber(x!, t!, { reduction }), rows, rows],
  infoNce: [([q, k], reduction) => nn.infoNce(q!, k!, { reduction }), rows, rows],
  klDiv: [([x, t], reduction) => nn.klDiv(x!.logSoftmax(), t!.softmax(), { reduction }), rows, rows],
  l1: [([x, t], reduction) => nn.l1(x!, t!, { reduction }), rows, rows],
  lp: [([x, t], reduction) => nn.lp(x!, t!, { p: 3, reduction }), rows, rows],
  marginRanking: [([a, b, y], reduction) => nn.marginRanking(a!, b!, y!.sign(), { reduction }), row, row, row],
  mse: [([x, t], reduction) => nn.mse(x!, t!, { reduction }), rows, rows],
  multiLabelSoftMargin: [([x, t], reduction) => nn.multiLabelSoftMargin(x!, t!.sigmoid(), { reduction }), rows, rows],
  multiMargin: [([x, t], reduction) => nn.multiMargin(x!, t!, { reduction }), rows, classes],
  nll: [([x, t], reduction) => nn.nll(x!.logSoftmax(), t!, { reduction }), rows, classes],
  poissonNll: [([x, t], reduction) => nn.poissonNll(x!, t!.abs(), { reduction }), rows, rows],
  rnnt: [([x, t], reduction) => nn.rnnt(x!, t!, { reduction }), [["N", 3, 3, 3]], [["N", 2], "i32"]],
  smoothL1: [([x, t], reduction) => nn.smoothL1(x!, t!, { reduction }), rows, rows],
  softMargin: [([x, y], reduction) => nn.softMargin(x!, y!.sign(), { reduction }), rows, rows],
  tripletMargin: [([a, p, n], reduction) => nn.tripletMargin(a!, p!, n!, { reduction }), rows, rows, rows],
};

test("every loss of the reference is tried", () => {
  const page = readFileSync("docs/reference/losses.md", "utf8");
  const names = [...page.matchAll(/^## nn\.(\w+)/gm)].map(([, name]) => name!);
  assert.equal(Object.keys(losses).sort(), names.sort());
});

const device = createCpuDevice({ poison: true });
const N = dim("N", { min: 0 });

function numbers(dtype: Dtype, shape: readonly number[], seed: number): Value {
  const count = shape.reduce((a, b) => a * b, 1);
  const at = (i: number) => (dtype === "i32" ? (i + seed) % 2 : Math.sin(3 * i + seed + 1));
  return makeValue(
    dtype,
    shape,
    Array.from({ length: count }, (_, i) => at(i)),
  );
}

/** The loss and its gradients of n samples, which js gives as the reference does. */
async function resultsOf(name: string, reduction: nn.Reduction, n: number, half: boolean) {
  const [loss, ...given] = losses[name]!;
  const xs = given.map(([shape, dtype = "f32"], i) =>
    input(
      `x${i}`,
      dtype,
      shape.map((d): Dim => (d === "N" ? N : d)),
    ),
  );
  const define = () => loss(xs, reduction).sum();
  const { value } = trace(() => {
    const y = half ? nn.autocast("f16", define) : define();
    return [y, ...grad(y, [xs[0]!])];
  });
  const program = {
    inputs: xs,
    outputs: value.map((v, i) => ({ name: `y${i}`, value: v })),
    updates: [],
  };
  const feeds = new Map(
    given.map(([shape, dtype = "f32"], i) => [
      xs[i]!,
      numbers(
        dtype,
        shape.map((d) => (d === "N" ? n : d)),
        i,
      ),
    ]),
  );
  const want = evaluateProgram(program, feeds, { N: n });
  const options = { target: "js", rounding: "each-op" } as const;
  const { values } = await runProgram(program, feeds, { N: n }, device, options);
  for (const [i, v] of values.entries())
    assert.ok(sameValue(v, want[i]!), `result ${i} of ${n}: ${v.data}, want ${want[i]!.data}`);
  return values;
}

for (const name of Object.keys(losses))
  test(`${name} takes no sample, one, and a number known at the run`, async () => {
    const [none] = await resultsOf(name, "sum", 0, false);
    assert.equal([...none!.data], [0]);
    for (const half of [false, true])
      for (const v of await resultsOf(name, "mean", 1, half))
        assert.ok(v.data.every(Number.isFinite), `${half}: ${v.data}`);
  });

test.run();
