/** Prose that is wrapped stays prose: no line of a paragraph begins with the mark of a list. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";

/** Lines that Markdown, or a formatter, takes for an item of a list that nothing announces. */
function strayItems(text: string): string[] {
  const found: string[] = [];
  let inCode = false;
  let before = "";
  let number = Number.NaN;
  for (const line of text.split("\n")) {
    if (/^\s*```/.test(line)) inCode = !inCode;
    const [, mark, digits] = /^\s*(\+|(\d+)[.)]) \S/.exec(inCode ? "" : line) ?? [];
    // The next item of a list that has begun is none.
    const isNext = digits !== undefined && Number(digits) === number + 1;
    const isProse = before.trim() !== "" && !/^\s*(\+|\||#|```)/.test(before);
    if (mark && isProse && !isNext) found.push(line);
    else if (digits !== undefined) number = Number(digits);
    before = line;
  }
  return found;
}

test("an expression or a number at the start of a line is found", () => {
  assert.equal(strayItems("it answers 429, or\n503. `SIGINT` ends it"), ["503. `SIGINT` ends it"]);
  assert.equal(strayItems("- slices: 3\n  + 3 of them"), ["  + 3 of them"]);
  assert.equal(strayItems("so:\n\n1. one,\n   and more\n2. two\n"), []);
});

test("no page has one", () => {
  const pages = execFileSync("git", ["ls-files", "*.md"], { encoding: "utf8" }).trim().split("\n");
  const found = pages.flatMap((p) => strayItems(readFileSync(p, "utf8")).map((l) => `${p}: ${l}`));
  assert.equal(found, []);
});

test.run();
