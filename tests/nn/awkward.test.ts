/**
 * Every public layer, with its gradients, on a batch of none, of one, and of a size that is known at
 * the run alone; on a view in the place of a tensor of its own. js gives the bits of the reference,
 * and what a layer keeps stays finite.
 */
import {
  type Dim,
  type Dtype,
  dim,
  evaluate,
  evaluateDim,
  grad,
  initialValueOf,
  input,
  makeValue,
  Tensor,
  trace,
  type Value,
  withRequirements,
} from "@kiln-ml/ir";
import type * as nn from "@kiln-ml/nn";
import { createCpuDevice } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { layers } from "./every-layer.ts";
import { cases } from "./module-cases.ts";

/**
 * Layers whose first axis is no batch: nodes of a graph that is given, rows beside a second input.
 */
const withoutBatch = new Set([
  "GATConv",
  "GCNConv",
  "GINConv",
  "SAGEConv",
  ...Object.values(cases).flatMap((c) => (c.other ? [c.type] : [])),
]);

/** Layers that keep statistics of a batch refuse runs of too few samples, rather than keep NaN. */
const refusing: Readonly<Record<string, readonly number[]>> = {
  BatchNorm1d: [0, 1],
  BatchNorm2d: [0],
  BatchNorm3d: [0],
  InstanceNorm2d: [0],
  InstanceNorm3d: [0],
};

type Layer = nn.Module & { forward(x: Tensor): unknown };
type View = (x: Tensor) => Tensor;

const device = createCpuDevice({ poison: true });
const N = dim("N", { min: 0 });

/** The result, and all gradients. */
function programOf(layer: Layer, x: Tensor, view: View = (t) => t): Program {
  const { value, updates } = trace(() => {
    const out = layer.forward(view(x));
    const y = out instanceof Tensor ? out : (out as { y: Tensor }).y;
    const from = [...(x.dtype === "f32" ? [x] : []), ...layer.parameters()];
    return [y, ...(from.length ? grad(y.mul(y).sum(), from) : [])];
  });
  const outputs = value.map((v, i) => ({ name: `out${i}`, value: v }));
  return { inputs: [x], outputs, updates: [...updates] };
}

function numbers(dtype: Dtype, shape: readonly number[]): Value {
  const count = shape.reduce((a, b) => a * b, 1);
  const at = (i: number) => (dtype === "i32" ? i % 2 : Math.sin(3 * i + 1));
  return makeValue(
    dtype,
    shape,
    Array.from({ length: count }, (_, i) => at(i)),
  );
}

/** What js gives, which is what the reference gives. */
async function resultsOf(layer: Layer, program: Program, shape: readonly number[], dims = {}) {
  const [x] = program.inputs as [Tensor];
  const feeds = new Map([[x, numbers(x.dtype, shape)]]);
  for (const t of layer.state().values()) feeds.set(t, evaluate([initialValueOf(t)])[0]!);
  const want = evaluateProgram(program, feeds, dims);
  const options = { target: "js", rounding: "each-op" } as const;
  const { values } = await runProgram(program, feeds, dims, device, options);
  for (const [i, v] of values.entries())
    assert.ok(sameValue(v, want[i]!), `result ${i} of ${shape}: ${v.data}, want ${want[i]!.data}`);
  return values;
}

const allFinite = ({ data }: Value): boolean => data.every(Number.isFinite);

for (const [name, [make, shape, dtype = "f32"]] of Object.entries(layers)) {
  if (!withoutBatch.has(name))
    test(`${name} takes no sample, one, and a number known at the run`, async () => {
      const layer = make() as Layer;
      const rest = shape.slice(1);
      const { value: program, requirements } = withRequirements(() =>
        programOf(layer, input("x", dtype, [N as Dim, ...rest])),
      );
      const refused = [0, 1].filter((n) =>
        requirements.some((r) => evaluateDim(r.value, { N: n }) < 0),
      );
      assert.equal(refused, refusing[name] ?? []);
      for (const n of [0, 1].filter((k) => !refused.includes(k))) {
        const values = await resultsOf(layer, program, [n, ...rest], { N: n });
        const kept = values.slice(program.outputs.length);
        const seen = n ? values : kept;
        assert.ok(seen.every(allFinite), `${n} samples: ${seen.map((v) => String(v.data))}`);
      }
    });

  if (shape.length > 1)
    test(`${name} takes a view`, async () => {
      const layer = make() as Layer;
      const last = shape.length - 1;
      const order = shape.map((_, i) => (i >= last - 1 ? last + last - 1 - i : i));
      const turned = order.map((i) => shape[i]!);
      const view: View = (t) => t.transpose(order).reverse([last]);
      await resultsOf(layer, programOf(layer, input("x", dtype, turned), view), turned);
    });
}

test.run();
