/** The smallest examples on auto, js and wasm; the others, and webgpu, have files of their own. */

import { readdirSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { assertNear, examples, sameOn } from "./on-targets.ts";

test("every example has a quick form", () => {
  const names = readdirSync("examples").filter((name) => name !== "README.md");
  assert.equal(Object.keys(examples).sort(), names.sort());
});

for (const name of ["linear-regression.ts", "xor-keras.ts"] as const)
  sameOn(name, ["auto", "wasm"]);

test("a number that is off and a word that differs are found", () => {
  assert.throws(() => assertNear("loss 0.52", "loss 0.50", 1e-2));
  assert.throws(() => assertNear("los 0.5", "loss 0.5", 1));
  assertNear("loss 0.505", "loss 0.5", 1e-2);
});

test.run();
