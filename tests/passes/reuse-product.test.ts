/**
 * Sums taken from a product that is there: where the gradient of attention is computed so, and that rows scaled by 0 keep their
 * values, since there is no dividing by such a scale.
 */
import { grad, input, makeValue, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { reuseProduct } from "../../compiler/src/passes/reuse-product.ts";
import { graphPasses } from "../../compiler/src/pipeline.ts";
import { nodesOf, type Program } from "../../compiler/src/program.ts";
import { evaluateProgram } from "../support/reference.ts";

const f32 = (name: string, ...shape: number[]): Tensor => input(name, "f32", shape);
const [q, k, v] = [f32("q", 3, 4), f32("k", 5, 4), f32("v", 5, 2)];
const [g, scale] = [f32("g", 3, 2), f32("scale", 3)];
const inputs = [q, k, v, g, scale];
const ofRows = scale.reshape([3, 1]);

/** What graph passes make of it. */
const programOf = (...values: readonly Tensor[]): Program =>
  graphPasses.reduce((program, pass) => pass.run(program), {
    inputs,
    outputs: values.map((value, i) => ({ name: `y${i}`, value })),
    updates: [],
  } as Program);

const softmax = q.matmul(k.transpose([1, 0])).softmax(-1);
const step = (y: Tensor): Program => programOf(y, ...grad(y.mul(g).sum(), [q, k, v]));

const countOf = (program: Program): number =>
  nodesOf(program).filter((t) => t.op === "reduceSum" && t.operands[0]!.shape[1] === 2).length;

const feeds = new Map(
  inputs.map((t, at) => {
    const shape = t.shape as number[];
    const size = shape.reduce((a, b) => a * b, 1);
    const data = Array.from({ length: size }, (_, i) => Math.sin(12.9898 * (i + 1) + at));
    return [t, makeValue("f32", shape, t === scale ? [1, 0, 2] : data)] as const;
  }),
);

function agrees(program: Program, taken: number): void {
  const next = reuseProduct.run(program);
  assert.is(countOf(next), taken);
  const [want, got] = [program, next].map((p) =>
    evaluateProgram(p, feeds).flatMap((value) => [...value.data].map(Number)),
  );
  for (const [i, x] of want!.entries())
    assert.ok(Math.abs(got![i]! - x) <= 1e-6 * Math.max(1, Math.abs(x)), `${got![i]} for ${x}`);
}

test("the gradient of attention takes its sum over keys from the result", () => {
  agrees(step(softmax.matmul(v)), 1);
});

test("and where rows of the weights are scaled, by 0 too", () => {
  agrees(step(softmax.mul(ofRows).matmul(v)), 1);
});

test("a sum of what is not scaled is not taken from scaled rows", () => {
  const products = g.matmul(v.transpose([1, 0]));
  const weights = q.matmul(k.transpose([1, 0])).tanh();
  agrees(programOf(weights.mul(ofRows).matmul(v), products.mul(weights).sum(-1)), 0);
  agrees(programOf(weights.matmul(v), products.mul(weights).mul(ofRows).sum(-1)), 1);
});

test("a sum of a long product, or of squares of squares, beside attention is left alone", () => {
  const base = step(softmax.matmul(v));
  const long = Array.from({ length: 20_000 }).reduce<Tensor>((t) => t.mul(scale), scale);
  const squares = Array.from({ length: 64 }).reduce<Tensor>((t) => t.mul(t), scale);
  const sums = [long, squares].map((value, i) => ({ name: `s${i}`, value: value.sum(-1) }));
  const next = reuseProduct.run({ ...base, outputs: [...base.outputs, ...sums] });
  assert.is(countOf(next), 1);
});

test.run();
