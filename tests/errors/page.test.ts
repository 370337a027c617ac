/**
 * Every error finds what is said about it: its class has a section, its message an anchor, on the
 * page as the site and GitHub number headings, and in the command.
 */
import { readFileSync } from "node:fs";
import { anchorOf, isOf } from "@kiln-ml/ir/error-heading";
import * as kiln from "kiln-ml";
import { errorPage, KilnError } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { main } from "../../packages/kiln/src/cli/main.ts";
import { documentOf } from "../../packages/site/src/markdown.ts";
import { messagesInSources, messagesInTests } from "../../packages/tools/src/docs/error-texts.ts";
import { errorClasses } from "../../packages/tools/src/docs/errors.ts";
import { sourcesIn } from "../../packages/tools/src/docs/source.ts";
import { heard } from "../cli/heard.ts";

const page = readFileSync("docs/errors.md", "utf8");
const { headings } = documentOf(page, () => "");
const anchors = new Set(headings.map(({ id }) => id));

/** An error as its class makes it, of which the name is what is asked. */
const errorOf = (kind: string, message: string): Error =>
  Object.assign(new KilnError(message), { name: kind });

test("each class of ours has a section: those that are exported and those of packages", () => {
  const exported = Object.entries(kiln).flatMap(([name, value]) =>
    value === KilnError || (value as { prototype?: unknown }).prototype instanceof KilnError
      ? [name]
      : [],
  );
  const inSources = ["packages", "compiler/src", "runtime/src"]
    .flatMap(sourcesIn)
    .flatMap(({ text }) => [...text.matchAll(/^export class (\w+Error) extends KilnError/gm)])
    .map(([, name]) => name!);
  assert.ok(exported.length >= 7 && inSources.length >= 8, `${exported} ${inSources}`);
  for (const name of new Set([...exported, ...inSources]))
    assert.ok(anchors.has(anchorOf(name)), name);
});

test("an anchor is that of its heading, on the site as on GitHub, and of no other", () => {
  const parts = headings.filter(({ level }) => level > 1);
  assert.ok(parts.length > 300, `${parts.length} headings`);
  assert.equal(
    parts.filter(({ text, id }) => anchorOf(text) !== id),
    [],
  );
});

test("each message that tests compare or a source makes finds its anchor", () => {
  const all = [...messagesInTests(errorClasses), ...messagesInSources(errorClasses)];
  assert.ok(all.length > 1000, `${all.length} messages`);
  const lost = all.filter(({ kind, text }) => {
    const [file, anchor] = errorPage(errorOf(kind, text))!.split("#");
    return file !== "kiln-ml/errors.md" || !anchors.has(anchor!);
  });
  // A test may name another class shortly before: it then stands under the one that is thrown.
  const elsewhere = lost.filter(({ text }) =>
    errorClasses.some((kind) => anchors.has(errorPage(errorOf(kind, text))!.split("#")[1]!)),
  );
  assert.equal(lost.length - elsewhere.length, 0, JSON.stringify(lost));
});

test("what was really thrown leads to its op, and what is not ours nowhere", () => {
  const thrown = (call: () => unknown): unknown => {
    try {
      return call();
    } catch (error) {
      return error;
    }
  };
  const add = thrown(() => kiln.ones([2, 3]).add(kiln.ones([2, 4])));
  assert.is(errorPage(add), "kiln-ml/errors.md#shapeerror-add");
  assert.ok(anchors.has("shapeerror-add"));
  const option = thrown(() => new kiln.nn.Linear(2, 1, { biass: false } as never));
  assert.match(errorPage(option) ?? "", /^kiln-ml\/errors\.md#grapherror-/);
  assert.is(errorPage(new RangeError("x: y")), undefined);
  assert.is(errorPage("text"), undefined);
});

test("a message is of a text with the same words around its values, not of one without words", () => {
  assert.ok(isOf("load: dim N is 3", "load: dim … is …"));
  assert.not(isOf("load: dim N is 3", "load: dim … was …"));
  assert.not(isOf("load: dim N is 3", "…: … is …"));
});

const explain = (...args: string[]) => heard(() => main(["explain", ...args]));

test("kiln explain: a class, an op, and a message as it was printed", async () => {
  const op = await explain("matmul", "--json");
  const found = JSON.parse(op.out).map(({ heading }: { heading: string }) => heading);
  assert.equal(found.slice(-2), ["ShapeError", "ShapeError matmul"]);
  const message = "train.ts:3:3: ArtifactError: w.npy: is no WAV file: starts with 00";
  const { code, out } = await explain(message);
  assert.is(code, 0);
  assert.match(out, /^ArtifactError\n\nA file is damaged/);
  assert.match(out, /\n…: is no WAV file: starts with …\n$/);
});

test("kiln explain without an answer says what there is", async () => {
  assert.equal(await explain("matmull"), {
    code: 2,
    out: "",
    err: "kiln explain: no error begins with matmull\n  did you mean matmul?\n",
  });
  assert.match((await explain()).err, /needs a class, an op or a message\n {2}classes are /);
});

test.run();
