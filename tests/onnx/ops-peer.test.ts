/**
 * Ops with random attributes give what ONNX Runtime gives.
 */
import { ImportedModel } from "@kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { OnnxModel, type OnnxTensor } from "../../packages/kiln/src/onnx.ts";
import { writeModel } from "../../packages/onnx/src/proto/write.ts";
import { type OnnxRuntime, runtimeTest } from "../support/onnxruntime.ts";
import { type Case, Chance, families } from "./random-nodes.ts";
import { modelOf, numbers } from "./small-model.ts";

const cases = 10;

async function agrees(ort: OnnxRuntime, { model, inputs }: Case, what: string): Promise<void> {
  const made = modelOf(model);
  const session = await ort.InferenceSession.create(writeModel(made), { logSeverityLevel: 4 });
  const feeds = Object.entries(inputs).map(
    ([name, t]) => [name, new ort.Tensor(t.type, t.data, t.dims)] as const,
  );
  const wanted = await session.run(Object.fromEntries(feeds));
  await session.release();
  const got = await new OnnxModel(new ImportedModel(made), { target: "js" }, {}).run(inputs);
  for (const [name, want] of Object.entries(wanted)) {
    const y = got[name] as OnnxTensor;
    assert.equal([...y.dims], [...want.dims], what);
    const values = numbers(y);
    for (const [i, v] of Array.from(want.data as ArrayLike<number | bigint>, Number).entries())
      assert.ok(
        values[i] === v || Math.abs(values[i]! - v) <= 1e-4 + 1e-3 * Math.abs(v),
        `${what}: ${name}[${i}] is ${values[i]}, not ${v}`,
      );
  }
}

for (const [name, make] of Object.entries(families))
  runtimeTest(`${name} gives what ONNX Runtime gives`, async (ort) => {
    const chance = new Chance(name.length);
    for (let i = 0; i < cases; i++) {
      const made = make(chance);
      const { op, attributes } = made.model.nodes[0]!;
      const shapes = JSON.stringify(made.model.inputs);
      await agrees(ort, made, `${op} ${JSON.stringify(attributes)} of ${shapes}`);
    }
  });

test.run();
