/**
 * What examples are made of, without running them: those who read them install the same packages,
 * and no test of ours.
 */
import { readdirSync, readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";

const sources = readdirSync("examples", { recursive: true })
  .map(String)
  .filter((path) => path.endsWith(".ts"));
const textOf = (path: string): string => readFileSync(`examples/${path}`, "utf8");

/** A page is bundled, by what the reader has for that. */
const bundlers = ["page/train.ts: esbuild"];

test("examples import packages by name, Node, and files beside them", () => {
  assert.ok(sources.length > 10);
  const wrong = sources.flatMap((path) =>
    Array.from(textOf(path).matchAll(/(?:from|import\()\s*"([^"]+)"/g), ([, from]) => from!)
      .filter(
        (from) =>
          !/^(kiln-ml|@kiln-ml\/(artifact|data|formats|runtime|xla)|node:|\.\.?\/)/.test(from),
      )
      .map((from) => `${path}: ${from}`),
  );
  assert.equal(wrong, bundlers);
});

test("every example is told in examples/README.md", () => {
  const told = readFileSync("examples/README.md", "utf8");
  const tops = new Set(sources.map((path) => path.replaceAll("\\", "/").split("/")[0]!));
  assert.equal(
    [...tops].filter((name) => !told.includes(name)),
    [],
  );
});

test.run();
