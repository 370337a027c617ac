/** What few bits cost a decoder, against sums made by hand of the scores of both. */
import {
  type LoadModelOptions,
  openModelFiles,
  quantizationReport,
  TextSession,
} from "@kiln-ml/llm";
import { tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { modelFiles } from "./small-model.ts";

const files = {
  name: "small",
  names: new Set(Object.keys(modelFiles)),
  read: async (name: string) => {
    const file = modelFiles[name as keyof typeof modelFiles];
    return typeof file === "string" ? new TextEncoder().encode(file) : file;
  },
};
const loaded = async (options: LoadModelOptions = {}) => (await openModelFiles(files, options)).net;
type Net = Awaited<ReturnType<typeof loaded>>;

const text = Array.from({ length: 23 }, (_, i) => (i === 0 ? 1 : 3 + ((i * i) % 2)));

/** −log p of each token behind others of its window, and the likeliest. */
async function told(net: Net, window: number) {
  const [losses, best, all]: [number[], number[], number[]] = [[], [], []];
  for (let at = 0; at + 1 < text.length; at += window) {
    const part = text.slice(at, at + window + 1);
    const ids = tensor([part.slice(0, -1)], { dtype: "i32" });
    const scores = [...(await net.forward(ids).data())].map(Number);
    for (const [t, next] of part.slice(1).entries()) {
      const row = scores.slice(t * 5, t * 5 + 5);
      const sum = row.reduce((s, x) => s + Math.exp(x), 0);
      losses.push(Math.log(sum) - row[next]!);
      best.push(row.indexOf(Math.max(...row)));
      all.push(...row);
    }
  }
  return { perplexity: Math.exp(losses.reduce((a, b) => a + b) / losses.length), best, all };
}

const near = (a: number, b: number): void =>
  assert.ok(Math.abs(a - b) <= 1e-4 * (1 + Math.abs(b)), `${a} is not ${b}`);

for (const weights of ["int8", "int4", "f16"] as const)
  for (const window of [128, 7])
    test(`${weights} in windows of ${window}: perplexity and scores are those of both models`, async () => {
      const [before, after] = [await loaded(), await loaded({ weights })];
      const report = await quantizationReport(before, after, text, { window, target: "js" });
      const length = Math.min(window, before.config.context);
      const [a, b] = [await told(before, length), await told(after, length)];
      assert.is(report.tokens, text.length - 1);
      near(report.perplexityBefore, a.perplexity);
      near(report.perplexityAfter, b.perplexity);
      assert.is(report.sameLargest, a.best.filter((t, i) => t === b.best[i]).length);
      const errors = a.all.map((x, i) => Math.abs(x - b.all[i]!));
      near(report.maxError, Math.max(...errors));
      near(report.rmsError, Math.sqrt(errors.reduce((s, e) => s + e * e, 0) / errors.length));
      assert.ok(report.maxError > 0);
    });

test("matrices are named with their errors, all else with a reason, and bytes add up", async () => {
  const [before, after] = [await loaded(), await loaded({ weights: "int8", keep: /mlp/ })];
  const { weights, kept, bytesBefore, bytesAfter } = await quantizationReport(before, after, text);
  assert.equal(
    weights.map((w) => w.name.split(".").at(-2)),
    ["q_proj", "k_proj", "v_proj", "o_proj"],
  );
  for (const w of weights) assert.ok(w.maxError > 0 && w.maxError < 1 / 254, w.name);
  const why = Object.fromEntries(kept.map((k) => [k.name, k.why]));
  assert.is(why["model.embed_tokens.weight"], "rows of tokens, and the head");
  assert.is(why["model.norm.weight"], "a vector");
  assert.is(why["model.layers.0.mlp.up_proj.weight"], "was to be kept");
  const saved = weights.reduce((n, w) => n + w.bytesBefore - w.bytesAfter, 0);
  assert.is(bytesBefore - bytesAfter, saved);
});

test("a table of few bits serves as rows and as the head, and decodes", async () => {
  const [before, after] = [await loaded(), await loaded({ weights: "int8", embeddings: true })];
  const report = await quantizationReport(before, after, text, { target: "js" });
  assert.ok(report.weights.some((w) => w.name === "model.embed_tokens.weight"));
  assert.ok(report.kept.every((k) => k.why === "a vector"));
  const names = [...after.state().keys()].filter((n) => n.startsWith("model.embed_tokens"));
  assert.equal(names, ["model.embed_tokens.words", "model.embed_tokens.scales"]);
  assert.ok(report.rmsError < 0.05, `${report.rmsError}`);
  for (const target of ["js", "wasm"] as const) {
    const net = await loaded({ weights: "int8", embeddings: true });
    const session = new TextSession(net, { target });
    const scores = await session.step([text.slice(0, 4)], [0]);
    const wanted = await after.forward(tensor([text.slice(0, 4)], { dtype: "i32" })).data();
    const row = [...wanted].map(Number).slice(-5);
    for (const [i, s] of [...(await scores.data())].entries()) near(Number(s), row[i]!);
    await session.dispose();
  }
});

test("what cannot be compared is refused", async () => {
  const net = await loaded();
  const said = (tokens: readonly number[], options = {}) =>
    quantizationReport(net, net, tokens, options).then(
      () => "",
      (e: Error) => e.message,
    );
  assert.is(
    await said([1]),
    "quantizationReport: the text has 1 tokens, none of which stands behind another\n  give a text of some hundred words",
  );
  assert.is(
    await said([1, 9]),
    "quantizationReport: the text has token 9, the model knows 5\n  take the tokenizer that came with the weights",
  );
  assert.is(
    await said([1, 3], { window: 0 }),
    "quantizationReport: window must be an integer of 1 or more, got 0",
  );
  const load = (options: object) =>
    loaded(options as never).then(
      () => "",
      (e: Error) => e.message,
    );
  assert.is(
    await load({ embeddings: true }),
    'loadModel: embeddings is for weights "int8" and "int4", and these are as in the file\n  give weights: "int8" or "int4" too',
  );
  assert.is(
    await load({ weights: "f16", keep: /mlp/ }),
    'loadModel: keep is for weights "int8" and "int4", and these are f16\n  give weights: "int8" or "int4" too',
  );
});

test("a pattern of what is to be kept is of some matrices, or of the table", async () => {
  const load = async (options: LoadModelOptions): Promise<string> => {
    try {
      await loaded(options);
      return "loaded";
    } catch (e) {
      return (e as Error).message;
    }
  };
  for (const [keep, what] of [
    [/nothing/, "none"],
    [/./g, "all"],
  ] as const)
    assert.match(
      await load({ weights: "int8", keep }),
      new RegExp(
        `^loadModel: keep \\S+ is like ${what} of the paths of matrices\n  they are model`,
      ),
    );
  const table = await loaded({ weights: "int8", keep: /lm_head/, embeddings: true });
  assert.ok(table.state().has("model.embed_tokens.weight"));
  const every = await loaded({ weights: "int8", keep: /mlp/gy, embeddings: true });
  assert.not(every.state().has("model.embed_tokens.weight"));
});

test.run();
