/**
 * Layers against PyTorch, results and gradients, and compiled with a symbolic batch.
 */
import { test } from "uvu";
import { cases } from "./module-cases.ts";
import { agreesWithPyTorch, compilesWithSymbol } from "./modules.ts";

const compiled = new Set<string>();
for (const [name, c] of Object.entries(cases)) {
  test(`${name} agrees with PyTorch`, () => agreesWithPyTorch(c));
  const kind = `${c.type} ${c.train}`;
  if (compiled.has(kind)) continue;
  compiled.add(kind);
  test(`${name} compiles for a batch known at the run`, () => compilesWithSymbol(c));
}

test.run();
