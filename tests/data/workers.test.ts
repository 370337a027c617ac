/** Batches that workers make: the same as without, in order, with errors that name the sample, and no process held. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { batchShapeOf, DataLoader, fromArrays, itemsOf, pad, serveBatches } from "@kiln-ml/data";
import { ArtifactError, DeviceError } from "@kiln-ml/ir";
import { build } from "esbuild";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, resultOf, withPage } from "../support/browser.ts";

const folder = mkdtempSync(join(tmpdir(), "kiln-workers-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** A script with all that it imports in one text. */
async function bundled(text: string, platform: "node" | "browser" = "node"): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: text, resolveDir: process.cwd(), loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform,
    conditions: ["@kiln-ml/source"],
    logLevel: "error",
  });
  return outputFiles[0]!.text;
}

let files = 0;

/** A function that starts workers of the module `text`. */
async function starter(text: string): Promise<() => Worker> {
  const path = join(folder, `${files++}.mjs`);
  writeFileSync(path, await bundled(text));
  return () => new Worker(pathToFileURL(path), { execArgv: [] });
}

const make = `
import { fromArrays, itemsOf, pad, serveBatches } from "@kiln-ml/data";
const set = fromArrays([
  Float32Array.from({ length: 40 }, (_, i) => i),
  Int32Array.from({ length: 20 }, (_, i) => i),
], [[2], []]);
`;
const same = () =>
  fromArrays(
    [
      Float32Array.from({ length: 40 }, (_, i) => i),
      Int32Array.from({ length: 20 }, (_, i) => i),
    ] as const,
    [[2], []],
  );

test("workers give the batches that there would be without, in order", async () => {
  const start = await starter(`${make}
    // Slower the sooner a batch comes.
    serveBatches({ ...set, gather: async (at) => {
      await new Promise((r) => setTimeout(r, 20 - at[0]));
      return set.gather(at);
    } });`);
  const options = { batch: 3, shuffle: true, seed: 2 };
  const loader = new DataLoader(same(), { ...options, workers: { count: 2, start } });
  for (let epoch = 0; epoch < 2; epoch++) {
    const expected: number[][] = [];
    for await (const [x, y] of new DataLoaderAt(epoch, options)) expected.push([...x, ...y]);
    const seen: number[][] = [];
    for await (const [x, y] of loader) {
      seen.push([...x, ...y]);
      assert.equal(batchShapeOf(x), [y.length, 2]);
    }
    assert.equal(seen, expected);
  }
  await loader.close();
});

class DataLoaderAt extends DataLoader<readonly [Float32Array, Int32Array]> {
  constructor(epoch: number, options: { batch: number; shuffle: boolean; seed: number }) {
    super(same(), options);
    this.epoch = epoch;
  }
}

test("collate runs in the workers, and what the samples hold stays there", async () => {
  const start = await starter(`${make}
    const lists = [Int32Array.of(1), Int32Array.of(2, 3), Int32Array.of(4, 5, 6)];
    serveBatches(itemsOf(lists), {
      collate: (s) => ({ own: s, padded: pad()(s) }),
    });`);
  const items = itemsOf([0, 1, 2].map(() => Int32Array.of(0)));
  const collate = (s: readonly Int32Array[]) => ({ own: s, padded: pad()(s) });
  const loader = new DataLoader(items, { batch: 3, collate, workers: { count: 1, start } });
  for (let epoch = 0; epoch < 2; epoch++)
    for await (const { own, padded } of loader) {
      assert.equal(
        own.map((a) => [...a]),
        [[1], [2, 3], [4, 5, 6]],
      );
      assert.equal([...padded], [1, 0, 0, 2, 3, 0, 4, 5, 6]);
      assert.equal(batchShapeOf(padded), [3, 3]);
    }
  await loader.close();
});

test("an error of a worker names the sample and is of the class that it has without", async () => {
  const start = await starter(`
    import { ArtifactError } from "@kiln-ml/ir";
    import { serveBatches } from "@kiln-ml/data";
    serveBatches({
      length: 4,
      name: (i) => "a.csv: row " + (i + 1),
      get: (i) => { if (i === 2) throw new ArtifactError("no number"); return i; },
    });`);
  const loader = new DataLoader(itemsOf([0, 1, 2, 3]), {
    batch: 1,
    collate: (s) => s,
    workers: { count: 2, start },
  });
  let seen = 0;
  let caught: unknown;
  try {
    for await (const _ of loader) seen++;
  } catch (error) {
    caught = error;
  }
  assert.is(seen, 2);
  assert.instance(caught, ArtifactError);
  assert.is((caught as Error).message, "dataLoader: sample 2 (a.csv: row 3): no number");
  await loader.close();
});

test("a worker that dies ends the loop, and says of what", async () => {
  const start = await starter("throw new Error('no such module');");
  const loader = new DataLoader(same(), { batch: 2, workers: { count: 1, start } });
  let caught: unknown;
  try {
    for await (const _ of loader) assert.unreachable();
  } catch (error) {
    caught = error;
  }
  assert.instance(caught, DeviceError);
  assert.is(
    (caught as Error).message,
    "dataLoader: worker 0 ended: no such module\n  its module must load by itself and call serveBatches",
  );
});

test("workers hold no process, in a loop that was left, nor after one that ended", async () => {
  const worker = join(folder, "held.mjs");
  writeFileSync(worker, await bundled(`${make} serveBatches(set);`));
  const main = join(folder, "main.mjs");
  const start = `() => new Worker(new URL(${JSON.stringify(pathToFileURL(worker).href)}))`;
  const text = `
import { Worker } from "node:worker_threads";
import { DataLoader } from "@kiln-ml/data";
${make}
const loader = () => new DataLoader(set, { batch: 2, workers: { count: 2, start: ${start} } });
let n = 0;
for await (const _ of loader()) n++;
for await (const _ of loader()) { n++; break; }
console.log(n);`;
  writeFileSync(main, await bundled(text));
  const printed = execFileSync(process.execPath, [main], { encoding: "utf8", timeout: 20_000 });
  assert.is(printed, "11\n");
});

/** Workers that were never started. */
const starts: Worker[] = [];

test("a module that is no worker, and workers that cannot be, are refused", () => {
  assert.throws(
    () => serveBatches(same()),
    'serveBatches: this module is no worker\n  start it as one: new Worker(new URL("./batches.js", import.meta.url))',
  );
  assert.throws(
    () =>
      new DataLoader(same(), {
        batch: 1,
        workers: { count: 0, start: () => starts.shift()! },
      }),
    'dataLoader: workers needs a count of 1 or more and a function that starts one\n  { count: 2, start: () => new Worker(new URL("./batches.js", import.meta.url)) }',
  );
});

browserTest("workers of a page make batches too", async () => {
  const page = await bundled(
    `import { DataLoader, batchShapeOf } from "@kiln-ml/data";
${make}
const start = () => new Worker("/worker.js", { type: "module" });
const loader = new DataLoader(set, { batch: 8, workers: { count: 2, start } });
const seen = [];
for await (const [x, y] of loader) seen.push([...y], batchShapeOf(x));
globalThis.result = JSON.stringify(seen);`,
    "browser",
  );
  const worker = await bundled(`${make} serveBatches(set);`, "browser");
  const html = '<!doctype html><script type="module" src="/page.js"></script>';
  const site = { files: { "/index.html": html, "/page.js": page, "/worker.js": worker } };
  await withPage(site, async (opened, { errors }) => {
    const upTo = (a: number, b: number) => Array.from({ length: b - a }, (_, i) => a + i);
    assert.equal(JSON.parse(String(await resultOf(opened))), [
      upTo(0, 8),
      [8, 2],
      upTo(8, 16),
      [8, 2],
      upTo(16, 20),
      [4, 2],
    ]);
    assert.equal(errors, []);
  });
});

test.run();
