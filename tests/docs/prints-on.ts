/** A page's snippets on one target, against what the page says. */
import * as assert from "uvu/assert";
import { expectedOf, fits, readPage, run, type SnippetTarget, scriptOf } from "./snippets.ts";

export async function printsOn(page: string, target: SnippetTarget): Promise<void> {
  const script = scriptOf(readPage(page));
  const { status, lines, errors } = await run(page, script, target);
  assert.is(errors, "");
  assert.is(status, 0);
  const shown = expectedOf(script).map((text, i) =>
    fits(lines[i] ?? "", text) ? (lines[i] ?? "") : text,
  );
  assert.equal(lines, shown);
}
