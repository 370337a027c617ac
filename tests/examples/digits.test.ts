/**
 * The example of the trainer on a slice: what it prints and leaves behind, Ctrl-C, and that it goes on afterwards.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { inFolder, type Outcome, runScript } from "./script.ts";

const script = "examples/digits/fit.ts";

/** Runs the script, and presses Ctrl-C once it has printed an epoch. */
function interrupted(args: readonly string[]): Promise<Outcome> {
  const flags = ["--conditions=@kiln-ml/source", "--import", "tsx", script, ...args];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (text) => {
    out += text;
  });
  child.stderr.on("data", (text) => {
    if (!err.includes("epoch") && String(text).includes("epoch")) child.kill("SIGINT");
    err += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

test("the trainer learns a slice of the digits, is interrupted, and goes on", () =>
  inFolder(async (out) => {
    const args = ["--samples", "500", "--epochs", "12", "--out", out];
    const first = await interrupted(args);
    assert.is(first.code, 130, first.err);
    assert.match(first.err, /\nepoch 1\/12 |^epoch 1\/12 /);
    const [, epoch, step] =
      /interrupted at epoch (\d+), step (\d+): saved .*\.safetensors\n {2}go on with \{ resume: ".*" \}\n/.exec(
        first.err,
      ) ?? [];
    assert.ok(epoch, first.err);
    assert.ok(existsSync(`${out}/step-${step!.padStart(8, "0")}.safetensors`));
    assert.not(existsSync(`${out}/.lock`));
    const second = await runScript(script, args);
    assert.is(second.code, 0, second.err);
    assert.is(/epoch (\d+)\/12 /.exec(second.err)?.[1], epoch);
    const [, accuracy] =
      /^test accuracy ([\d.]+) %, among the first three [\d.]+ %\n$/.exec(second.out) ?? [];
    assert.ok(Number(accuracy) >= 70, second.out);
    for (const name of ["best.safetensors", "report.html", "log.jsonl"])
      assert.ok(existsSync(`${out}/${name}`), name);
    assert.is(readdirSync(out).filter((name) => name.includes("tfevents")).length, 2);
  }));

test.run();
