/**
 * The MNIST example, reduced: `npm start` from training to the table, its exit codes, and Ctrl-C.
 */
import { existsSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { inFolder, runScript } from "./script.ts";

const start = "packages/tools/start.mjs";
const reduced = ["--samples", "800", "--epochs", "2", "--batch", "32", "--runs", "1"];

test("npm start trains, runs the artifacts without the compiler, and compares fusion on and off", () =>
  inFolder(async (out) => {
    const args = [...reduced, "--least", "0.7", "--out", out];
    const { code, out: text, err } = await runScript(start, args);
    assert.is(code, 0, err + text);
    assert.is(err, "");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: output that is no terminal must not have them
    assert.not.match(text, /[\x1b\r]/);
    assert.match(
      text,
      /^training on 720 digits, testing on 80, 5258 parameters\ntarget wasm, device wasm \((relaxed )?simd, \d+ threads?.*\)\n/,
    );
    assert.match(text, /\nepoch 1\/2 {2}loss \d\.\d{4} {2}accuracy [\d.]+ % {2}\d+ images\/s\n/);
    assert.match(text, /\nepoch 2\/2 /);
    assert.match(text, /\ntest accuracy [\d.]+ %: \d+ of 80 right\n/);
    assert.match(
      text,
      /mnist-infer\.kiln, runtime alone on wasm \(.*\): .* 0 of 80×10 scores differ in any bit\n/,
    );
    assert.match(
      text,
      /mnist-step\.kiln, runtime alone: 5 more steps, loss .* 0 differ in any bit\n/,
    );
    assert.match(text, /modules loaded: .*; of the compiler: none\n/);
    assert.match(text, /\ntraining step +on +[\d.]+ ms +\d+ +[\d.]+ MB +[\d.]+ MB\n/);
    assert.match(text, /\ninference +off +[\d.]+ ms +\d+ +[\d.]+ MB +[\d.]+ MB\n/);
  }));

test("an accuracy below the least is a failure", () =>
  inFolder(async (out) => {
    const args = ["--samples", "300", "--epochs", "1", "--least", "1.1", "--out", out];
    const { code, err } = await runScript("examples/mnist/train.ts", args);
    assert.is(code, 1);
    assert.match(err, /^mnist: test accuracy is [\d.]+, must be 1\.1 or more\n {2}train longer: /);
  }));

test("an interrupt ends training early and keeps the artifacts", () =>
  inFolder(async (out) => {
    const args = ["--samples", "300", "--epochs", "5000", "--out", out];
    let sent = false;
    const { code, out: text } = await runScript(start, args, (printed, child) => {
      if (sent || !printed.includes("training on")) return;
      sent = true;
      process.kill(-child.pid!, "SIGINT");
    });
    assert.is(code, 130);
    assert.match(text, /\ninterrupted: keeping what was learnt so far\ntest accuracy /);
    assert.not.match(text, /runtime alone/);
    assert.ok(existsSync(`${out}/mnist-infer.kiln`));
    assert.ok(existsSync(`${out}/mnist-step.kiln`));
  }));

test("npm start runs on js, and on a number of threads, if told so", () =>
  inFolder(async (out) => {
    const few = [...reduced, "--least", "0", "--samples", "300", "--epochs", "1", "--out", out];
    const js = await runScript(start, [...few, "--target", "js"]);
    assert.is(js.code, 0, js.err + js.out);
    assert.match(js.out, /\ntarget js, device cpu\n/);
    assert.match(js.out, / 0 of 30×10 scores differ in any bit\n/);
    const one = await runScript("examples/mnist/train.ts", [...few, "--threads", "1"]);
    assert.match(one.out, /\ntarget wasm, device wasm \((relaxed )?simd, 1 thread\)\n/);
    // Artifacts of one thread run on any number of them, to the same bits.
    const two = await runScript("examples/mnist/deploy.ts", ["--out", out, "--threads", "2"]);
    assert.is(two.code, 0, two.err + two.out);
    assert.match(two.out, / on wasm \(.*, 2 threads\): .* 0 of 30×10 scores differ in any bit\n/);
  }));

test("a wrong option is told in one line", async () => {
  const { code, err } = await runScript("examples/mnist/train.ts", ["--batch", "none"]);
  assert.is(code, 2);
  assert.is(err, "mnist: --batch must be a number of 1 or more, got none\n");
  const target = await runScript("examples/mnist/train.ts", ["--target", "gpu"]);
  assert.is(target.err, "mnist: --target must be auto, js, wasm or webgpu, got gpu\n");
});

test.run();
