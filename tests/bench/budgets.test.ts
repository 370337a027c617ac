/**
 * The kernel budgets on every target the compiler has.
 */
import type { TargetName } from "@kiln-ml/artifact";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { budgetRows } from "../../bench/budgets.ts";
import { budgets } from "../../bench/cases.ts";
import { targetNames } from "../../compiler/src/targets/index.ts";

for (const target of targetNames)
  test(`kernel counts keep within the budgets on ${target}`, () => {
    const rows = budgetRows(() => true, [target]);
    assert.is(rows.length, budgets.length);
    for (const row of rows) {
      assert.type(row.value, "number");
      assert.is.not(row.met, false, `${row.case}: ${row.value} kernels, budget ${row.goal}`);
    }
  });

test("wasm takes as many kernels as js", () => {
  const counts = (target: TargetName) =>
    budgetRows(() => true, [target]).map((r) => [r.case, r.value]);
  assert.equal(counts("wasm"), counts("js"));
});

test("the js target exists, so that the budgets are asserted at all", () => {
  assert.ok(targetNames.includes("js"));
});

test.run();
