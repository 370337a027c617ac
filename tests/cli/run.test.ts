/** `kiln run`: scripts that work, throw, do not type-check, or are not there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Project } from "./kiln.ts";

const project = new Project("run");

project.write(
  "good.ts",
  `import { compile, defaultTarget, type Tensor } from "kiln-ml";
import { three } from "./lib/three.ts";
const f = compile((x: Tensor) => x.add(three).mul(2), { name: "f" });
console.log(await f([0, 1]), defaultTarget(), process.argv.slice(2).join(" "));
console.log(import.meta.filename.endsWith("good.ts"));
`,
);
project.write("lib/three.ts", "export const three: number = 3;\n");

test("a TypeScript script runs, with its own arguments", () => {
  const { code, out, err } = project.kiln("run", "--target", "js", "good.ts", "--", "a", "--b");
  assert.is(err, "");
  assert.is(out, "Tensor f32[2] [6,8] js a --b\ntrue\n");
  assert.is(code, 0);
});

test("--profile prints the kernels, --no-fusion makes more of them", () => {
  const args = ["run", "--target", "js", "--no-check", "--profile"];
  const fused = project.kiln(...args, "good.ts").out;
  const apart = project.kiln(...args, "--no-fusion", "good.ts").out;
  const rowsOf = (out: string) => out.split("\n").filter((line) => /^f +\w+ +1 +/.test(line));
  assert.is(rowsOf(fused).length, 1, fused);
  assert.is(rowsOf(apart).length, 2, apart);
  assert.match(fused, "ms in kernels, by clock");
});

test("--trace writes stages and kernels as slices that lie one after another", () => {
  const { code, err } = project.kiln("run", "--target", "js", "--trace", "t.json", "good.ts");
  assert.is(code, 0);
  assert.match(err, /^wrote t\.json: \d+ slices\n$/);
  const { traceEvents } = JSON.parse(readFileSync(join(project.folder, "t.json"), "utf8")) as {
    traceEvents: { name: string; cat?: string; ph: string; ts: number; dur: number }[];
  };
  const of = (cat: string) => traceEvents.filter((e) => e.cat === cat);
  assert.ok(of("compile").some((e) => e.name === "fuse"));
  assert.equal(
    of("run").map((e) => e.name),
    ["f"],
  );
  assert.is(of("kernel").length, 1);
  for (const { ph, ts, dur } of traceEvents.filter((e) => e.cat)) {
    assert.is(ph, "X");
    assert.ok(ts >= 0 && dur >= 0);
  }
  const [run, kernel] = [of("run")[0]!, of("kernel")[0]!];
  assert.ok(kernel.ts >= run.ts && kernel.ts + kernel.dur <= run.ts + run.dur + 1e-3);
});

test("--trace makes folders on its way, and is refused before the script runs where it is none", () => {
  const made = project.kiln("run", "--target", "js", "--trace", "a/b/t.json", "good.ts");
  assert.match(made.err, /^wrote a\/b\/t\.json: \d+ slices\n$/);
  for (const [given, got] of [
    ["--trace=", '""'],
    ["--trace=lib", "lib"],
  ] as const) {
    const { code, out, err } = project.kiln("run", "--no-check", given, "good.ts");
    assert.is(err, `kiln run: --trace takes the path of a file, got ${got}\n`);
    assert.is(out, "");
    assert.is(code, 2);
  }
});

test("--why-recompiled says what made each program after the first another", () => {
  project.write(
    "again.ts",
    `import { compile, nn, tensor, type Tensor } from "kiln-ml";
const layer = new nn.Dropout(0.5);
const f = compile((x: Tensor) => layer.forward(x).sum(), { name: "f" });
await f([[1, 2]]);
await f([[1, 2], [3, 4]]);
await f([[1, 2], [3, 4], [5, 6]]);
layer.eval();
await f([[1, 2], [3, 4]]);
await f(tensor([1, 2], { dtype: "f32" }));
`,
  );
  const { err, code } = project.kiln(
    "run",
    "--target",
    "js",
    "--no-check",
    "--why-recompiled",
    "again.ts",
  );
  assert.is(
    err,
    [
      "f: compiled again (2): extents are [N0,2], after [1,2]; symbols stand for those that change from here on",
      "f: compiled again (3): a setting that it reads has changed, as training or what is frozen",
      "f: compiled again (4): the arguments have another structure, rank or dtype, or another static value",
      "",
    ].join("\n"),
  );
  assert.is(code, 0);
});

test("a script that throws: message, place, exit code 1, no stack", () => {
  project.write(
    "throws.ts",
    `import { tensor } from "kiln-ml";
function build() {
  return tensor([1, 2]).add(tensor([1, 2, 3]));
}
build();
`,
  );
  const { code, out, err } = project.kiln("run", "--no-check", "throws.ts");
  assert.is(
    err,
    "throws.ts:3:25: ShapeError: add: shapes do not broadcast: [2] and [3] differ at axis -1: 2 and 3\n  shapes are lined up from the right, and extents must be equal or 1: reshape or expandDims one\n",
  );
  assert.is(out, "");
  assert.is(code, 1);
});

test("what a compiled function rejects with points at the call", () => {
  project.write(
    "feed.ts",
    `import { compile, type Tensor } from "kiln-ml";
const f = compile((x: Tensor) => x.add(1), { target: "js", inputs: [["N", 3]] });
async function main() {
  await f([[1, 2]]);
}
main();
`,
  );
  const { code, err } = project.kiln("run", "--no-check", "feed.ts");
  assert.is(
    err,
    "feed.ts:4:3: ShapeError: run: input arg0 must have shape [N,3] = [1,3], got [1,2]\n  reshape it, or declare that axis as a symbol and compile again\n",
  );
  assert.is(code, 1);
});

test("a script that does not type-check: one line with its place, and it does not run", () => {
  project.write(
    "types.ts",
    `import { tensor } from "kiln-ml";
console.log("ran");
const n: number = tensor([1]);
console.log(n);
`,
  );
  const { code, out, err } = project.kiln("run", "types.ts");
  assert.is(err, "types.ts:3:7: Type 'Tensor' is not assignable to type 'number'. (TS2322)\n");
  assert.is(out, "");
  assert.is(code, 1);
});

test("a script with a syntax error: one line with its place", () => {
  project.write("syntax.ts", "const x = ;\n");
  const { code, err } = project.kiln("run", "--no-check", "syntax.ts");
  assert.is(err, 'syntax.ts:1:11: Unexpected ";"\n');
  assert.is(code, 1);
});

test("a script may set its own exit code, and throw what is no error", () => {
  project.write("code.ts", "process.exitCode = 7;\n");
  assert.is(project.kiln("run", "--no-check", "code.ts").code, 7);
  project.write("text.ts", 'throw "gone";\n');
  const { code, err } = project.kiln("run", "--no-check", "text.ts");
  assert.is(err, "error: gone\n");
  assert.is(code, 1);
});

test.run();
