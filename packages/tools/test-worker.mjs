// A worker of test-pool.mjs: imports the setup, then each test module it is sent, runs the suites
// that the module registered, lets the setup put back what they left changed, and sends back the
// counts. Prints as uvu does; the pool decides when that is shown.

import { writeSync } from "node:fs";

// FC_RUNS multiplies the random cases, and so the time a file may take.
const patience = Math.max(1, Number(process.env.FC_RUNS ?? 1));
const limitMs = Number(process.env.KILN_TEST_TIMEOUT_MS ?? 240_000 * patience);

// uvu leaves running to us, and pushes a file's suites into the group that UVU_INDEX names.
globalThis.UVU_DEFER = 1;
globalThis.UVU_QUEUE = [];

/** What the setup exports to undo what a file left behind. */
let restore = () => {};

async function setUp(url) {
  const module = await import(url);
  restore = module.restore ?? restore;
  return {};
}

function failFile(result, name, reason) {
  result.failed += 1;
  console.error(`\n  FAIL ${name}\n    ${reason}\n`);
}

/** The suites that a module registers. */
async function importSuites({ name, url }, result) {
  const group = [];
  globalThis.UVU_INDEX = globalThis.UVU_QUEUE.push(group) - 1;
  try {
    await import(url);
  } catch (error) {
    failFile(result, name, error?.stack ?? error);
    return [];
  }
  if (group.length === 0)
    failFile(result, name, "registers no suite: end the file with test.run()");
  return group;
}

/** uvu skips without a name: by hand (`test.skip`), or all but the chosen ones (`test.only`). */
function recordUnnamed(result, name, count) {
  for (let i = 0; i < count; i++) result.skipped.push({ name, reason: "test.skip or test.only" });
  if (count > 0 && process.env.CI)
    failFile(result, name, "test.skip and test.only are not allowed in CI");
}

/**
 * Ends the process when a file takes too long: too much of the processor, or no progress for as
 * long. A file that is slow because the machine is busy goes on, for some time.
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
    writeSync(2, `\n${name} runs longer than ${limitMs} ms\n`);
    process.exit(1);
  }, limitMs);
  // A test that waits for nothing ends the process at once instead of after the limit.
  timer.unref();
  return timer;
}

async function runSuite(suite, name, result) {
  const [errors, ran, skipped, total] = await suite().catch((error) => [
    `  FAIL "${name}" (in a hook)\n    ${error?.stack ?? error}\n`,
    0,
    0,
    1,
  ]);
  if (typeof errors === "string") console.log(`\n${errors}`);
  // uvu swallows what a hook throws, and then calls nothing failed.
  else if (ran < total) console.error(`\n  FAIL ${name}\n    a hook threw\n`);
  result.passed += ran;
  result.failed += total - ran;
  recordUnnamed(result, name, skipped);
}

async function runFile(file) {
  const result = { passed: 0, failed: 0, skipped: [] };
  // Filled by tests/support/skip.ts.
  globalThis.KILN_SKIPPED = result.skipped;
  console.log(file.name);
  const timer = watch(file.name);
  for (const suite of await importSuites(file, result)) await runSuite(suite, file.name, result);
  await restore();
  clearInterval(timer);
  console.log();
  return result;
}

process.on("message", async (message) => {
  // Browsers and devices that tests leave open would keep the process alive.
  if (message.end) process.exit(0);
  process.channel.unref();
  const answer = message.setup ? await setUp(message.setup) : await runFile(message.file);
  process.channel.ref();
  process.send(answer);
});
