/**
 * A run with all there is: metrics, validation, accumulation, half precision, four callbacks; and
 * its resume.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { data, nn, optim, setDefaultTarget } from "kiln-ml";
import * as train from "kiln-ml/train";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { classifier, inFolder, points } from "./samples.ts";

test.before(() => setDefaultTarget("js"));
test.after(() => setDefaultTarget("auto"));
const { metrics } = train;

test("all options at once, as they are shown to people, and the run goes on where it ended", () =>
  inFolder(async (folder) => {
    const run = (epochs: number) =>
      train.fit(classifier(), new data.DataLoader(points(48), { batch: 4, shuffle: true }), {
        optimizer: optim.adamW({ lr: 3e-2, clipNorm: 1 }),
        loss: nn.crossEntropy,
        metrics: [metrics.accuracy(), metrics.f1()],
        validation: new data.DataLoader(points(16), { batch: 8 }),
        epochs,
        accumulate: 4,
        precision: "f16",
        seed: 1,
        callbacks: [
          train.earlyStopping({ monitor: "val.loss", patience: 3 }),
          train.checkpoint(folder, { keep: 3, best: "val.accuracy" }),
          train.tensorBoard(folder),
          train.report(join(folder, "report.html")),
        ],
        resume: folder,
        renderer: false,
      });
    const first = await run(2);
    const all = await run(4);
    assert.equal(all.epochs.slice(0, 2), first.epochs);
    assert.equal(
      all.epochs.map(({ step }) => step),
      [12, 24, 36, 48],
    );
    assert.ok(all.values("val.loss")[3]! < all.values("val.loss")[0]!);
    assert.ok(existsSync(join(folder, "report.html")));
    assert.is(readdirSync(folder).filter((name) => name.startsWith("step-")).length, 3);
  }));

test.run();
