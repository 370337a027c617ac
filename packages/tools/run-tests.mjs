// The child process of test.mjs: imports each test module, runs uvu's queue and keeps the counts in result.json,
// rewritten after each suite so that a crash still says how far the run came. Never prints the closing line itself.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const listPath = process.argv[2];
const resultPath = join(dirname(listPath), "result.json");
// FC_RUNS multiplies the random cases, and so the time a suite may take.
const patience = Math.max(1, Number(process.env.FC_RUNS ?? 1));
const limitMs = Number(process.env.KILN_TEST_TIMEOUT_MS ?? 120_000 * patience);
const [setup, ...files] = JSON.parse(readFileSync(listPath, "utf8"));

const result = {
  passed: 0,
  failed: 0,
  skipped: [],
  elapsedMs: {},
  current: setup.name,
  finished: false,
};
const save = () => writeFileSync(resultPath, JSON.stringify(result));

// Filled by tests/support/skip.ts.
globalThis.KILN_SKIPPED = result.skipped;
globalThis.UVU_DEFER = 1;
globalThis.UVU_QUEUE = [];

function failFile(name, reason) {
  result.failed += 1;
  console.error(`\n  FAIL ${name}\n    ${reason}\n`);
}

async function importTests({ name, url }) {
  result.current = name;
  save();
  globalThis.UVU_INDEX = globalThis.UVU_QUEUE.push([name]) - 1;
  try {
    await import(url);
  } catch (error) {
    failFile(name, error?.stack ?? error);
    return;
  }
  if (globalThis.UVU_QUEUE[globalThis.UVU_INDEX].length === 1) {
    failFile(name, "registers no suite: end the file with test.run()");
  }
}

/** uvu skips without a name: by hand (`test.skip`), or all but the chosen ones (`test.only`). */
function recordUnnamed(name, count) {
  for (let i = 0; i < count; i++) result.skipped.push({ name, reason: "test.skip or test.only" });
  if (count > 0 && process.env.CI) failFile(name, "test.skip and test.only are not allowed in CI");
}

/**
 * Ends the process when a file takes too long: too much of the processor, or no progress for as long. One that is slow because the
 * machine is busy goes on, for some time.
 */
function watch(name) {
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  let before = 0;
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(cpu);
    const used = (user + system) / 1000;
    const starved = used - before > limitMs / 100 && used < limitMs;
    before = used;
    if (starved && performance.now() - started < 5 * limitMs) return;
    console.error(`\n${name} runs longer than ${limitMs} ms`);
    process.exit(1);
  }, limitMs);
  // A test that waits for nothing ends the process at once instead of after the limit.
  timer.unref();
  return timer;
}

function counted(name, suite) {
  return async () => {
    result.current = name;
    save();
    const timer = watch(name);
    const started = performance.now();
    const [errors, ran, skipped, total] = await suite().catch((error) => [
      `  FAIL "${name}" (in a hook)\n    ${error?.stack ?? error}\n`,
      0,
      0,
      1,
    ]);
    clearInterval(timer);
    result.elapsedMs[name] = (result.elapsedMs[name] ?? 0) + performance.now() - started;
    // uvu swallows what a hook throws, and then calls nothing failed.
    if (errors === true && ran < total) console.error(`\n  FAIL ${name}\n    a hook threw\n`);
    result.passed += ran;
    result.failed += total - ran;
    recordUnnamed(name, skipped);
    save();
    return [errors, ran, skipped, total];
  };
}

save();
await import(setup.url);
for (const file of files) await importTests(file);
for (const group of globalThis.UVU_QUEUE) {
  const [name, ...suites] = group;
  group.splice(1, suites.length, ...suites.map((suite) => counted(name, suite)));
}
const { exec } = await import("uvu");
await exec();
result.finished = true;
save();
// Browsers and devices that tests leave open would keep the process alive.
process.exit(result.failed > 0 ? 1 : 0);
