/**
 * The example in the comment of each pass, extracted and run: `before:` becomes `after:`, as printed.
 */
import { readdirSync, readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Pass } from "../../compiler/src/pass.ts";
import { cse } from "../../compiler/src/passes/cse.ts";
import { dce } from "../../compiler/src/passes/dce.ts";
import { fold } from "../../compiler/src/passes/fold.ts";
import { inline } from "../../compiler/src/passes/inline.ts";
import { joinSums } from "../../compiler/src/passes/join-sums.ts";
import { orient } from "../../compiler/src/passes/orient.ts";
import { reuseProduct } from "../../compiler/src/passes/reuse-product.ts";
import { simplify } from "../../compiler/src/passes/simplify.ts";
import { splitColumns } from "../../compiler/src/passes/split-columns.ts";
import { splitConcat } from "../../compiler/src/passes/split-concat.ts";
import { splitContraction } from "../../compiler/src/passes/split-contraction.ts";
import { splitReduce } from "../../compiler/src/passes/split-reduce.ts";
import { splitScan } from "../../compiler/src/passes/split-scan.ts";
import { parseProgram, printProgram } from "../support/reference.ts";

const folder = new URL("../../compiler/src/passes/", import.meta.url);
const passes: readonly Pass[] = [
  simplify(),
  fold,
  cse,
  dce,
  inline,
  orient,
  joinSums,
  splitConcat,
  reuseProduct,
  splitContraction,
  splitReduce,
  splitColumns,
  splitScan,
];

/** The text under `label:` in the head of a file, without the comment's margin. */
function exampleIn(source: string, label: string): string {
  const lines = source.slice(0, source.indexOf("*/")).split("\n");
  const from = lines.indexOf(` * ${label}:`);
  assert.ok(from >= 0, `no ${label}: in the comment`);
  const rest = lines.slice(from + 1);
  const length = rest.findIndex((line) => !line.startsWith(" *   "));
  return rest
    .slice(0, length)
    .map((line) => line.slice(5))
    .join("\n");
}

for (const pass of passes)
  test(`${pass.name} does what its comment shows`, () => {
    const source = readFileSync(new URL(`${pass.name}.ts`, folder), "utf8");
    const [before, after] = ["before", "after"].map((label) =>
      parseProgram(exampleIn(source, label)),
    );
    assert.is(printProgram(pass.run(before!)), printProgram(after!));
  });

test("every graph pass of the folder shows an example", () => {
  const shown = readdirSync(folder).filter((name) =>
    / \* before:\n/.test(readFileSync(new URL(name, folder), "utf8")),
  );
  for (const pass of passes) assert.ok(shown.includes(`${pass.name}.ts`), pass.name);
});

test.run();
