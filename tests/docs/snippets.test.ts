/**
 * Every `ts` and `js` snippet of the documentation type-checks, runs on js, and prints what the
 * page says. Pages that teach how to use the front door are run on the other targets too, each by a
 * file beside this one. `UPDATE_DOCS=1` writes what is printed into the pages, to be reviewed as a
 * diff.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  expectedOf,
  fencesOf,
  fits,
  readPage,
  run,
  scriptOf,
  typeErrors,
  withOutput,
} from "./snippets.ts";

const pages = [
  "README.md",
  ...readdirSync("docs", { recursive: true })
    .map((path) => `docs/${String(path).replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".md"))
    .sort(),
];
const scripts = new Map(
  pages.map((page) => [page, scriptOf(readPage(page))] as const).filter(([, text]) => text !== ""),
);

test("the pages that teach have code", () => {
  for (const page of ["README.md", "docs/guide.md", "docs/ir.md", "docs/adding-an-op.md"])
    assert.ok(scripts.has(page), page);
});

// All at once: most of the time is spent waiting for processes.
const complaints = typeErrors(scripts);
const runs = [...scripts].map(([page, script]) => [page, script, run(page, script, "js")] as const);

test("snippets type-check", async () => {
  assert.equal(await complaints, []);
});

for (const [page, script, ran] of runs)
  test(`${page} prints what it says on js`, async () => {
    const { status, lines, errors } = await ran;
    assert.is(errors, "");
    assert.is(status, 0);
    const expected = expectedOf(script);
    if (process.env.UPDATE_DOCS && expected.length === lines.length)
      writeFileSync(page, withOutput(readPage(page), lines));
    const shown = expected.map((text, i) => (fits(lines[i] ?? "", text) ? (lines[i] ?? "") : text));
    assert.equal(lines, shown);
  });

test("a snippet that prints something else, or throws, is found", async () => {
  const page = "# T\n\n```ts\nconsole.log(1 + 1); // → 3\n```\n\n```text\nnot code\n```\n";
  const script = scriptOf(page);
  assert.equal(expectedOf(script), ["3"]);
  assert.equal(fencesOf(page).length, 2);
  const { lines } = await run("planted", script, "js");
  assert.equal(lines, ["2"]);
  assert.not(fits("2", "3"));
  assert.ok(fits("0.1234", "0.12…"));
  const thrown = await run("thrown", "\nthrow new Error('no');", "js");
  assert.is(thrown.status, 1);
  assert.match(thrown.errors, /thrown:2/);
  const missing = await run("missing", '\nimport "no-such-package";', "js");
  assert.is(missing.status, 1);
  assert.match(missing.errors, /missing:2.*no-such-package/);
});

test.run();
