/**
 * `kiln compile --target native` and the examples that call what it wrote, from C by each compiler
 * that is here and from Python: the numbers are those of js.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { compile, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { model } from "../../examples/precompile/model.ts";
import { Project } from "../cli/kiln.ts";
import { skip } from "../support/skip.ts";
import { compilersHere, make, strict } from "./standalone-library.ts";

const project = new Project("standalone");
const script = resolve("examples/precompile/model.ts");
const folder = join(project.folder, "sentence");
const words = [3, 14, 15];

const compiled = project.kiln("compile", "--no-check", script, "--target", "native", "-o", folder);

async function expected(): Promise<string> {
  const run = compile(model.fn, { target: "js" });
  const chances = await (await run(tensor(Int32Array.from(words)))).data();
  return `${words.length} words: ${Array.from(chances, (p) => Number(p).toFixed(3)).join(" ")}\n`;
}

/** What a command prints; throws with what it complains of. */
function printed(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  assert.is(status, 0, stderr);
  return stdout;
}

test("compile says what it wrote, how large it is and how to build it", () => {
  assert.is(compiled.err, "");
  assert.match(
    compiled.out,
    /^wrote .*sentence: sentence as C of 8 lanes, \d steps, \d kernels; a run takes [\d.]+ kB\n {2}sentence\.c [\d.]+ kB, sentence\.h [\d.]+ kB, Makefile [\d.]+ k?B, sentence\.weights [\d.]+ kB\n {2}build it: make -C .*sentence\n$/,
  );
  const header = readFileSync(join(folder, "sentence.h"), "utf8");
  assert.match(header, "/*   0: words i32[T] */");
  assert.match(header, "#define SENTENCE_INPUTS 1");
});

for (const cc of ["gcc", "clang"]) {
  const name = `the example in C builds without warnings and gives what js does, ${cc}`;
  if (!compilersHere.includes(cc)) skip(name, `${cc} is not here`);
  else
    test(name, async () => {
      assert.is(make(folder, "clean"), undefined);
      assert.is(make(folder, `CC=${cc}`, `CFLAGS=${strict}`, "OPENMP="), undefined);
      const program = join(project.folder, `main-${cc}`);
      const main = resolve("examples/standalone/main.c");
      const archive = join(folder, "libsentence.a");
      const flags = [...strict.split(" "), "-std=c11", `-I${folder}`];
      printed(cc, ...flags, main, archive, "-lm", "-o", program);
      const weights = join(folder, "sentence.weights");
      assert.is(printed(program, weights, ...words.map(String)), await expected());
    });
}

const python = spawnSync("python3", ["-c", "import ctypes"]).status === 0;
const inPython = "the example in Python calls the same library";
if (!python || compilersHere.length === 0) skip(inPython, "no Python or no compiler is here");
else
  test(inPython, async () => {
    assert.is(make(folder, `CC=${compilersHere[0]}`), undefined);
    const call = resolve("examples/standalone/call.py");
    assert.is(printed("python3", call, folder, ...words.map(String)), await expected());
  });

test("what no folder of C can be is refused", () => {
  const told = (...args: string[]) => project.kiln("compile", "--no-check", script, ...args).err;
  assert.is(
    told("--target", "native", "-o", "net.kiln"),
    "kiln compile: --target native writes a folder of C, and net.kiln is a file\n  give --out a folder, such as net\n",
  );
  assert.is(
    told("--target", "native", "-o", "net", "--lanes", "5"),
    "kiln compile: --lanes must be one of 4, 8, 16, got 5\n",
  );
  assert.is(
    told("--target", "native", "-o", "net", "--no-weights"),
    "kiln compile: --no-weights is not for --target native\n",
  );
  assert.is(told("-o", "net", "--embed"), "kiln compile: --embed is for --target native alone\n");
});

test.run();
