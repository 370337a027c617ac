/** The snippets of README.md on every target but js, where `snippets.test.ts` runs them. */
import { test } from "uvu";
import { printsOn } from "./prints-on.ts";

for (const target of ["auto", "wasm", "webgpu"] as const)
  test(`README.md prints what it says on ${target}`, () => printsOn("README.md", target));

test.run();
