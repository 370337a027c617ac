/**
 * What goes wrong with compilers, folders and files of the native target, verbatim; and what is
 * kept of a compile.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ArtifactError, DeviceError, decodeArtifact, encodeArtifact } from "@kiln-ml/artifact";
import { input } from "@kiln-ml/ir";
import { createWasmDevice } from "@kiln-ml/runtime";
import { openNativeDevice } from "@kiln-ml/runtime/native";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import {
  type Compiler,
  findCompiler,
  keptFolder,
  libraryOf,
} from "../../runtime/src/devices/native/compiler.ts";
import { loadTable, makeLibrary, openPool } from "../../runtime/src/devices/native/executor.ts";
import { poolText } from "../../runtime/src/devices/native/library-text.ts";
import { forge } from "../artifact/sample.ts";
import { nativeOptions, nativeTest } from "../support/native.ts";
import { rejection, thrown } from "./messages.ts";

const scratch = mkdtempSync(join(tmpdir(), "kiln-native-faults-"));
const kept = process.env.KILN_CACHE;
const oldCompiler = process.env.KILN_CC;

const put = (name: string, value: string | undefined): void => {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
};

test.after(() => {
  put("KILN_CACHE", kept);
  put("KILN_CC", oldCompiler);
  rmSync(scratch, { recursive: true, force: true });
});

/** A script that stands where a compiler is looked for. */
function fake(name: string, script: string): string {
  const path = join(scratch, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const sources = new Map([["one.c", "double one(void) { return 1; }"]]);

/** A compiler that says of itself what a real one does, and then does something else. */
const pretended = (command: string): Compiler => ({
  command,
  version: "fake 1",
  lanes: 4,
  flags: [],
  identity: command,
});

test("a machine without a compiler is told how to get one", async () => {
  const path = join(scratch, "nothing-here");
  const message = await rejection(openNativeDevice({ compiler: path }), DeviceError);
  assert.is(
    message,
    `native: no C compiler is to be had: ${path}: spawn ${path} ENOENT\n  install gcc or clang, or name one in KILN_CC; the target wasm needs none`,
  );
});

test("threads are 1 to 256", async () => {
  assert.is(
    await rejection(openNativeDevice({ threads: 0 }), DeviceError),
    'openNativeDevice: threads must be 1 to 256, or "auto", got 0\n  leave it out for one a processor',
  );
});

test("memory is bounded by a number of bytes", async () => {
  for (const maxBytes of [0, -1, Number.NaN]) {
    const told = `the engine gives no memory: maxBytes is ${maxBytes}`;
    assert.is(
      await rejection(openNativeDevice({ maxBytes }), DeviceError),
      `openNativeDevice: ${told}\n  give maxBytes that this machine has`,
    );
    assert.is(
      thrown(() => createWasmDevice({ maxBytes }), DeviceError),
      `createWasmDevice: ${told}`,
    );
  }
});

test("a compiler that fails, or is killed, is quoted, and leaves nothing behind", async () => {
  put("KILN_CACHE", join(scratch, "cache"));
  const failing = fake("failing", 'echo "one.c:1:1: error: no such word" >&2; exit 1');
  assert.is(
    await rejection(libraryOf(pretended(failing), sources), DeviceError),
    `native: ${failing} (fake 1) fails: one.c:1:1: error: no such word\n  use the target wasm, or name another compiler in KILN_CC`,
  );
  const killed = fake("killed", "kill -9 $$");
  assert.is(
    await rejection(libraryOf(pretended(killed), sources), DeviceError),
    `native: ${killed} (fake 1) fails: it was ended by SIGKILL\n  use the target wasm, or name another compiler in KILN_CC`,
  );
  const full = fake("full", 'echo "as: No space left on device" >&2; exit 1');
  assert.match(await rejection(libraryOf(pretended(full), sources), DeviceError), /No space left/);
  assert.equal(readdirSync(join(scratch, "cache", "native")), []);
});

test("a folder into which others may write holds no libraries", () => {
  const open = join(scratch, "open");
  mkdirSync(join(open, "native"), { recursive: true });
  chmodSync(join(open, "native"), 0o777);
  put("KILN_CACHE", open);
  assert.is.not(keptFolder(), join(open, "native"));
  put("KILN_CACHE", "off");
  assert.match(keptFolder(), /kiln-native-/);
});

const program = () => {
  const x = input("x", "f32", [4]);
  return { inputs: [x], outputs: [{ name: "y", value: x.exp() }], updates: [] };
};

test("no file holds native kernels, neither written nor read", () => {
  const { artifact } = compileProgram(program(), { target: "native" });
  const refused =
    "artifact: kernels of target native are C, which runs only where it was compiled from the graph: no file holds them\n  compile for wasm, js or webgpu, or compile for native where it runs";
  assert.is(
    thrown(() => encodeArtifact(artifact), ArtifactError),
    refused,
  );
  const wasm = compileProgram(program(), { target: "wasm" }).artifact;
  const native = (manifest: unknown): void => {
    (manifest as { target: string }).target = "native";
  };
  const read = () => decodeArtifact(forge(native, wasm));
  assert.is(
    thrown(read, ArtifactError),
    'manifest.json: target is "native", not one of js, wasm, webgpu',
  );
});

nativeTest("a library is made once for each compiler", async () => {
  put("KILN_CACHE", join(scratch, "once"));
  const compiler = await findCompiler();
  const first = await libraryOf(compiler, sources);
  assert.is(await libraryOf({ ...compiler, command: "nothing-here" }, sources), first);
  const other = await libraryOf({ ...compiler, identity: "another processor" }, sources);
  assert.is.not(other, first);
});

nativeTest("a library that is damaged, the pool's too, is refused once and made anew", async () => {
  put("KILN_CACHE", join(scratch, "damaged"));
  const real = await findCompiler();
  const compiler = { ...real, identity: `${real.identity}, of this test` };
  const pool = await libraryOf(compiler, new Map([["pool.c", poolText]]));
  writeFileSync(pool, "no library");
  assert.match(
    await rejection(openPool(compiler), DeviceError),
    /^native: the library does not load: .*\n {2}run it again, which compiles it anew$/,
  );
  const opened = await openPool(compiler);
  const path = await makeLibrary(compiler, [], []);
  writeFileSync(path, "no library");
  assert.match(
    thrown(() => loadTable(opened, path), DeviceError),
    /^native: the library does not load/,
  );
  assert.ok(loadTable(opened, await makeLibrary(compiler, [], [])).address > 0);
});

nativeTest("a machine without any folder to write is told so", async () => {
  const code = `import { keptFolder } from ${JSON.stringify(resolve("runtime/src/devices/native/compiler.ts"))};
try { keptFolder(); } catch (e) { console.log(e.constructor.name, e.message); }`;
  // tsx itself writes there before.
  const set = 'process.env.TMPDIR = "/dev/null/tmp"; process.env.KILN_CACHE = "off";';
  const file = join(scratch, "folder.mts");
  writeFileSync(file, code.replace("try {", `${set} try {`));
  const node = ["--conditions=@kiln-ml/source", "--import", "tsx", file];
  const { stdout, stderr } = spawnSync(process.execPath, node, { encoding: "utf8" });
  assert.match(
    stdout,
    /^DeviceError native: no folder for libraries can be made: ENOTDIR.*\n {2}give TMPDIR a folder that can be written, not \/dev\/null\/tmp, or use the target wasm\n$/,
    stderr,
  );
});

nativeTest("a library that others may have written is made anew", async () => {
  put("KILN_CACHE", join(scratch, "strange"));
  const compiler = await findCompiler();
  const path = await libraryOf(compiler, sources);
  const made = readFileSync(path);
  const strange: Record<string, () => void> = {
    "a group's": () => chmodSync(path, 0o770),
    "a link": () => symlinkSync(join(scratch, "elsewhere"), path),
  };
  writeFileSync(join(scratch, "elsewhere"), "no library");
  for (const [name, become] of Object.entries(strange)) {
    if (name === "a link") rmSync(path);
    else writeFileSync(path, "no library");
    become();
    assert.is(await libraryOf(compiler, sources), path);
    const { mode } = lstatSync(path);
    assert.is(mode & 0o170777, 0o100700, name);
    assert.is(readFileSync(path).length, made.length, name);
  }
});

nativeTest("what needs wider vectors than the device has is refused", async (device) => {
  const { load } = await import("@kiln-ml/runtime");
  const { artifact } = compileProgram(program(), { target: "native", features: ["lanes-32"] });
  assert.match(await rejection(load(artifact, device), DeviceError), /artifact needs lanes-32/);
  assert.ok(nativeOptions.features.length > 0);
});

test.run();
