/** Models of the conformance suite, imported, exported and imported again, still give the suite's results. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  evaluate,
  fromHost,
  inlineCalls,
  input,
  makeValue,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import {
  checkGraph,
  Demand,
  dtypeOf,
  exportOnnx,
  hostOf,
  ImportedModel,
  type Value as OnnxValue,
  readModel,
  readTensor,
  type TensorDef,
  TensorValue,
} from "@kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { dataTest } from "../support/data.ts";
import { imported, near } from "./export-run.ts";

const readValue = (def: TensorDef): Value => {
  const dtype = dtypeOf(def.type);
  return makeValue(dtype, def.dims, fromHost(dtype, hostOf(def)));
};

interface Case {
  readonly outputs: readonly Tensor[];
  readonly feeds: ReadonlyMap<Tensor, Value>;
}

/** Larger inputs take the reference evaluator long. */
const maxElements = 2000;

/** The graph of a case whose inputs and results are tensors; undefined for others, and where values must be known. */
function importCase(folder: string): Case | undefined {
  const model = new ImportedModel(checkGraph(readModel(readFileSync(join(folder, "model.onnx")))));
  const feeds = new Map<Tensor, Value>();
  const given = new Map<string, OnnxValue>();
  for (const [i, { name, type }] of model.inputs.entries()) {
    if (type?.kind !== "tensor") return undefined;
    const def = readTensor(readFileSync(join(folder, "test_data_set_0", `input_${i}.pb`)));
    if (def.data.length > maxElements) return undefined;
    const leaf = input(name, dtypeOf(def.type), def.dims);
    feeds.set(leaf, readValue(def));
    given.set(name, new TensorValue(def.type, leaf));
  }
  try {
    const results = [...model.apply(given).values()];
    if (!results.every((v) => v.kind === "tensor")) return undefined;
    return { outputs: results.map((v) => v.tensor), feeds };
  } catch (error) {
    if (error instanceof Demand) return undefined;
    throw error;
  }
}

async function survives(name: string, { outputs, feeds }: Case): Promise<void> {
  const named = outputs.map((value, i) => ({ name: `y__${i}`, value }));
  const bytes = exportOnnx({ inputs: [...feeds.keys()], outputs: named });
  const again = await imported(bytes, outputs, feeds, {});
  const before = evaluate(inlineCalls(outputs), { inputs: feeds });
  for (const [i, { shape, data }] of before.entries()) {
    assert.equal([...again[i]!.dims], [...shape], name);
    assert.ok(
      data.every((x, k) => near(again[i]!.numbers[k]!, x, 1e-4)),
      `${name}: output ${i} is ${again[i]!.numbers.slice(0, 8)}, was ${data.slice(0, 8)}`,
    );
  }
}

/** Ops that ONNX has nothing for, or only from a later opset; and those that import does not take. */
const without = /bitcast|bernoulli|random|dropout|string|optional|sequence/;

dataTest("imported models survive export", "onnx-backend-tests", async (folder) => {
  let count = 0;
  for (const group of ["node", "pytorch-converted", "pytorch-operator"]) {
    const names = readdirSync(join(folder, group)).filter((name) => !without.test(name));
    for (const name of names.filter((_, i) => i % 20 === 5)) {
      let made: Case | undefined;
      try {
        made = importCase(join(folder, group, name));
      } catch {
        // What import refuses is not the matter here.
      }
      if (!made) continue;
      await survives(name, made);
      count++;
    }
  }
  assert.ok(count > 40, `only ${count} models were imported`);
});

test.run();
