/** Random programs, exported and imported again, compute what they did; and every op of the IR has its row. */
import {
  allOps,
  evaluate,
  input,
  isInteger,
  makeValue,
  type Tensor,
  toHost,
  topologicalOrder,
  type Value,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { exportOnnx } from "../../packages/onnx/src/export/export.ts";
import { rowsFor } from "../../packages/onnx/src/export/rows/index.ts";
import { randomProgram, sampleDims } from "../support/graphs.ts";
import { runtimeTest } from "../support/onnxruntime.ts";
import { runs } from "../support/setup.ts";
import { steps } from "../support/steps.ts";
import { type Engine, imported, inRuntime, near } from "./export-run.ts";

test("every op of the IR has a row, is a leaf, or is known to have none", () => {
  const rows = rowsFor(() => []);
  const leaves = ["input", "param", "data", "constant"];
  const inlined = ["call", "result"];
  const without = allOps()
    .map(({ name }) => name)
    .filter((name) => !(name in rows) && !leaves.includes(name) && !inlined.includes(name));
  assert.equal(without, ["randomBits", "customKernel"]);
});

const exportable = Object.keys(steps).filter((name) => !/random|bitcast/i.test(name));

for (const symbolic of [false, true]) {
  const shapes = symbolic ? "symbolic" : "static";
  runtimeTest(`random programs of ${shapes} shapes compute the same in ONNX Runtime`, (ort) =>
    agree(inRuntime(ort), symbolic, ({ outputs }) =>
      topologicalOrder(outputs.map((o) => o.value)).every(isFitForRuntime),
    ),
  );
  test(`random programs of ${shapes} shapes compute the same when imported again`, () =>
    agree(imported, symbolic, () => true));
}

/** ONNX Runtime 1.30 ends the process when it folds some ops on empty tensors, and its integer products do not wrap. */
const isFitForRuntime = ({ op, dtype, shape }: Tensor): boolean =>
  !shape.includes(0) && !(isInteger(dtype) && (op === "reduceProd" || op === "cumprod"));

interface Outputs {
  readonly outputs: readonly { readonly value: Tensor }[];
}

async function agree(
  engine: Engine,
  symbolic: boolean,
  holds: (program: Outputs) => boolean,
): Promise<void> {
  const programs = randomProgram({ symbolic, ops: exportable });
  const property = fc.asyncProperty(programs, async ({ program, feeds }) => {
    fc.pre(holds(program));
    const sized = input("sized", "i32", ["N"]);
    for (const dims of symbolic ? sampleDims : [{}]) {
      const given = new Map(feeds(dims));
      const n = dims.N;
      if (n !== undefined) given.set(sized, makeValue("i32", [n], new Array(n).fill(0)));
      await same(engine, program, given, dims);
    }
  });
  await fc.assert(property, { numRuns: runs(40) });
}

async function same(
  engine: Engine,
  program: Outputs,
  given: ReadonlyMap<Tensor, Value>,
  dims: Readonly<Record<string, number>>,
): Promise<void> {
  const values = program.outputs.map((o) => o.value);
  const expected = evaluate(values, { inputs: given, dims });
  const inputs = [...given].filter(([t]) => t.op === "input");
  const outputs = values.map((value, i) => ({ name: `y${i}`, value }));
  const weights = (t: Tensor) => toHost(t.dtype, given.get(t)!.data);
  const bytes = exportOnnx({ inputs: inputs.map(([t]) => t), outputs }, { weights });
  const actual = await engine(bytes, values, new Map(inputs), dims);
  for (const [i, { shape, data }] of expected.entries()) {
    const text = () => `output ${i}: got ${[...actual[i]!.numbers]}, want ${[...data]}`;
    assert.equal([...actual[i]!.dims], [...shape], text());
    assert.ok(
      data.every((x, k) => near(actual[i]!.numbers[k]!, x, 1e-4)),
      text(),
    );
  }
}

test.run();
