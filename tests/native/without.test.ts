/**
 * Machines that lack what the native target needs, each played in a process of its own: the command
 * says why in a line, and the program runs on wasm. And machines that have it: the same command.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Project } from "../cli/kiln.ts";
import { nativeHere } from "../support/native.ts";
import { skip } from "../support/skip.ts";

const project = new Project("native-without");
project.write(
  "script.ts",
  `import { compile, sessionFor, tensor } from "kiln-ml";
const step = compile((x) => x.mul(x).add(1));
for (const value of [1, 2])
  console.log((await (await step(tensor([value, 3]))).data()).join(" "));
console.log((await sessionFor()).target);
`,
);
/** Node as a project that has not installed koffi. */
const noKoffi = project.write(
  "no-koffi.cjs",
  `const { Module } = require("node:module");
const load = Module._load;
Module._load = (name, ...rest) => {
  if (name === "koffi") throw new Error("Cannot find module 'koffi'");
  return load(name, ...rest);
};
`,
);

type Env = Readonly<Record<string, string>>;

function kiln(env: Env, ...args: string[]) {
  const tsx = pathToFileURL(resolve("node_modules/tsx/dist/loader.mjs")).href;
  const node = ["--conditions=@kiln-ml/source", "--import", tsx];
  const cli = resolve("packages/kiln/src/cli.ts");
  const cache = join(project.folder, "cache");
  const { status, stdout, stderr } = spawnSync(process.execPath, [...node, cli, ...args], {
    cwd: project.folder,
    encoding: "utf8",
    env: { ...process.env, KILN_DEBUG: "", NODE_OPTIONS: "", KILN_CACHE: cache, ...env },
  });
  return { code: status, out: stdout, err: stderr };
}

const run = (env: Env) => kiln(env, "run", "--no-check", "--target", "native", "script.ts");

/** A compiler that says of itself what the real one does, and does not do what it is asked. */
function fake(name: string, does: string): string {
  const path = join(project.folder, name);
  const asked = 'case "$*" in *-dM*) exec cc "$@";; esac';
  writeFileSync(path, `#!/bin/sh\n${asked}\n${does}\n`);
  chmodSync(path, 0o755);
  return path;
}

const hasCompiler = spawnSync("cc", ["--version"]).status === 0;

/** Runs on wasm, with one line that says why and one that says so. */
function fallsBack(name: string, env: () => Env, why: RegExp, needs = true): void {
  const full = `${name}: a line, and the program runs on wasm`;
  if (needs && !hasCompiler) skip(full, "cc is not here");
  else
    test(full, () => {
      const { code, out, err } = run(env());
      assert.is(out, "2 10\n5 10\nwasm\n");
      assert.match(err, why);
      assert.is(err.split("\n").length, 3, err);
      assert.match(err, "\n  programs for native run on wasm\n");
      assert.is(code, 0);
    });
}

fallsBack(
  "no compiler",
  () => ({ KILN_CC: "nothing-here" }),
  /^native: no C compiler is to/,
  false,
);
fallsBack("no koffi", () => ({ NODE_OPTIONS: `--require ${noKoffi}` }), /^native: koffi, which/);
fallsBack(
  "a compiler that fails",
  () => ({ KILN_CC: fake("failing", 'echo "pool.c:1:1: error: no such word" >&2; exit 1') }),
  /^native: .* fails: pool\.c:1:1: error: no such word/,
);
fallsBack(
  "a compile that is killed",
  () => ({ KILN_CC: fake("killed", "kill -9 $$") }),
  /^native: .* fails: it was ended by SIGKILL/,
);
fallsBack(
  "a full disk",
  () => ({ KILN_CC: fake("full", 'echo "as: No space left on device" >&2; exit 1') }),
  /^native: .* No space left on device/,
);

test("nothing of those compiles is left", () => {
  const { err } = run({ KILN_CC: "nothing-here" });
  assert.match(err, "no C compiler");
  if (!hasCompiler) return;
  assert.equal(readdirSync(join(project.folder, "cache/native")), []);
});

test("doctor says what is missing and what would mend it", () => {
  const { code, out } = kiln({ KILN_CC: "nothing-here" }, "doctor", "--json");
  const { findings } = JSON.parse(out);
  const found = findings.find((f: { what: string }) => f.what === "native");
  assert.is(found.ok, false);
  assert.match(found.text, /^native: no C compiler is to be had: nothing-here/);
  assert.match(found.advice, "install gcc or clang");
  assert.is(code, 0);
});

/** Where there is all of it. */
function here(name: string, body: () => void): void {
  if (typeof nativeHere === "string") skip(name, nativeHere);
  else test(name, body);
}

here("kiln run --target native runs there, and finds its library the next time", () => {
  for (const _ of ["compiled", "found"]) {
    const { code, out, err } = run({});
    assert.is(err, "");
    assert.is(out, "2 10\n5 10\nnative\n");
    assert.is(code, 0);
  }
  const made = readdirSync(join(project.folder, "cache/native"));
  assert.ok(made.length >= 2 && made.every((name) => name.endsWith(".so")), `${made}`);
});

here("where the folder of libraries cannot be made, they lie in one for the process", () => {
  const file = project.write("no-folder", "");
  const { out, err } = run({ KILN_CACHE: file });
  assert.is(out, "2 10\n5 10\nnative\n");
  assert.not.match(err, "wasm");
});

here("doctor names the compiler and the vectors", () => {
  const found = JSON.parse(kiln({}, "doctor", "--json").out).findings as { what: string }[];
  const native = found.find(({ what }) => what === "native") as unknown as { text: string };
  assert.match(native.text, /^native \((gcc|clang|Clang).*-bit vectors, \d+ threads?\)$/i);
});

test.run();
