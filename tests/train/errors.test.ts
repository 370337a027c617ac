/**
 * What training refuses, word for word.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { data, GraphError, nn, setDefaultTarget, type Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { writeCheckpoint } from "../../packages/train/src/checkpoint-files.ts";
import { classifier, inFolder, messageOf, points, quiet } from "./samples.ts";

test.before(() => setDefaultTarget("js"));
test.after(() => setDefaultTarget("auto"));
const { metrics } = train;
const loader = () => new data.DataLoader(points(12), { batch: 4 });
const fit = (options: object, batches: unknown = loader()) =>
  train.fit(classifier(), batches as train.Batches, { ...quiet, ...options });

async function* nothing() {}

const cases: readonly (readonly [string, string, () => unknown])[] = [
  [
    "what is no module",
    "fit: takes a module first, got Function\n  give it an nn.Module, or one around your function",
    () => train.fit((() => 0) as never, loader(), quiet),
  ],
  [
    "what is no loader",
    "fit: takes a loader of batches, got Array\n  give it a data.DataLoader, or an async iterable of lists of arrays",
    () => fit({}, [1, 2]),
  ],
  [
    "an empty set",
    "fit: the loader has no batches\n  check what the data set was read from, and its split",
    () => fit({}, new data.DataLoader(data.subset(points(4), []), { batch: 2 })),
  ],
  [
    "an iterable without batches",
    "fit: the loader has no batches\n  check what the data set was read from, and its split",
    () => fit({}, { [Symbol.asyncIterator]: nothing }),
  ],
  [
    "a validation without batches",
    "fit: validation: the loader has no batches\n  check what the data set was read from, and its split",
    () => fit({ validation: { [Symbol.asyncIterator]: nothing } }),
  ],
  [
    "an option that is not",
    "fit: there is no option metric\n  did you mean metrics?",
    () => fit({ metric: [] }),
  ],
  [
    "no loss",
    "fit: needs a loss, got undefined\n  give it one: { loss: nn.crossEntropy }, or a step of your own",
    () => fit({ loss: undefined }),
  ],
  [
    "no optimizer",
    "fit: needs an optimizer, got undefined\n  give it one: { optimizer: (params) => new optim.Adam(params, { lr: 1e-3 }) }",
    () => fit({ optimizer: undefined }),
  ],
  [
    "half an epoch",
    "fit: epochs must be a whole number of 1 or more, got 0.5",
    () => fit({ epochs: 0.5 }),
  ],
  [
    "an unknown monitor",
    "earlyStopping: there is no val.los to monitor\n  this run has loss, accuracy, val.loss, val.accuracy",
    () =>
      fit({
        metrics: [metrics.accuracy()],
        validation: loader(),
        callbacks: [train.earlyStopping({ monitor: "val.los" })],
      }),
  ],
  [
    "a step without a loss",
    "fit: the step must give a loss, got undefined\n  return the loss, or { loss, output, target }",
    () => fit({ step: () => ({}) }),
  ],
  [
    "a metric of a step that gives nothing to measure",
    "accuracy: the step gives no output and target to measure\n  return { loss, output, target } from it",
    () => fit({ step: (x: Tensor) => x.sum(), metrics: [metrics.accuracy()] }),
  ],
  [
    "one name twice",
    "metrics: two of them are called accuracy\n  leave one out, or give it another name",
    () => fit({ metrics: [metrics.accuracy(), metrics.accuracy()] }),
  ],
  [
    "targets of the wrong kind",
    "accuracy: target must be integer classes, got f32\n  pass an Int32Array, or argMax(-1) of one-hot rows",
    () =>
      train.evaluate(
        classifier(),
        new data.DataLoader(
          data.fromArrays([new Float32Array(4), new Float32Array(4)], [[2], [2]]),
          {
            batch: 2,
          },
        ),
        { loss: nn.mse, metrics: [metrics.accuracy()] },
      ),
  ],
  [
    "a file to resume from that is not there",
    "resume: no/such.safetensors does not exist\n  give the folder of a run, or one of its files",
    () => fit({ resume: "no/such.safetensors" }),
  ],
  [
    "a Keras name that is not known",
    "compile: there is no optimizer adan\n  it knows adam, adamw, rmsprop, sgd; or give the function itself",
    () => new train.Sequential().compile({ optimizer: "adan", loss: "mse" }),
  ],
  [
    "a Keras model that is not compiled",
    "sequential: fit and evaluate need a loss\n  call compile({ optimizer, loss }) first",
    () => new train.Sequential().fit([[1]], [[1]]),
  ],
];

for (const [name, message, run] of cases)
  test(`refuses ${name}`, async () => {
    assert.is(await messageOf(run), message);
  });

test("a loss that is not finite ends the run, names its step, and is never saved", () =>
  inFolder(async (folder) => {
    let calls = 0;
    const samples = points(32);
    const broken: typeof samples = {
      ...samples,
      gather: async (indices) => {
        const [x, y] = await samples.gather(indices);
        // The loader asks for one sample first, to see the types.
        if (calls++ === 5) x[0] = NaN;
        return [x, y];
      },
    };
    const message = await messageOf(() =>
      fit(
        {
          epochs: 3,
          callbacks: [train.nanGuard({ every: 2 }), train.checkpoint(folder, { every: 1 })],
        },
        new data.DataLoader(broken, { batch: 4 }),
      ),
    );
    assert.is(
      message,
      "fit: the loss of step 5 is not finite\n  lower lr, clip gradients (clipNorm: 1), or look at the batch of that step",
    );
    assert.equal(readdirSync(folder).sort().at(-1), "step-00000004.safetensors");
  }));

test("two runs on one folder: the second one is refused, and the first goes on", () =>
  inFolder(async (folder) => {
    let message = "";
    const second: train.Callback = {
      name: "second",
      async onEpochEnd() {
        message = await messageOf(() => fit({ callbacks: [train.checkpoint(folder)] }));
      },
    };
    await fit({ callbacks: [second, train.checkpoint(folder)] });
    assert.is(
      message,
      `checkpoint: ${folder} is in use by this process\n  train into another folder, or remove ${join(folder, ".lock")} if that run is gone`,
    );
    assert.equal(readdirSync(folder), ["step-00000003.safetensors"]);
  }));

test("a full disk: says so, what is missing and what is still there", () =>
  inFolder(async (folder) => {
    await fit({ callbacks: [train.checkpoint(folder)] });
    const full = async () => {
      throw Object.assign(new Error("write"), { code: "ENOSPC" });
    };
    const bytes = new Uint8Array(10);
    assert.is(
      await messageOf(() => writeCheckpoint(folder, "step-00000006.safetensors", bytes, full)),
      `checkpoint: ${join(folder, "step-00000006.safetensors")} was not written, 10 bytes: the disk is full; ${join(folder, "step-00000003.safetensors")} is whole\n  make room, or keep fewer: { keep: 1 }; then go on with resume: ${JSON.stringify(folder)}`,
    );
  }));

test("a checkpoint of another model is refused before anything is changed", () =>
  inFolder(async (folder) => {
    await fit({ callbacks: [train.checkpoint(folder)] });
    nn.seed(1);
    const other = new nn.Linear(2, 2);
    const before = [...(await other.weight.data())];
    let caught: unknown;
    await train
      .fit(other, loader(), { ...quiet, resume: folder, epochs: 2 })
      .catch((e: unknown) => {
        caught = e;
      });
    assert.instance(caught, GraphError);
    assert.match(
      (caught as Error).message,
      /^loadState: the file does not fit: missing model\.weight/,
    );
    assert.equal([...(await other.weight.data())], before);
  }));

test.run();
