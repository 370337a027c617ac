/**
 * Layers against PyTorch, results and gradients, and compiled with a symbolic batch.
 */
import { test } from "uvu";
import { agreesWithPyTorch, cases, compilesWithSymbol } from "./modules.ts";

for (const [name, c] of Object.entries(cases)) {
  test(`${name} agrees with PyTorch`, () => agreesWithPyTorch(c));
  test(`${name} compiles for a batch known at the run`, () => compilesWithSymbol(c));
}

test.run();
