/**
 * The column of PyTorch: rows from what bench/examples/run.py writes, cells in the form of our own
 * results, and that every example has a recipe or a reason why not.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Example, examples } from "../../packages/tools/src/examples/list.ts";
import {
  keepPytorch,
  type PytorchRow,
  pytorchCell,
  pytorchRows,
  rowsOf,
} from "../../packages/tools/src/examples/pytorch.ts";

const trained = (name: string, seed: number, value: number) => ({
  name,
  seed,
  value,
  seconds: 2,
  measures: "test accuracy",
  where: "one core",
  torch: "2.9.0",
});

test("a row is the mean and the deviation over seeds that ended", () => {
  const failed = { name: "gat", seed: 1, error: "took too long", seconds: 420 };
  const seeds = [0.5, 0.6, 0.7].map((value, i) => trained("gcn", i + 1, value));
  const [row, ...others] = rowsOf([...seeds, trained("gcn", 4, Number.NaN), failed]);
  assert.is(others.length, 0);
  assert.ok(Math.abs(row!.value - 0.6) < 1e-12);
  assert.ok(Math.abs(row!.deviation! - 0.1) < 1e-12);
  assert.is(row!.seeds, 3);
  assert.is(rowsOf([trained("gcn", 1, 0.5)])[0]!.deviation, null);
});

test("a cell is as precise as what the example printed", () => {
  const example: Example = {
    name: "made",
    script: "",
    shows: "",
    number: /accuracy ([\d.e+-]+)/,
    reaches: { quick: [">=", 0], full: [">=", 0] },
  };
  const row: PytorchRow = {
    case: "made",
    target: "one core",
    metric: "loss",
    value: 0.81249,
    deviation: 0.0051,
    seeds: 3,
  };
  assert.is(pytorchCell(example, "accuracy 0.81", [row]), "0.81 ± 0.01");
  assert.is(pytorchCell(example, "accuracy 97.5 %", [row]), "0.8 ± 0.0");
  assert.is(pytorchCell(example, "accuracy 1.62e-3", [row]), "8.12e-1 ± 5.10e-3");
  assert.is(pytorchCell(example, "what it said", [row]), "loss 0.812 ± 0.005");
  assert.is(pytorchCell(example, undefined, [row]), "0.812 ± 0.005");
  const one = { ...row, deviation: null, seeds: 1, note: "on others" };
  assert.is(pytorchCell(example, "accuracy 0.812", [one]), "0.812 (on others), 1 seed");
  assert.is(pytorchCell({ ...example, pytorch: "none: it serves" }, "", []), "none: it serves");
  assert.is(pytorchCell(example, "accuracy 0.8", []), "not measured");
});

test("what run.py wrote takes the place of its rows alone", () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-pytorch-"));
  try {
    const [record, results] = [join(folder, "pytorch.json"), join(folder, "results.json")];
    const before = [
      { case: "gcn", value: 0.1 },
      { case: "unet", value: 0.2 },
    ];
    writeFileSync(record, JSON.stringify({ rows: before }));
    const failed = { name: "unet", seed: 1, error: "took too long", seconds: 420 };
    writeFileSync(results, JSON.stringify([trained("gcn", 1, 0.8), failed]));
    assert.equal(keepPytorch(results, record), { kept: 1, failed: [failed] });
    const values = pytorchRows(record).map((row) => [row.case, row.value]);
    assert.equal(values, [
      ["gcn", 0.8],
      ["unet", 0.2],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("every example has a recipe for PyTorch, or a reason why not", () => {
  const source = readFileSync("bench/examples/run.py", "utf8");
  const [, table] = source.match(/^RECIPES = \{\n([\s\S]*?)^\}/m)!;
  const recipes = [...table!.matchAll(/^ +"(\w+)": \[([^\]]*)\]/gm)].flatMap(
    ([, module, names]) => {
      const own = [...names!.matchAll(/"([^"]+)"/g)].map(([, name]) => name!);
      const text = readFileSync(`bench/examples/${module}.py`, "utf8");
      for (const name of own) assert.match(text, `    "${name}": (`, `${module}.py`);
      return own;
    },
  );
  const expected = examples.filter((e) => e.pytorch === undefined).map((e) => e.name);
  assert.equal([...recipes].sort(), [...expected].sort());
  for (const row of pytorchRows()) assert.ok(recipes.includes(row.case), row.case);
});

test.run();
