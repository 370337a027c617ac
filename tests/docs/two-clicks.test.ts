/**
 * A stranger's ten first tasks: from the README one click leads to the page of tasks, the next to
 * the page that has all of one. Links are followed as a reader would, headings included.
 */
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";

/** Each task, and words that the page it leads to must say under the heading that is linked. */
const tasks: Readonly<Record<string, RegExp>> = {
  Install: /npm install|npm start/,
  Train: /opt\.step|optim\./,
  "Run an ONNX file": /loadOnnx|openModel/,
  "Put a model into a page": /openModel/,
  "Keep the page awake": /kiln-ml\/worker/,
  Save: /save\(/,
  Resume: /resume/,
  Inspect: /kiln inspect/,
  Tune: /kiln tune/,
  Deploy: /kiln compile|artifact/,
};

interface Link {
  readonly page: string;
  readonly heading: string | undefined;
}

/** Links of a text to pages of the repository, as paths from its root. */
const linksIn = (text: string, page: string): Link[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, to]) => to!)
    .filter((to) => !/^[a-z]+:/.test(to))
    .map((to) => {
      const [path, heading] = to.split("#");
      const at = path ? posix.normalize(posix.join(posix.dirname(page), path)) : page;
      return { page: at, heading };
    });

const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .trim()
    .replace(/\s+/g, "-");

/** What stands under a heading, with what is below it; the whole page without one. */
function under(page: string, heading: string | undefined): string | undefined {
  if (!existsSync(page)) return undefined;
  const text = readFileSync(page, "utf8");
  if (heading === undefined) return text;
  const parts = text.split(/^(?=#{1,6} )/m);
  const at = parts.findIndex((part) => slug(part.split("\n")[0]!.replace(/^#+ /, "")) === heading);
  if (at < 0) return undefined;
  const depth = /^#+/.exec(parts[at]!)![0].length;
  const end = parts.findIndex((p, i) => i > at && (/^#+/.exec(p)?.[0].length ?? 9) <= depth);
  return parts.slice(at, end < 0 ? undefined : end).join("");
}

const readme = readFileSync("README.md", "utf8");
const items = readFileSync("docs/tasks.md", "utf8")
  .split(/^(?=\d+\. )/m)
  .slice(1);
const titleOf = (item: string): string => /\*\*(.+?)\.\*\*/.exec(item)?.[1] ?? item;

test("the first click: the README links the page of tasks, and has a picture of the inspector", () => {
  assert.ok(linksIn(readme, "README.md").some(({ page }) => page === "docs/tasks.md"));
  const [, picture] = /!\[[^\]]*inspector[^\]]*\]\(([^)]+)\)/i.exec(readme) ?? [];
  assert.ok(picture && existsSync(picture), picture);
});

test("the page of tasks has the ten, in their order", () => {
  assert.equal(items.map(titleOf), Object.keys(tasks));
});

for (const item of items)
  test(`the second click: ${titleOf(item)}`, () => {
    const links = linksIn(item, "docs/tasks.md");
    assert.ok(links.length > 0, "a link");
    const texts = links.map(({ page, heading }) => {
      const text = under(page, heading);
      assert.ok(text !== undefined, `${page}#${heading}`);
      return text!;
    });
    assert.match(texts.join("\n"), tasks[titleOf(item)]!);
  });

test.run();
