/** The snippets of docs/guide.md on webgpu, whose software adapter takes its time. */
import { test } from "uvu";
import { printsOn } from "./prints-on.ts";

for (const target of ["webgpu"] as const)
  test(`docs/guide.md prints what it says on ${target}`, () => printsOn("docs/guide.md", target));

test.run();
