// Runs the test suite from a fresh clone: installs what is missing, bundles tests/**/*.test.ts with
// esbuild, runs them with uvu in child processes, one a core (or KILN_TEST_WORKERS of them),
// and prints `N passed, N failed` last. Uses only Node itself until the install is known to be
// current. Does not decide what a test may need: that is tests/support.
//
//   npm test                    everything
//   npm test -- fuse            files whose path contains "fuse", or matches it as a regex; of several
//                               patterns, files that match any
//   npm test -- --quick         a minute's worth of every area (quick-tests.mjs), random cases cut to a fifth
//   npm test -- --coverage      from source through tsx, under c8

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { install } from "./install.mjs";
import { isQuick } from "./quick-tests.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
process.chdir(root);

const began = performance.now();
const slowMs = 2000;
/** What the quick tier may take on two cores that nothing else uses. */
const quickSeconds = 60;

function fail(reason) {
  console.log(`${reason}\n0 passed, 1 failed`);
  process.exit(1);
}

/** Paths of the test files, `/`-separated and relative to the root, that match a pattern. */
function findTests(patterns = []) {
  const matchers = patterns.map(matcher);
  const matches = (file) => matchers.length === 0 || matchers.some((m) => m(file));
  return readdirSync("tests", { recursive: true })
    .map((file) => `tests/${String(file).replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".test.ts") && matches(file))
    .sort();
}

function matcher(pattern) {
  try {
    const regex = new RegExp(pattern);
    return (file) => file.includes(pattern) || regex.test(file);
  } catch {
    return (file) => file.includes(pattern);
  }
}

/** The slowest files, where any is slow: the suite is run before every commit, so they matter. */
function printSlow(elapsedMs) {
  const slow = Object.entries(elapsedMs).filter(([, ms]) => ms > slowMs);
  slow.sort(([, a], [, b]) => b - a);
  for (const [name, ms] of slow.slice(0, 5))
    console.log(`  slow: ${name} ${(ms / 1000).toFixed(1)} s`);
}

function printQuick(files) {
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const limit = `at most ${quickSeconds} s on two quiet cores`;
  console.log(`\n  quick: ${files} of ${findTests().length} files in ${seconds} s (${limit})`);
}

/** Removes the bundles of runs that were killed before they could. */
function sweep(folder) {
  for (const pid of existsSync(folder) ? readdirSync(folder) : []) {
    try {
      process.kill(Number(pid), 0);
    } catch (error) {
      if (error.code === "ESRCH") rmSync(join(folder, pid), { recursive: true, force: true });
    }
  }
}

function report({ passed, failed, skipped, elapsedMs }) {
  if (passed + failed === 0) fail("no test ran");
  printSlow(elapsedMs);
  const names = skipped.map(({ name, reason }) => `  skipped: ${name} (${reason})`);
  if (names.length > 0) console.log(`${names.join("\n")}\n`);
  console.log(
    `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`,
  );
  process.exit(failed > 0 ? 1 : 0);
}

/** Runs this script once more under c8, which reads the coverage of all its processes. */
function runUnderC8() {
  const included = ["packages/*/src/**", "compiler/src/**", "runtime/src/**"];
  const c8 = ["node_modules/c8/bin/c8.js", ...included.flatMap((glob) => ["--include", glob])];
  const args = [...c8, process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  process.exit(status ?? 1);
}

if (!install()) fail("npm ci failed");

const options = process.argv.slice(2).filter((arg) => arg.startsWith("--"));
const coverage = options.includes("--coverage");
if (coverage && process.env.NODE_V8_COVERAGE === undefined) runUnderC8();
const patterns = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const unmatched = patterns.filter((pattern) => findTests([pattern]).length === 0);
if (unmatched.length > 0) fail(`no test file matches ${unmatched.join(", ")}`);
const quick = options.includes("--quick");
const tests = findTests(patterns).filter((file) => !quick || isQuick(file));
if (tests.length === 0) fail("no test file is left");

const cache = join(root, "node_modules/.cache/kiln-tests");
sweep(cache);
const out = join(cache, String(process.pid));
mkdirSync(out, { recursive: true });
process.on("exit", () => rmSync(out, { recursive: true, force: true }));

const { unpackChromium } = await import("./chromium.mjs");
const { bundleTests } = await import("./bundle-tests.mjs");
const { runPool, workerCount } = await import("./test-pool.mjs");

const entries = ["tests/support/setup.ts", ...tests];
const modules = coverage
  ? entries.map((file) => join(root, file))
  : await bundleTests(root, out, entries).catch((error) => fail(error.message));
const [setup, ...files] = modules.map((path, i) => ({
  name: entries[i],
  url: pathToFileURL(path).href,
}));
// Before Node 22 relaxed SIMD stands behind a flag; both variants of wasm kernels are tested everywhere.
const relaxed =
  Number(process.versions.node.split(".")[0]) < 22 ? ["--experimental-wasm-relaxed-simd"] : [];
const fromSource = coverage ? ["--conditions=@kiln-ml/source", "--import", "tsx"] : [];
const total = await runPool(files, {
  setup: setup.url,
  out,
  count: workerCount(),
  execArgv: [...relaxed, "--enable-source-maps", ...fromSource],
  // No test writes into the user's own cache; those of the cache make folders of their own.
  env: {
    ...(quick ? { FC_RUNS: "0.2" } : {}),
    ...process.env,
    KILN_CACHE: "off",
    ...unpackChromium(root),
  },
}).catch((error) => fail(error.message));
if (quick) printQuick(tests.length);
report(total);
