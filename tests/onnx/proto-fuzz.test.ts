/** Whatever the bytes, the readers give a value or an ArtifactError, soon. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ArtifactError } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { checkGraph } from "../../packages/onnx/src/proto/check.ts";
import {
  readModel,
  readOptional,
  readSequence,
  readTensor,
} from "../../packages/onnx/src/proto/read.ts";
import { writeModel, writeTensor } from "../../packages/onnx/src/proto/write.ts";
import { dataTest } from "../support/data.ts";
import { mutations, seeded } from "../support/mutate.ts";
import { sampleModel, sampleWeights } from "../support/onnx-sample.ts";
import { runs } from "../support/setup.ts";

/** Of the process, not of the clock, since machines are busy: files here take a few milliseconds. */
const slowMs = 2000;

/** True if the bytes were read. Throws for any other error, or if it took long. */
function survives(bytes: Uint8Array, read: (bytes: Uint8Array) => unknown): boolean {
  const start = process.cpuUsage();
  try {
    read(bytes);
    return true;
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    assert.match(error.message, /^\S+: ./);
    return false;
  } finally {
    const { user, system } = process.cpuUsage(start);
    assert.ok((user + system) / 1000 < slowMs, "too slow");
  }
}

const external = () => new Uint8Array(1000);
const load = (bytes: Uint8Array) => checkGraph(readModel(bytes, { external }));

function fuzz(
  name: string,
  seed: Uint8Array,
  count: number,
  read = load as (b: Uint8Array) => unknown,
) {
  let [index, readable] = [0, 0];
  for (const bytes of mutations(seed, count, seeded(index + seed.length))) {
    try {
      if (survives(bytes, read)) readable++;
    } catch (error) {
      throw new Error(`${name}, mutation ${index}: ${(error as Error).stack}`);
    }
    index++;
  }
  return readable;
}

test("random bytes are refused or read", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const read of [load, readTensor, readSequence, readOptional]) survives(bytes, read);
    }),
    { numRuns: runs(500) },
  );
});

test("damaged models and tensors are refused or read", () => {
  const readable = fuzz("small model", writeModel(sampleModel), 3000);
  assert.ok(readable > 100, `only ${readable} of 3000 mutations can be read: they damage too much`);
  fuzz("tensor", writeTensor(sampleWeights), 1000, readTensor);
  const sequence = Uint8Array.of(
    0x10,
    1,
    0x1a,
    ...[writeTensor(sampleWeights)].flatMap((t) => [t.length, ...t]),
  );
  assert.equal(readSequence(sequence), [sampleWeights]);
  fuzz("sequence", sequence, 1000, readSequence);
  fuzz("optional", sequence, 1000, readOptional);
});

test("a model that is cut anywhere is refused or read", () => {
  const whole = writeModel(sampleModel);
  for (let length = 0; length < whole.length; length++) survives(whole.subarray(0, length), load);
});

const seeds = [
  "node/test_loop16_seq_none",
  "node/test_attention_4d_diff_heads_mask4d_padded_kv_expanded",
  "node/test_if",
  "node/test_lstm_defaults",
  "simple/test_sequence_model7",
  "pytorch-converted/test_Conv2d_groups",
  "pytorch-operator/test_operator_repeat",
  "node/test_constant",
];

dataTest("damaged models of others are refused or read", "onnx-backend-tests", (folder) => {
  let used = 0;
  for (const name of seeds) {
    let seed: Uint8Array;
    try {
      seed = readFileSync(join(folder, name, "model.onnx"));
    } catch {
      continue;
    }
    used++;
    fuzz(name, seed, 150);
  }
  assert.ok(used >= 4, `only ${used} of the models are in the archive`);
});

dataTest(
  "every model of the conformance suite is read, checked and written again",
  "onnx-backend-tests",
  (folder) => {
    let count = 0;
    for (const group of ["node", "simple", "pytorch-converted", "pytorch-operator"])
      for (const name of readdirSync(join(folder, group))) {
        const at = join(folder, group, name);
        const options = { file: name, external: (l: string) => readFileSync(join(at, l)) };
        const model = checkGraph(readModel(readFileSync(join(at, "model.onnx")), options), name);
        // Twice, since types that we cannot write do not occur in the suite.
        assert.equal(writeModel(readModel(writeModel(model))), writeModel(model), name);
        count++;
      }
    assert.ok(count > 1000, `${count} models`);
  },
);

test.run();
