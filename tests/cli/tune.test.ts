/** `kiln tune`: what it prints and writes, and what takes its results. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { main } from "../../packages/kiln/src/cli/main.ts";
import { listing } from "../../packages/kiln/src/cli/tune.ts";
import { gpuTest } from "../support/webgpu.ts";
import { Project } from "./kiln.ts";

const project = new Project("tune");
const model = project.write(
  "model.ts",
  `import type { Tensor } from "kiln-ml";
export const model = { name: "product", fn: (x: Tensor, y: Tensor) => x.matmul(y), inputs: [[2, 36], [36, 33]] };
`,
);

gpuTest("tune prints a table and adds to a file, which compile takes", async () => {
  const limits = "16384 bytes and 256 invocations of a workgroup";
  const { version } = JSON.parse(readFileSync("packages/kiln/package.json", "utf8"));
  const other = { target: "webgpu", adapter: "a card", limits, compiler: version, kernels: {} };
  const path = project.write("t.json", JSON.stringify({ format: "kiln-tuning", entries: [other] }));
  const args = ["--no-check", model, "--rounds", "1", "--most", "2", "--guaranteed-limits"];
  const tuned = project.kiln("tune", ...args, "--device", "software", "--output", "t.json");
  assert.is(tuned.err, "");
  assert.is(tuned.code, 0);
  assert.match(tuned.out, new RegExp(`^product on google / swiftshader / .*, ${limits}\n`));
  assert.match(tuned.out, /^kernel +default +ms +best +ms +gain$/m);
  assert.match(tuned.out, /^matmul +few lines +[\d.]+ /m);
  assert.match(tuned.out, /\nwrote t\.json\n$/);
  const [kept, added] = JSON.parse(readFileSync(path, "utf8")).entries;
  assert.equal(kept, other);
  const key = "matmul f32 m=2 n=33 k=36 batch=1 a=k4 b=lines1 rows=a";
  assert.equal(Object.keys(added.kernels), [key]);
  const compile = (...more: string[]) => {
    const to = ["--no-check", model, "--target", "webgpu", "-o", "x.kiln", "--tuning", "t.json"];
    return project.kiln("compile", ...to, ...more);
  };
  assert.match(compile().err, /^GraphError: tuning: 2 adapters have entries for webgpu with 16384/);
  const { err, code } = compile("--adapter", "SwiftShader");
  assert.is(err, "");
  assert.is(code, 0);
});

test("bench reads the table that --tuning names, and leaves one for others alone", () => {
  project.write("none.json", `{"format":"kiln-tuning","entries":[]}`);
  const bench = (path: string) =>
    project.kiln("bench", "--no-check", "--target", "js", "--runs", "1", "--tuning", path, model);
  const { code, err } = bench("none.json");
  assert.is(err, "");
  assert.is(code, 0);
  const missing = bench("missing.json");
  assert.match(missing.err, /^GraphError: tuning: missing\.json does not exist\n/);
  assert.is(missing.code, 1);
});

test("on a target without choices it says so, and writes nothing", () => {
  const args = ["tune", "--no-check", "--target", "js", "--output", "js.json", model];
  const { code, out, err } = project.kiln(...args);
  assert.is(err, "");
  assert.is(out, "product: no kernel has a choice on js\n");
  assert.is(code, 0);
  assert.not(existsSync(join(project.folder, "js.json")));
});

test("a damaged file is found before anything is timed", () => {
  project.write("bad.json", "{");
  const { code, err } = project.kiln("tune", "--no-check", "--output", "bad.json", model);
  assert.match(err, /^GraphError: bad\.json: is no table of a tuner: .*\n {2}delete it, .*\n$/);
  assert.is(code, 1);
});

test("what was left out is listed with the reason, and with --all every time", () => {
  const tried = [
    { option: "a", ms: 2 },
    { option: "b", ms: 1 },
    { option: "c", refused: "why" },
  ];
  const kernel = {
    key: "k",
    name: "n",
    standard: "a",
    standardMs: 2,
    standardRange: [1.9, 2.1],
    best: "b",
    bestMs: 1,
    tried,
    settled: true,
  } as const;
  assert.equal(listing([kernel], false).split("\n"), [
    "kernel  default    ms  best    ms    gain",
    "n       a        2.00  b     1.00  100.0%",
    "n: k",
    "  c: left out, why",
    "",
  ]);
  assert.match(listing([kernel], true), "n: k\n  a: 2.00\n  b: 1.00\n  c: left out, why\n");
  const unsteady = { ...kernel, best: "a", bestMs: 2, tried: [], settled: false };
  assert.match(
    listing([unsteady], false),
    "n: k\n  the default took 1.90 to 2.10: too unsteady to tell, so it stays\n",
  );
});

test("wrong usage", async () => {
  const wrong: readonly [readonly string[], string][] = [
    [["--target", "auto"], "kiln tune: needs a target, auto is none"],
    [["--device", "big"], "kiln tune: --device must be software, got big"],
    [["--rounds", "0"], "kiln tune: --rounds must be an integer of 1 or more, got 0"],
  ];
  for (const [args, message] of wrong) {
    const { write } = process.stderr;
    let err = "";
    process.stderr.write = ((text: string) => {
      err += text;
      return true;
    }) as typeof write;
    try {
      assert.is(await main(["tune", model, ...args]), 2);
    } finally {
      process.stderr.write = write;
    }
    assert.is(err, `${message}\n`);
  }
});

test.run();
