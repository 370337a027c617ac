/**
 * Every entry of every published package as a bundler for pages takes it, from source: those that
 * are for Node by their name need Node, and no other does.
 */
import { resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { publishedWorkspaces } from "../../packages/tools/src/workspaces.ts";
import * as node from "../../packages/train/src/node.ts";
import * as page from "../../packages/train/src/page.ts";
import { browserTest, bundleForPage, pageOf, resultOf, withPage } from "../support/browser.ts";

/**
 * Packages that are for Node as a whole: a command, a server that listens on a port, and an engine
 * that is a process of Python.
 */
const forNode = ["create-kiln-app", "@kiln-ml/serve", "@kiln-ml/xla"];

const entries = publishedWorkspaces(resolve(".")).flatMap(({ manifest: { name, exports = {} } }) =>
  Object.keys(exports)
    .filter((path) => !path.includes("*") && path !== "./package.json")
    .map((path) => ({ name, entry: name + path.slice(1) })),
);

const isForNode = ({ name, entry }: { name: string; entry: string }): boolean =>
  forNode.includes(name) || /[/-]node$/.test(entry);

/** Finds `node:` modules and notes who asks for them. */
const noting = (found: Set<string>): Plugin => ({
  name: "node",
  setup({ onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path, importer }) => {
      found.add(`${path} by ${importer.replace(`${resolve(".")}/`, "")}`);
      return { path, external: true };
    });
  },
});

/** What of Node a page would be asked for that has all of these entries. */
async function nodeModulesOf(names: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  await build({
    entryPoints: [...names],
    bundle: true,
    splitting: true,
    outdir: "page",
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["@kiln-ml/source"],
    external: ["webgpu"],
    plugins: [noting(found)],
    logLevel: "silent",
  });
  return [...found].sort();
}

test("entries that are not called node bundle for a page, without a module of Node", async () => {
  const wanted = entries.filter((e) => !isForNode(e)).map(({ entry }) => entry);
  assert.ok(wanted.includes("kiln-ml/vision") && wanted.includes("kiln-ml/train"));
  assert.ok(wanted.length > 25, `${wanted.length} entries`);
  assert.equal(await nodeModulesOf(wanted), []);
});

test("the search finds modules of Node where there are some, and who asks for them", async () => {
  const found = await nodeModulesOf(["@kiln-ml/data/node"]);
  assert.ok(found.includes("node:fs by packages/data/src/node/folders.ts"), found.join("\n"));
});

test("what training has for files has a counterpart of each name for pages", () => {
  assert.equal(Object.keys(page).sort(), Object.keys(node).sort());
});

const calls = { ...page };

for (const [name, message] of [
  [
    "checkpoint",
    "checkpoint: a page has no files, got runs/a\n  keep run.snapshot() in a callback of your own",
  ],
  [
    "jsonLines",
    "jsonLines: a page has no files, got runs/a\n  keep run.records in a callback of your own",
  ],
  [
    "report",
    "report: a page has no files, got runs/a\n  show run.records in a callback of your own",
  ],
  [
    "tensorBoard",
    "tensorBoard: a page has no files, got runs/a\n  show run.records in a callback of your own",
  ],
  [
    "readCheckpoint",
    "resume: a page has no files, got runs/a\n  fetch the bytes, and give them to loadState",
  ],
] as const)
  test(`in a page ${name} says what to do`, async () => {
    let said = "";
    try {
      await calls[name]("runs/a");
    } catch (error) {
      said = (error as Error).message;
    }
    assert.is(said, message);
  });

const program = `
import { data, nn } from "kiln-ml";
import * as train from "kiln-ml/train";
import * as vision from "kiln-ml/vision";

const said = [];
console.log = (line) => said.push(String(line));

async function main() {
  nn.seed(1);
  const images = Float32Array.from({ length: 8 * 64 }, (_, i) => Math.sin(i * i));
  const masks = images.map((x) => (x > 0 ? 1 : 0));
  const set = data.fromArrays([images, masks], [[1, 8, 8], [1, 8, 8]]);
  const net = vision.unet("js", { classes: 1, channels: 1, width: 2, depth: 1 });
  const history = await net.train(set, { epochs: 2, batch: 4, loss: nn.mse, metrics: [] });
  let refused = "";
  try { train.checkpoint("runs/a"); } catch (error) { refused = error.name; }
  return { losses: history.values("loss"), said, refused };
}
globalThis.result = main().catch((error) => String(error?.stack ?? error));`;

interface Told {
  readonly losses: number[];
  readonly said: string[];
  readonly refused: string;
}

browserTest("a page trains a vision model, and tells the console how it goes", async () => {
  await withPage(pageOf(await bundleForPage({ text: program })), async (open, { errors }) => {
    const result = await resultOf(open);
    assert.type(result, "object", String(result));
    const { losses, said, refused } = result as Told;
    assert.is(losses.length, 2);
    assert.ok(losses[1]! < losses[0]!, `${losses}`);
    assert.is(said.length, 2, said.join("\n"));
    assert.match(said[0]!, /^epoch 1\/2 {2}loss /);
    assert.is(refused, "GraphError");
    assert.equal(errors, []);
  });
});

test.run();
