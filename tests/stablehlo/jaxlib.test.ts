/** The bench's programs through jaxlib, where a Python with it is: `KILN_PYTHON` names one, or `python3` is. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { writeChecks } from "../../bench/stablehlo/check.ts";
import { skip } from "../support/skip.ts";

const python = process.env.KILN_PYTHON ?? "python3";
const env = { ...process.env, JAX_PLATFORMS: "cpu" };
const found = spawnSync(python, ["-c", "import jax, jaxlib, ml_dtypes, numpy"], { env });
const name = "jaxlib agrees with the reference on every program of the bench";

test("a program of the bench is three files, beside what runs them", () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-stablehlo-"));
  try {
    const bytes = writeChecks(folder, ["mlp-dropout-adamw-clip", "scatter"]);
    const files = readdirSync(folder);
    assert.is(files.length, 7);
    assert.ok(files.includes("run.py"));
    const about = JSON.parse(readFileSync(join(folder, "mlp-dropout-adamw-clip.json"), "utf8"));
    assert.is(about.steps, 3);
    assert.ok(bytes < 200_000, `${bytes}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

if (found.status !== 0)
  skip(name, `${python} has no jaxlib; pip install jax, or name another Python by KILN_PYTHON`);
else
  test(name, () => {
    const folder = mkdtempSync(join(tmpdir(), "kiln-stablehlo-"));
    try {
      writeChecks(folder);
      const run = spawnSync(python, [join(folder, "run.py")], { env, encoding: "utf8" });
      assert.is(run.status, 0, `${run.stdout}\n${run.stderr}`);
      assert.match(run.stdout, /\d+ passed, 0 failed/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

test.run();
