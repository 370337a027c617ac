/**
 * Training in a page through `kiln-ml/worker`: the page's own script has no compiler that could
 * hold a frame up, and frames go on while the step of a GPT is compiled in the worker.
 */
import { build } from "esbuild";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, pageOf, resultOf, withPage } from "../support/browser.ts";

const worker = `
import { arange, compile, nn, optim } from "kiln-ml";
import { serveTasks } from "kiln-ml/worker";

const [letters, width, heads, layers, length] = [40, 64, 4, 4, 32];
class Gpt extends nn.Module {
  letter = new nn.Embedding(letters, width);
  place = new nn.Embedding(length, width);
  blocks = new nn.TransformerEncoder(layers, width, heads);
  head = new nn.Linear(width, letters);
  forward(x) {
    const h = this.letter.forward(x).add(this.place.forward(arange(length)));
    return this.head.forward(this.blocks.forward(h, { causal: true }));
  }
}
serveTasks({
  async train({ steps }, { report, signal }) {
    nn.seed(1);
    const model = new Gpt();
    const opt = new optim.AdamW(model.parameters(), { lr: 0.003 });
    const step = compile((x, y) => {
      const loss = nn.crossEntropy(model.forward(x), y, { axis: -1 });
      opt.step(loss);
      return loss;
    }, { target: "wasm", name: "gpt" });
    const codes = Int32Array.from({ length: length + 1 }, (_, i) => (i * 7) % letters);
    const part = (from) => ({ data: codes.slice(from, from + length), shape: [1, length] });
    let loss;
    for (let i = 0; i < steps && !signal.aborted; i++) {
      loss = await (await step(part(0), part(1))).item();
      report({ step: i, loss });
    }
    return loss;
  },
});`;

const text = `
import { openWorker } from "kiln-ml/worker";
const worker = openWorker(() => new Worker("/train.js", { type: "module" }));
/** Frames that come while the work is done, and the longest time between two. */
async function watched(work) {
  let on = true;
  const frames = [];
  const frame = (at) => {
    frames.push(at);
    if (on) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const value = await work;
  on = false;
  const longest = Math.max(...frames.slice(1).map((at, i) => at - frames[i]));
  return { value, frames, longest };
}
async function main() {
  const stages = [];
  const losses = [];
  const trained = await watched(worker.call("train", { steps: 12 }, {
    onCompile: ({ program, stage }) => stages.push({ program, stage, at: performance.now() }),
    onReport: ({ loss }) => losses.push(loss),
  }));
  // Cancelled as soon as it compiles: a worker that compiles hears nothing, and is ended.
  const end = new AbortController();
  const before = performance.now();
  const cancelled = await worker.call("train", { steps: 1e6 }, {
    signal: end.signal,
    onCompile: () => end.abort(),
    onReport: () => end.abort(),
  }).catch((error) => error.name);
  const again = await worker.call("train", { steps: 1 });
  worker.end();
  const [first, last] = [stages[0].at, stages.at(-1).at];
  return {
    losses, last: trained.value, cancelled, again,
    programs: [...new Set(stages.map((s) => s.program))],
    stages: stages.map((s) => s.stage),
    compileMs: last - first,
    during: trained.frames.filter((at) => at > first && at < last).length,
    longest: trained.longest,
  };
}
globalThis.result = main().catch((error) => String(error?.stack ?? error));`;

test("the page's half has no compiler, no ops and no layers, and is small", async () => {
  const { metafile, outputFiles } = await build({
    stdin: { contents: text, resolveDir: process.cwd(), sourcefile: "page.js" },
    bundle: true,
    write: false,
    minify: true,
    metafile: true,
    format: "esm",
    platform: "browser",
    conditions: ["@kiln-ml/source"],
    logLevel: "error",
  });
  const inputs = Object.values(metafile.outputs)[0]!.inputs;
  const kept = Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  assert.equal(
    kept
      .map(([file]) => file)
      .filter((file) => /^(compiler|runtime|packages\/(nn|optim|ir\/src\/(?!errors)))/.test(file)),
    [],
  );
  assert.ok(outputFiles[0]!.contents.length < 12_000, `${outputFiles[0]!.contents.length} bytes`);
});

interface Outcome {
  readonly losses: number[];
  readonly last: number;
  readonly cancelled: string;
  readonly again: number;
  readonly programs: string[];
  readonly stages: string[];
  readonly compileMs: number;
  readonly during: number;
  readonly longest: number;
}

browserTest("frames go on while a GPT's step compiles and trains in the worker", async () => {
  const { files } = pageOf(await bundleForPage({ text }, { minify: true }));
  const site = { files: { ...files, "/train.js": await bundleForPage({ text: worker }) } };
  await withPage(site, async (page, { errors }) => {
    const result = (await resultOf(page)) as Outcome;
    assert.type(result, "object", String(result));
    const { losses, last, cancelled, again, programs, stages, during } = result;
    assert.is(losses.length, 12);
    assert.is(losses.at(-1), last);
    assert.ok(last < losses[0]! / 1.5, `${losses}`);
    assert.is(again, losses[0]);
    assert.is(cancelled, "AbortError");
    assert.ok(programs.includes("gpt"), `${programs}`);
    for (const stage of ["fuse", "lower", "emit"]) assert.ok(stages.includes(stage), stage);
    // Were it on the page's thread, no frame would come between the first stage and the last.
    assert.ok(during >= 2, `${during} frames in ${result.compileMs} ms of compiling`);
    assert.equal(errors, []);
    console.log(
      `compiling ${result.compileMs.toFixed(0)} ms, ${during} frames meanwhile, the longest frame of all ${result.longest.toFixed(0)} ms`,
    );
  });
});

test.run();
