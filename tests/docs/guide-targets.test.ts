/** The snippets of docs/guide.md on auto and wasm; js and webgpu have files of their own. */
import { test } from "uvu";
import { printsOn } from "./prints-on.ts";

for (const target of ["auto", "wasm"] as const)
  test(`docs/guide.md prints what it says on ${target}`, () => printsOn("docs/guide.md", target));

test.run();
