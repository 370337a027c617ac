/** `kiln compile`, `inspect` and `bench` on a model, and the artifact through the runtime alone. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readSafetensors } from "@kiln-ml/artifact";
import { readArtifact } from "@kiln-ml/artifact/node";
import { createCpuDevice, createWasmDevice, initialStates, load } from "@kiln-ml/runtime";
import { parseStableHlo } from "@kiln-ml/stablehlo";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Project } from "./kiln.ts";

const project = new Project("model");

project.write(
  "model.ts",
  `import { nn, type Tensor } from "kiln-ml";
class Net extends nn.Module {
  fc1 = new nn.Linear(4, 6);
  fc2 = new nn.Linear(6, 3);
  override forward(x: Tensor) {
    return this.fc2.forward(this.fc1.forward(x).relu()).softmax();
  }
}
export const model = new Net();
export const inputs = [["N", 4]];
`,
);
project.write(
  "build.ts",
  `import type { Tensor } from "kiln-ml";
export async function build() {
  return { name: "scale", fn: ({ x, by }: { x: Tensor; by: Tensor }) => x.mul(by), inputs: [{ x: ["N", 2], by: [] }] };
}
`,
);

test("compile writes a file that the runtime runs", async () => {
  const { code, out, err } = project.kiln("compile", "--no-check", "model.ts", "-o", "net.kiln");
  assert.is(err, "");
  assert.match(
    out,
    /^wrote net\.kiln: Net for js, \d+ steps, \d+ kernels, 4 states, 204 B of weights\n$/,
  );
  assert.is(code, 0);
  const artifact = await readArtifact(join(project.folder, "net.kiln"));
  assert.equal(Object.keys(artifact.weights), ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"]);
  const device = createCpuDevice();
  const run = await load(artifact, device, { states: initialStates(artifact, device) });
  const [y] = await run.run([{ data: new Float32Array(8).fill(0.5), shape: [2, 4] }]);
  const values = await y!.data();
  assert.ok(Math.abs(values[0]! + values[1]! + values[2]! - 1) < 1e-6);
});

test("compile makes the folder it writes to, and picks the target that inspect recommends", () => {
  project.write(
    "large.ts",
    `import type { Tensor } from "kiln-ml";
export const model = { fn: (x: Tensor, y: Tensor) => x.matmul(y), inputs: [[512, 512], [512, 512]] };
`,
  );
  const seen = project.kiln("inspect", "--no-check", "large.ts", "--stage", "placement").out;
  const recommended = /^== placement: (\w+)/.exec(seen)![1]!;
  assert.is(recommended, "wasm");
  const { out, err } = project.kiln("compile", "--no-check", "large.ts", "-o", "new/er/large.kiln");
  assert.is(err, "");
  assert.match(out, /^wrote new\/er\/large\.kiln: fn for wasm, /);
});

test("run and bench take what compile wrote", () => {
  const ran = project.kiln("run", "net.kiln", "--dims", "N=5");
  assert.match(
    ran.out,
    /^Net on js, made-up inputs:\n {2}result: f32\[5,3\], from 0\.\d+ to 0\.\d+\n$/,
  );
  const { outputs } = JSON.parse(project.kiln("run", "net.kiln", "--json").out);
  assert.equal(outputs[0].shape, [32, 3]);
  const bench = project.kiln("bench", "net.kiln", "--runs", "3");
  assert.match(bench.out, /^Net on js: [\d.]+ ms a run \(median of 3, fastest [\d.]+\), first run/);
  for (const command of ["run", "bench"])
    assert.is(
      project.kiln(command, "net.kiln", "--dims", "M=5").err,
      `kiln ${command}: the model has no dim M\n  its dims are N\n`,
    );
});

test("options that mean nothing for an artifact, or for a script, are refused", () => {
  for (const command of ["run", "bench"])
    assert.is(
      project.kiln(command, "net.kiln", "--threads", "2", "--no-fusion").err,
      `kiln ${command}: --threads, --no-fusion cannot be had for an artifact, which is compiled already: net.kiln\n`,
    );
  assert.is(
    project.kiln("run", "model.ts", "--dims", "N=5").err,
    "kiln run: --dims is for artifacts, and model.ts is a script\n",
  );
  assert.match(project.kiln("run", "net.kiln", "--target", "wasm").err, /wasm/);
});

test("a syntax error is told with its place, in JavaScript too", () => {
  for (const name of ["wrong.js", "wrong.ts"]) {
    project.write(name, "const x = 1;\nlet = ;\n");
    const { code, err } = project.kiln("run", "--no-check", name);
    assert.match(err, `${name}:2:`);
    assert.is(code, 1);
  }
});

test("compile says as JSON what it wrote", () => {
  const { out } = project.kiln("compile", "--no-check", "--json", "model.ts", "-o", "j.kiln");
  const { out: path, target, weightBytes } = JSON.parse(out);
  assert.equal([path, target, weightBytes], ["j.kiln", "js", 204]);
});

test("compile writes a folder for XLA, whose manifest is that of the text", () => {
  const args = ["--target", "stablehlo", "--mesh", "data=4", "--shard", "fsdp", "-o", "step"];
  project.write(
    "step.ts",
    `import { nn, optim, type Tensor } from "kiln-ml";
const net = new nn.Sequential(new nn.Linear(64, 32), new nn.Dropout(0.1), new nn.Linear(32, 4));
const rule = new optim.AdamW(net.parameters(), { lr: 0.01 });
net.state();
export const model = {
  name: "step",
  inputs: [["N", 64], { shape: ["N"], dtype: "i32" }],
  fn(x: Tensor, y: Tensor) {
    const loss = nn.crossEntropy(net.forward(x), y);
    rule.step(loss);
    return loss;
  },
};
`,
  );
  const { code, out, err } = project.kiln(
    "compile",
    "--no-check",
    "step.ts",
    "--dims",
    "N=8",
    ...args,
  );
  assert.is(err, "");
  assert.is(
    out,
    "wrote step: step for XLA on 4 devices (data=4), 12 arguments, 11 results\n  run it where jax is: python3 step/run.py\n",
  );
  assert.is(code, 0);
  const file = (name: string) => readFileSync(join(project.folder, "step", name));
  const main = parseStableHlo(String(file("step.mlir"))).functions.get("main")!;
  const { mesh, args: given, results } = JSON.parse(String(file("manifest.json")));
  assert.equal(mesh, [["data", 4]]);
  const shapes = (list: readonly { shape: readonly number[] }[]) => list.map((x) => x.shape);
  assert.equal(shapes(given), shapes(main.args));
  assert.equal(shapes(results), shapes(main.results));
  assert.equal(
    given.map((a: { alias?: number }) => a.alias),
    main.aliases,
  );
  const states = given.filter((a: { kind: string }) => a.kind !== "input");
  const { tensors } = readSafetensors(file("weights.safetensors"));
  assert.equal(Object.keys(tensors).sort(), states.map((a: { name: string }) => a.name).sort());
  assert.equal(states.find((a: { name: string }) => a.name === "0.weight").spec, [null, "data"]);
  assert.ok(String(file("run.py")).split("\n").length <= 61);
  assert.not.match(String(file("run.py")), /kiln/i);
});

test("options of XLA are refused elsewhere, and what is no mesh", () => {
  const told = (...args: string[]) =>
    project.kiln("compile", "--no-check", "model.ts", "-o", "m", ...args).err;
  assert.is(told("--mesh", "data=2"), "kiln compile: --mesh is for --target stablehlo alone\n");
  assert.is(
    told("--target", "stablehlo", "--mesh", "8"),
    "kiln compile: --mesh must be like data=4,model=2, got 8\n",
  );
  assert.is(
    told("--target", "stablehlo", "--shard", "zero"),
    "kiln compile: --shard knows data, fsdp, tensor, got zero\n",
  );
});

test("compile writes a folder from a build function", async () => {
  const { code, out, err } = project.kiln("compile", "--no-check", "build.ts", "-o", "scale");
  assert.is(err, "");
  assert.match(out, /^wrote scale: scale for js/);
  assert.is(code, 0);
  const artifact = await readArtifact(join(project.folder, "scale"));
  assert.equal(
    artifact.signature.inputs.map((i) => i.name),
    ["arg0.x", "arg0.by"],
  );
});

test("inspect shows the usual sections of a model", () => {
  const { code, out, err } = project.kiln("inspect", "--no-check", "model.ts", "--dims", "N=2");
  assert.is(err, "");
  assert.is(code, 0);
  for (const line of [
    "== Net for js",
    "  dim N in [1, inf]",
    "  input arg0: f32[2,4]",
    "  state fc1.weight: f32[6,4]",
    "of temporaries",
    "== costs",
  ])
    assert.match(out, line);
  assert.match(out, /== groups: \d+ kernels/);
});

test("inspect shows the IR before and after passes, and kernels", () => {
  const args = ["--no-check", "--stage", "graph,simplify,kernels"];
  const { out, code } = project.kiln("inspect", ...args, "model.ts");
  assert.is(code, 0);
  assert.match(out, "== graph\ngraph Net(%arg0: f32[N,4], %fc1.weight: param f32[6,4]");
  assert.match(out, "== after simplify (1 of 2)\n");
  assert.match(out, /-- \w+\nfunction \w+\(/);
  const print = project.kiln("inspect", "--no-check", "--print-after", "dce", "model.ts");
  assert.match(print.out, /^== after dce\ngraph Net/);
});

test("a wasm artifact shows its modules, phases and stacks, and runs", async () => {
  const args = ["--no-check", "--target", "wasm", "model.ts"];
  const { code, out, err } = project.kiln("compile", ...args, "-o", "net-wasm");
  assert.is(err, "");
  assert.match(
    out,
    /^wrote net-wasm: Net for wasm, \d+ steps, \d+ kernels, a module of [\d.]+ kB, /,
  );
  assert.is(code, 0);
  const shown = project.kiln("inspect", "net-wasm", "--stage", "kernels", "--dims", "N=8").out;
  assert.match(shown, /^== kernels: \d+\n {2}module of [\d.]+ kB, [\d.]+ kB with relaxed SIMD\n/);
  assert.match(shown, /^kernel +phase +units +stack bytes$/m);
  const artifact = await readArtifact(join(project.folder, "net-wasm"));
  for (const { name, phases } of artifact.kernels) {
    assert.match(shown, name);
    for (const { entry } of phases!) assert.match(shown, new RegExp(`\\b${entry} +\\d+\\b`));
  }
  const device = createWasmDevice({ threads: 1 });
  const run = await load(artifact, device, { states: initialStates(artifact, device) });
  const [y] = await run.run([{ data: new Float32Array(8).fill(0.5), shape: [2, 4] }]);
  const values = await y!.data();
  assert.ok(Math.abs(values[0]! + values[1]! + values[2]! - 1) < 1e-5);
  const text = project.kiln("inspect", "--stage", "kernels", ...args).out;
  assert.match(text, "(func ");
});

test("inspect explains where auto would run a model", () => {
  const explain = (...args: string[]) =>
    project.kiln("inspect", "--no-check", "--stage", "placement", "model.ts", ...args);
  const few = explain("--threads", "1");
  assert.is(few.err, "");
  assert.match(
    few.out,
    /^== placement: js\ntarget +ms a run +compute +launches +transfer +load once\njs /,
  );
  assert.match(few.out, /^js is [\d.]+× as fast as wasm: it is loaded sooner\.$/m);
  assert.match(few.out, /^Dims count as N=32: /m);
  assert.match(few.out, /^No adapter was looked for/m);
  const many = explain("--threads", "4", "--dims", "N=1000000", "--adapter", "none").out;
  assert.match(many, /^== placement: wasm\n/);
  assert.match(many, /^webgpu is left out: there is no adapter$/m);
  assert.match(many, "Estimated for wasm with 4 threads and no adapter.");
});

test("inspect reads artifacts, and refuses damaged ones in a line", () => {
  project.write("bad.kiln", "not an artifact");
  const bad = project.kiln("inspect", "bad.kiln");
  assert.match(bad.err, /^ArtifactError: [^\n]+\n$/);
  assert.is(bad.code, 1);
  const { out } = project.kiln("inspect", "net.kiln", "--stage", "all");
  assert.match(out, "== Net for js, 4 weights of 204 B");
});

test("bench times a model and its kernels", () => {
  const { out, code, err } = project.kiln(
    ...["bench", "--no-check", "--target", "js", "--runs", "3", "model.ts"],
  );
  assert.is(err, "");
  assert.is(code, 0);
  assert.match(out, /^Net: [\d.]+ ms a run \(median of 3/);
  assert.match(out, /; compiled in [\d.]+ ms, first run [\d.]+ ms\n/);
  assert.match(out, /ms in kernels, by clock\n$/);
});

test("a script that exports no model, or no inputs", () => {
  project.write("empty.ts", "export const other = 1;\n");
  const empty = project.kiln("inspect", "--no-check", "empty.ts");
  assert.is(empty.err, "empty.ts: exports no model\n  export const model = { fn, inputs }\n");
  assert.is(empty.code, 1);
  project.write("open.ts", "export const model = { fn: (x: unknown) => x };\n");
  const open = project.kiln("inspect", "--no-check", "open.ts");
  assert.match(open.err, /^open\.ts: the model has no inputs\n/);
});

test("inspect gives all of it as JSON, or as a page", async () => {
  const args = ["inspect", "--no-check", "model.ts", "--dims", "N=2", "--target", "js"];
  const { code, out, err } = project.kiln(...args, "--json", "--profile");
  assert.is(err, "");
  assert.is(code, 0);
  const inspection = JSON.parse(out);
  assert.is(inspection.format, "kiln-inspection");
  assert.is(inspection.profile.rows.length, inspection.kernels.length);
  assert.ok(inspection.nodes.some((n: { site?: string }) => /^model\.ts:\d+:\d+$/.test(n.site!)));
  const page = project.kiln(...args, "--html", "net.html");
  assert.is(page.err, "");
  assert.match(page.out, /^wrote net\.html: Net for js, \d+ nodes, \d+ kernels\n$/);
  assert.match(readFileSync(join(project.folder, "net.html"), "utf8"), /^<!doctype html>/);
});

test("inspect takes an artifact too", () => {
  project.kiln("compile", "--no-check", "model.ts", "-o", "inspected.kiln");
  const { code, out } = project.kiln("inspect", "inspected.kiln", "--json");
  assert.is(code, 0);
  assert.equal(JSON.parse(out).nodes, []);
  assert.ok(JSON.parse(out).kernels.length > 0);
});

test("a dim that the model does not have is refused", () => {
  for (const command of ["inspect", "bench"]) {
    const { code, err } = project.kiln(command, "--no-check", "model.ts", "--dims", "N=2,M=3");
    assert.is(err, `kiln ${command}: the model has no dim M\n  its dims are N\n`);
    assert.is(code, 2);
  }
});

test("whoever stops reading ends the command, without a word", () => {
  const { out, err } = project.kilnTo(
    "head -c 5",
    "inspect",
    "--no-check",
    "model.ts",
    "--stage",
    "all",
  );
  assert.is(out.length, 5);
  assert.is(err, "");
});

test.run();
