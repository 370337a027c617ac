/** The table of what people look for: every name that it gives exists, every gap says why, and shares do not fall. */
import * as kiln from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { coverageOf, coverageSections } from "../../packages/tools/src/docs/coverage.ts";

/** Whether there is what a path names: `nn.Linear`, a function or method of tensors, `kiln.Tensor.data`. */
function exists(path: string): boolean {
  const names = path
    .replace(/^kiln\./, "")
    .replace(/^Tensor\.(?=.)/, "Tensor.prototype.")
    .split(".");
  if (names.length === 1 && names[0]! in kiln.Tensor.prototype) return true;
  let at: unknown = kiln;
  for (const [i, name] of names.entries()) {
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
  const least = { Layers: 96, Losses: 95, "Optimizers, schedules, clipping": 97, "Tensors (burn)": 92, "Tensors (torch and jax.numpy)": 80 }; // biome-ignore format: a table
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
