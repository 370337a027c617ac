/**
 * What a run leaves behind and shows: checkpoints, event files, JSON lines, the report and the
 * terminal.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { data, setDefaultTarget } from "kiln-ml";
import * as train from "kiln-ml/train";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { duration } from "../../packages/train/src/callbacks/terminal.ts";
import { crc32c } from "../../packages/train/src/event-file.ts";
import { adam, classifier, inFolder, points, quiet } from "./samples.ts";

test.before(() => setDefaultTarget("js"));
test.after(() => setDefaultTarget("auto"));
const { metrics } = train;
const loaderOf = (count = 24, batch = 8) => new data.DataLoader(points(count), { batch });

test("checkpoints: the newest are kept and the best one, and evaluation resumes from it", () =>
  inFolder(async (folder) => {
    const history = await train.fit(classifier(), loaderOf(), {
      ...quiet,
      metrics: [metrics.accuracy()],
      validation: loaderOf(),
      epochs: 5,
      callbacks: [train.checkpoint(folder, { keep: 2, best: "val.loss" })],
    });
    assert.equal(readdirSync(folder).sort(), [
      "best.safetensors",
      "step-00000012.safetensors",
      "step-00000015.safetensors",
    ]);
    const net = classifier(5);
    const again = await train.fit(net, loaderOf(), {
      ...quiet,
      metrics: [metrics.accuracy()],
      validation: loaderOf(),
      epochs: 5,
      callbacks: [train.checkpoint(folder, { keep: 2, best: "val.loss" })],
      resume: join(folder, "best.safetensors"),
    });
    assert.equal(again.epochs, history.epochs, "a finished run has nothing to do");
    const logs = await train.evaluate(net, loaderOf(), quietLoss);
    assert.is(logs.loss, Math.min(...history.values("val.loss")));
  }));

const quietLoss = { loss: quiet.loss };

test("a damaged checkpoint is passed over for the one before it", () =>
  inFolder(async (folder) => {
    const callbacks = () => [train.checkpoint(folder)];
    await train.fit(classifier(), loaderOf(), { ...quiet, epochs: 2, callbacks: callbacks() });
    writeFileSync(join(folder, "step-00000006.safetensors"), "broken");
    const said: string[] = [];
    const { warn } = console;
    console.warn = (text: string) => said.push(text);
    const history = await train
      .fit(classifier(), loaderOf(), {
        ...quiet,
        epochs: 2,
        callbacks: callbacks(),
        resume: folder,
      })
      .finally(() => {
        console.warn = warn;
      });
    assert.equal(
      history.epochs.map(({ step }) => step),
      [3, 6],
    );
    assert.equal(said, [
      "resume: goes on from step-00000003.safetensors, since a newer file is damaged",
    ]);
  }));

/** Records of an event file, as the format describes them; throws where a checksum differs. */
function recordsOf(bytes: Buffer): Buffer[] {
  const mask = (c: number) => (((c >>> 15) | (c << 17)) + 0xa282ead8) >>> 0;
  const records: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = Number(bytes.readBigUInt64LE(at));
    const body = bytes.subarray(at + 12, at + 12 + length);
    assert.is(bytes.readUInt32LE(at + 8), mask(crc32c(bytes.subarray(at, at + 8))));
    assert.is(bytes.readUInt32LE(at + 12 + length), mask(crc32c(body)));
    records.push(body);
    at += 16 + length;
  }
  return records;
}

/** Fields of a protobuf message by number. */
function fieldsOf(bytes: Buffer): [number, Buffer | number][] {
  const fields: [number, Buffer | number][] = [];
  let at = 0;
  const varint = (): number => {
    let [value, scale] = [0, 1];
    for (;;) {
      const b = bytes[at++]!;
      value += (b & 127) * scale;
      if (b < 128) return value;
      scale *= 128;
    }
  };
  while (at < bytes.length) {
    const key = varint();
    const type = key & 7;
    const size = type === 2 ? varint() : type === 1 ? 8 : 4;
    if (type === 0) fields.push([key >> 3, varint()]);
    else {
      fields.push([key >> 3, bytes.subarray(at, at + size)]);
      at += size;
    }
  }
  return fields;
}

test("TensorBoard's files have right checksums, and the scalars of each epoch", () =>
  inFolder(async (folder) => {
    // RFC 3720, appendix B.4: 32 bytes of zeros, and of ones.
    assert.is(crc32c(new Uint8Array(32)), 0x8a9136aa);
    assert.is(crc32c(new Uint8Array(32).fill(255)), 0x62a8ab43);
    const history = await train.fit(classifier(), loaderOf(24 * 50), {
      ...quiet,
      epochs: 2,
      callbacks: [train.tensorBoard(folder)],
    });
    const [name = ""] = readdirSync(folder);
    assert.match(name, /^events\.out\.tfevents\.\d+\./);
    const [version, ...events] = recordsOf(readFileSync(join(folder, name)));
    assert.is(String(new Map(fieldsOf(version!)).get(3)), "brain.Event:2");
    const read = events.map((event) => {
      const fields = new Map(fieldsOf(event));
      const values = fieldsOf(fields.get(5) as Buffer).map(([, value]) => {
        const pair = new Map(fieldsOf(value as Buffer));
        return [String(pair.get(1)), (pair.get(2) as Buffer).readFloatLE()] as const;
      });
      return { step: fields.get(2), loss: new Map(values).get("loss") };
    });
    assert.equal(
      read,
      history.epochs.map(({ step, logs }) => ({ step, loss: Math.fround(logs.loss as number) })),
    );
  }));

test("JSON lines can be read line by line, NaN included", () =>
  inFolder(async (folder) => {
    const path = join(folder, "logs", "run.jsonl");
    await train.fit(classifier(), loaderOf(), {
      ...quiet,
      metrics: [metrics.mean("nothing", (y) => y.mul(NaN))],
      callbacks: [train.jsonLines(path)],
    });
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const events = lines.map((line) => JSON.parse(line));
    assert.equal(
      events.map(({ event }) => event),
      ["start", "epoch", "end"],
    );
    assert.is(events[1].logs.nothing, "NaN");
    assert.is(events[1].step, 3);
  }));

test("the report stands alone: curves, epochs, configuration, model", () =>
  inFolder(async (folder) => {
    const path = join(folder, "report.html");
    const history = await train.fit(classifier(), loaderOf(), {
      ...quiet,
      metrics: [metrics.accuracy()],
      validation: loaderOf(),
      epochs: 3,
      callbacks: [train.report(path)],
    });
    const page = readFileSync(path, "utf8");
    assert.not.match(page, /<script|https?:|src=|href=/);
    assert.is(page.match(/<svg/g)?.length, 2);
    assert.is(page.match(/<polyline/g)?.length, 4);
    assert.match(page, /Sequential: 3 of 3 epochs, finished/);
    assert.match(page, /prefers-color-scheme:dark/);
    const losses = history.values("val.loss");
    const best = losses.indexOf(Math.min(...losses)) + 1;
    assert.match(
      page,
      new RegExp(`<td>val\\.loss</td><td>[\\d.]+</td><td>[\\d.]+</td><td>${best}</td>`),
    );
    // Lines of a diagram stand at round numbers.
    const ticks = [...page.matchAll(/text-anchor="end">(-?[\d.e-]+)</g)].map(([, t]) => t!);
    assert.ok(ticks.length >= 6);
    assert.equal(
      ticks.filter((t) => t.replace(/\D/g, "").replace(/^0+/, "").length > 3),
      [],
    );
    assert.match(page, /adam, lr 0.05/);
    // What a step is compiled to: kernels by name, and memory.
    assert.match(page, /<td>target<\/td><td>(js|wasm)<\/td>/);
    const kernels = Number(/<td>kernels a step<\/td><td>(\d+)<\/td>/.exec(page)?.[1]);
    assert.ok(kernels > 0);
    assert.is(page.match(/<code>/g)?.length, kernels);
    assert.match(page, /<td>temporary buffers<\/td><td>[\d.]+ [KM]iB<\/td>/);
    assert.match(page, /Linear .*parameters\)/);
    assert.not.match(page, /NaN/);
  }));

test("without a terminal lines are plain; on one they are drawn over, several runs at once", async () => {
  const written: string[] = [];
  const out = (isTTY: boolean) => ({ isTTY, columns: 200, write: (s: string) => written.push(s) });
  const plain = out(false);
  await train.fit(classifier(), loaderOf(), {
    ...quiet,
    epochs: 2,
    renderer: train.terminal({ out: plain }),
  });
  assert.is(written.length, 2);
  assert.match(written[0]!, /^epoch 1\/2 {2}loss [\d.]+ {2}[\d.]+ m?s {2}\d+ samples\/s\n$/);
  assert.not(written.join("").includes("\x1b"));
  written.length = 0;
  const shared = out(true);
  const slow: train.Callback = {
    name: "slow",
    onStepEnd: () => new Promise((resolve) => setTimeout(resolve, 110)),
  };
  const one = (label: string) =>
    train.fit(classifier(), loaderOf(48), {
      ...quiet,
      callbacks: [slow],
      renderer: train.terminal({ out: shared, label, fancy: true }),
    });
  await Promise.all([one("a"), one("b")]);
  const text = written.join("");
  assert.match(text, /a: epoch 1\/1 .*\d\/6 .*loss .*samples\/s .*left/);
  assert.ok(written.some((s) => s.includes("a: epoch") && s.includes("b: epoch")));
  assert.is(train.sparkline([1, 2, 3, NaN, 8]), "▁▂▃ █");
});

test("durations have two digits or whole units", () => {
  const shown = [0, 0.0004, 0.042, 0.42, 4.25, 42, 185, 7800].map(duration);
  assert.equal(shown, [
    "0 s",
    "1 ms",
    "42 ms",
    "0.42 s",
    "4.3 s",
    "42 s",
    "3 min 5 s",
    "2 h 10 min",
  ]);
});

test("several seeds of one run are one result: the same again, others with another", async () => {
  const lossOf = async (seed: number) => {
    const net = new train.Sequential(new train.Sequential());
    net.layers.length = 0;
    for (const layer of classifier(seed).layers) net.add(layer as never);
    const history = await train.fit(net, loaderOf(), { ...quiet, optimizer: adam(), seed });
    return history.values("loss")[0]!;
  };
  assert.is(await lossOf(1), await lossOf(1));
  assert.is.not(await lossOf(1), await lossOf(2));
});

test("the lock goes with the run", () =>
  inFolder(async (folder) => {
    await train.fit(classifier(), loaderOf(), { ...quiet, callbacks: [train.checkpoint(folder)] });
    assert.not(existsSync(join(folder, ".lock")));
    // That of a process that is gone is taken over.
    writeFileSync(join(folder, ".lock"), "999999999\nnowhere\n");
    const message = await train
      .fit(classifier(), loaderOf(), { ...quiet, callbacks: [train.checkpoint(folder)] })
      .then(
        () => "",
        (error: Error) => error.message,
      );
    assert.match(message, /is in use by process 999999999 of nowhere/);
  }));

test.run();
