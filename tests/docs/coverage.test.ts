/**
 * The table of what people look for: every name that it gives exists, every gap says why, and
 * shares do not fall.
 */
import { existsSync } from "node:fs";
import * as dataFiles from "@kiln-ml/data/node";
import * as kiln from "kiln-ml";
import * as files from "kiln-ml/node";
import * as train from "kiln-ml/train";
import * as vision from "kiln-ml/vision";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { coverageOf, coverageSections } from "../../packages/tools/src/docs/coverage.ts";

const everything = { ...kiln, train, vision, node: { ...files, ...dataFiles } };

/**
 * Whether there is what a path names: `nn.Linear`, a function or method of tensors,
 * `kiln.Tensor.data`, a file.
 */
function exists(path: string): boolean {
  if (path.includes("/")) return existsSync(path);
  const names = path
    .replace(/^kiln\./, "")
    .replace(/^Tensor\.(?=.)/, "Tensor.prototype.")
    .split(".");
  if (names.length === 1 && names[0]! in kiln.Tensor.prototype) return true;
  let at: unknown = everything;
  for (const [i, name] of names.entries()) {
    // A member of a class.
    if (typeof at === "function" && !(name in at)) at = at.prototype;
    if (!(at instanceof Object || typeof at === "object") || !(name in (at as object)))
      return false;
    // The last one may be a getter that needs a tensor.
    if (i < names.length - 1) at = (at as Record<string, unknown>)[name];
  }
  return true;
}

for (const { title, rows } of coverageSections()) {
  test(`${title}: every name in Kiln exists`, () => {
    const named = rows.filter((r) => r.kiln !== undefined);
    assert.ok(named.length > 10);
    assert.equal(
      named.filter((r) => !exists(r.kiln!)).map((r) => `${r.name}: ${r.kiln}`),
      [],
    );
  });

  test(`${title}: what is not there says why, and no row stands twice`, () => {
    for (const r of rows) if (!r.kiln) assert.ok(r.why, r.name);
    assert.is(new Set(rows.map((r) => r.name)).size, rows.length);
  });
}

test("shares do not fall", () => {
  const least = { "Vision operations": 95, "Module system": 95, Layers: 96, Losses: 95, "Optimizers, schedules, clipping": 97, "Tensors (burn)": 92, "Tensors (torch and jax.numpy)": 80, Examples: 95, Data: 95, "Training and metrics": 95, "Faces: Keras, Lightning, PyTorch": 95 }; // biome-ignore format: a table
  for (const { title, rows } of coverageSections()) {
    const { all, there } = coverageOf(rows);
    const share = Math.floor((100 * there) / all);
    assert.ok(share >= least[title as keyof typeof least], `${title}: ${share} %`);
  }
});

test("a name that is made up is not found", () => {
  assert.not(exists("nn.Nothing"));
  assert.not(exists("nothing.at.all"));
});

test.run();
