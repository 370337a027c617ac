/**
 * A page in chunks asks for those that `npm run size` counts: what a program for its target comes to need, and nothing of
 * other targets, of WebGPU or of threads.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { bundled, downloaded, pages } from "../../packages/tools/src/page-size.ts";

const page = (target: string): string => `
  import { compile, nn, optim, tensor } from "kiln-ml";
  const layer = new nn.Linear(4, 2);
  const sgd = new optim.SGD(layer.parameters(), { lr: 0.1 });
  const step = compile(
    (x) => {
      const loss = layer.forward(x).square().mean();
      sgd.step(loss);
      return loss;
    },
    { target: "${target}", threads: 1 },
  );
  await step(tensor([[1, 2, 3, 4]]));`;

/** The chunks that are evaluated while the page trains, and those that count for it. */
async function chunksOf(target: string, loads: RegExp): Promise<[string[], string[]]> {
  const { outputFiles, metafile } = await bundled(page(target));
  mkdirSync("node_modules/.cache", { recursive: true });
  const folder = mkdtempSync("node_modules/.cache/kiln-page-");
  const evaluated: string[] = [];
  Object.assign(globalThis, { kilnEvaluated: evaluated });
  try {
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    for (const { path, text } of outputFiles) {
      const name = basename(path);
      const mark = `globalThis.kilnEvaluated.push("${name}");`;
      writeFileSync(join(folder, name), mark + text);
    }
    await import(pathToFileURL(resolve(folder, "stdin.js")).href);
  } finally {
    Reflect.deleteProperty(globalThis, "kilnEvaluated");
    rmSync(folder, { recursive: true, force: true });
  }
  return [
    evaluated.sort(),
    downloaded(metafile, loads)
      .map((name) => basename(name))
      .sort(),
  ];
}

test("a page that trains on wasm loads what its size counts, and no more", async () => {
  const [evaluated, counted] = await chunksOf("wasm", pages["kiln-ml, training on wasm"].loads);
  assert.equal(evaluated, counted);
});

test("a page that trains on js loads nothing of wasm", async () => {
  const [evaluated, counted] = await chunksOf(
    "js",
    /targets\/js\/target|compile-entry|devices\/cpu\.ts/,
  );
  assert.equal(evaluated, counted);
});

test.run();
