/**
 * The reference: every public name has words, every example runs on js among values of common names, and gives what its comment says where
 * that is a list of numbers; every name in the tables of other libraries exists.
 */
import { transform } from "esbuild";
import * as kiln from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  entriesOf,
  foreignNames,
  referenceParts,
} from "../../packages/tools/src/docs/reference.ts";
import { examplesScope } from "./reference-scope.ts";

test.before(() => kiln.setDefaultTarget("js"));
test.after(() => kiln.setDefaultTarget("auto"));

/** Whether there is what a path names, as in `coverage.test.ts`. */
function exists(path: string): boolean {
  const names = path
    .replace(/^kiln\./, "")
    .replace(/^Tensor\.(?=.)/, "Tensor.prototype.")
    .split(".");
  let at: unknown = kiln;
  for (const [i, name] of names.entries()) {
    if (!(at instanceof Object || typeof at === "object") || !(name in (at as object)))
      return false;
    if (i < names.length - 1) at = (at as Record<string, unknown>)[name];
  }
  return true;
}

const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (...args: unknown[]) => Promise<unknown>;

/** The numbers of a comment such as `[[4,0],[0,0]]`; undefined where it says something else. */
function numbersOf(comment: string | undefined): number[] | undefined {
  if (!comment) return undefined;
  const text = comment.trim().replaceAll("−", "-").replaceAll("½", "0.5").replaceAll("⅓", "0.3333");
  if (!/^[[\]\d\s.,e-]+$/.test(text)) return undefined;
  try {
    return ([JSON.parse(text)] as unknown[]).flat(9) as number[];
  } catch {
    return undefined;
  }
}

/** Runs an example; where its last line is an expression with numbers beside it, compares them. */
async function run(code: string, page = "", name = ""): Promise<void> {
  const lines = code.split("\n");
  const last = /^(.*?);?\s*\/\/\s*(.*)$/.exec(lines.at(-1)!);
  const want = numbersOf(last?.[2]);
  const isValue = want && !/^(?:const|let|for|await|import)\b/.test(last![1]!);
  const source = isValue ? [...lines.slice(0, -1), `return (${last![1]});`] : lines;
  const { code: text } = await transform(`async function example() {\n${source.join("\n")}\n}`, {
    loader: "ts",
    target: "es2022",
  });
  const scope = examplesScope(page, name);
  const names = Object.keys(scope);
  const example = new AsyncFunction(...names, `${text}\nreturn await example();`);
  const value = await example(...Object.values(scope));
  if (!want || !isValue) return;
  assert.instance(value, kiln.Tensor, code);
  // Brackets may also be the shape.
  if (`${(value as kiln.Tensor).shape}` === `${want}`) return;
  const got = Array.from(await (value as kiln.Tensor).data(), Number);
  assert.is(got.length, want.length, `${code}: ${got}`);
  for (const [i, w] of want.entries())
    assert.ok(Math.abs(got[i]! - w) <= 6e-4 * Math.max(1, Math.abs(w)), `${code}: ${got}`);
}

for (const part of referenceParts()) {
  test(`${part.page}: every name has words`, () => {
    const entries = entriesOf(part);
    assert.ok(entries.length > 2, part.page);
    assert.equal(
      entries.filter((e) => !e.text).map((e) => e.name),
      [],
    );
  });

  test(`${part.page}: examples run`, async () => {
    const wrong: string[] = [];
    for (const { name, examples } of entriesOf(part))
      for (const code of examples)
        await run(code, part.page, name).catch((e: Error) =>
          wrong.push(`${name}: ${e.message}\n${code}`),
        );
    assert.equal(wrong, []);
  });
}

for (const { title, rows } of foreignNames())
  test(`${title}: every name exists, and none stands twice`, () => {
    assert.equal(
      rows
        .filter(([, here]) => !exists(here) && !(here in kiln.Tensor.prototype))
        .map(([, here]) => here),
      [],
    );
    assert.is(new Set(rows.map(([there]) => there)).size, rows.length);
  });

test("an example that throws, or gives something else, is found", async () => {
  for (const code of ["tensor([1]).nothing()", "tensor([1, 2]).add(1) // [2, 4]"])
    assert.ok(
      await run(code).then(
        () => false,
        () => true,
      ),
      code,
    );
});

test.run();
