/** Every structural op on random shapes and attributes, symbols bound, and its gradient: text = reference. */
import {
  type Dtype,
  evaluate,
  grad,
  isFloat,
  opRecord,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import * as fc from "fast-check";
import { test } from "uvu";
import {
  Builder,
  cases,
  gatherCase,
  random,
  scatterCase,
  sortCase,
} from "../ir-structural/cases.ts";
import { runs } from "../support/setup.ts";
import { agree, byText } from "./law.ts";

const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });

function judge(
  roots: readonly Tensor[],
  inputs: ReadonlyMap<Tensor, Value>,
  dims: Record<string, number>,
) {
  const outputs = roots.map((value, i) => ({ name: `y${i}`, value }));
  const program = { inputs: [...inputs.keys()], outputs, updates: [] };
  const want = evaluate(roots, { inputs, dims });
  agree(byText(program, inputs, dims), want, () => String(roots[0]), 32);
}

/** Symbols that the program has; a builder may have made more. */
function used(roots: readonly Tensor[], b: Builder): Record<string, number> {
  const text = JSON.stringify([...b.inputs.keys(), ...roots].map((t) => t.toString()));
  return Object.fromEntries(Object.entries(b.dims).filter(([name]) => text.includes(name)));
}

const all: Record<string, (b: Builder) => Tensor> = {
  ...cases,
  gather: gatherCase,
  argSort: sortCase,
};
for (const mode of ["add", "mul", "max", "min", "set"] as const)
  all[`scatter ${mode}`] = (b) => scatterCase(b, mode);

for (const [name, make] of Object.entries(all))
  for (const dtype of ["f64", "f32", "i32"] as Dtype[])
    test(`the text of ${name} on ${dtype} and of its gradient has the reference's values`, () => {
      fc.assert(
        fc.property(seeds, fc.boolean(), (seed, symbolic) => {
          const b = new Builder(random(seed), symbolic, dtype);
          const y = make(b);
          judge([y], b.inputs, used([y], b));
          if (!isFloat(y.dtype) || !opRecord(y.op).vjp) return;
          const xs = [...b.inputs.keys()].filter((t) => isFloat(t.dtype));
          const gradients = grad(y.mul(y).sum(), xs);
          judge(gradients, b.inputs, used([...gradients, y], b));
        }),
        { numRuns: runs(8), includeErrorInReport: true } as fc.Parameters<[number, boolean]>,
      );
    });

test.run();
