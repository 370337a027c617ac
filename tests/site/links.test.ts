/** Every link of the site leads to a file that it has, and to a heading that is there; first tasks are two clicks from the README. */
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { documentOf } from "../../packages/site/src/markdown.ts";
import { pagesOf } from "../../packages/site/src/site.ts";

const files = pagesOf(process.cwd());
const pages = Object.entries(files).filter(([path]) => path.endsWith(".html"));

/** Made by the scripts' builds, which this test does without. */
const scripted = /^(playground|gallery)\//;

const idsOf = (html: string): Set<string> =>
  new Set(Array.from(html.matchAll(/\sid="([^"]+)"/g), ([, id]) => id!));

test("links lead to pages and headings that there are", () => {
  const broken: string[] = [];
  for (const [path, html] of pages)
    for (const [, to] of String(html).matchAll(/\s(?:href|src)="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(to!)) continue;
      const [file, anchor] = to!.split("#") as [string, string | undefined];
      const place = file ? posix.normalize(posix.join(posix.dirname(path), file)) : path;
      if (scripted.test(place)) continue;
      const found = files[place];
      if (found === undefined) broken.push(`${path}: ${to}`);
      else if (anchor && !idsOf(String(found)).has(decodeURIComponent(anchor)))
        broken.push(`${path}: ${to} has no such heading`);
    }
  assert.equal(broken, []);
  assert.ok(pages.length > 40, `${pages.length} pages`);
});

test("ten first tasks each have a page, two clicks from the README", () => {
  assert.match(readFileSync("README.md", "utf8"), "](docs/tasks.md)");
  const tasks = readFileSync("docs/tasks.md", "utf8")
    .split(/^\d+\. /m)
    .slice(1);
  assert.is(tasks.length, 10);
  for (const task of tasks.slice(1)) assert.match(task, /\]\((guide|data|loading|recipes)\.md/);
});

test("headings have the anchors of GitHub, and repeated ones are told apart", () => {
  const { headings, html } = documentOf("# A `b` & c\n\n## D\n\n## D\n", () => undefined);
  assert.equal(
    headings.map(({ id }) => id),
    ["a-b--c", "d", "d-1"],
  );
  assert.match(html, '<h2 id="d-1">');
});

test("a link to a file that the site does not have is text", () => {
  const { html } = documentOf("[x](../src/x.ts) and [y](y.md#z)", (path) =>
    path === "y.md" ? "y.html" : undefined,
  );
  assert.match(html, '<a class="file" title="../src/x.ts">x</a> and <a href="y.html#z">y</a>');
});

test.run();
