/** The smallest examples on auto, js and wasm; the others, and webgpu, have files of their own. */

import { readdirSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { assertNear, examples, sameOn } from "./on-targets.ts";

test("examples that are held to say the same on every target are there", () => {
  const names = readdirSync("examples");
  assert.equal(
    Object.keys(examples).filter((name) => !names.includes(name)),
    [],
  );
});

for (const name of ["linear-regression.ts", "xor-keras.ts"] as const)
  sameOn(name, ["auto", "wasm"]);

test("a number that is off and a word that differs are found", () => {
  // uvu's throws lets failed assertions through.
  const fails = (actual: string, tolerance: number): boolean => {
    try {
      assertNear(actual, "loss 0.50", tolerance);
      return false;
    } catch {
      return true;
    }
  };
  assert.ok(fails("loss 0.52", 1e-2));
  assert.ok(fails("los 0.50", 1));
  assertNear("loss 0.505", "loss 0.5", 1e-2);
});

test.run();
