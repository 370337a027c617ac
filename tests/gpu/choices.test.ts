/**
 * What there is to choose when a program is compiled for webgpu: a table's choice is what the kernel has, keys do not depend on
 * the program around, and every option is right.
 */
import { dotGeneral } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { webgpu } from "../../compiler/src/targets/wgsl/target.ts";
import { gpuTest } from "../support/webgpu.ts";
import { agrees, open, programOf, x } from "./agree.ts";

const decide = (program: Program, tuning: Readonly<Record<string, string>> = {}) =>
  compileProgram(program, { target: "webgpu", tuning });

const product = (m: number | string, n: number, k: number): Program => {
  const [a, b, bias] = [x("a", [m as never, k]), x("b", [k, n]), x("bias", [n])];
  return programOf([a, b, bias], a.matmul(b).add(bias).maximum(0));
};

test("a table's choice is what the kernel has", () => {
  const program = product(100, 60, 24);
  const plain = compileProgram(program, { target: "webgpu" });
  assert.equal(plain.decisions, []);
  const { decisions, artifact } = decide(program);
  assert.equal(artifact, plain.artifact);
  assert.is(decisions.length, 1);
  const [{ key, options, chosen }] = decisions as [(typeof decisions)[number]];
  assert.ok(options.length > 3);
  assert.is(chosen, options[0]);
  for (const option of options) {
    const other = decide(program, { [key]: option });
    assert.is(other.decisions[0]!.chosen, option);
    assert.equal(other.artifact.kernels, other.decisions[0]!.artifact(option).kernels);
    assert.is(other.artifact.kernels[0]!.text === artifact.kernels[0]!.text, option === chosen);
  }
});

test("what a table names and the compiler does not know is left alone", () => {
  const program = product(100, 60, 24);
  const { decisions, artifact } = decide(program);
  const other = decide(program, { [decisions[0]!.key]: "7x7 1x1 3", "matmul of old": "32x32" });
  assert.equal(other.artifact, artifact);
});

test("a key says what decides the speed, and not where the kernel stands", () => {
  const keys = (program: Program) => decide(program).decisions.map((d) => d.key);
  const key = "matmul f32 m=100 n=60 k=24 batch=1 a=k4 b=lines4 rows=a after=2";
  assert.equal(keys(product(100, 60, 24)), [key]);
  assert.equal(keys(product("N", 60, 24)), [key.replace("m=100", "m=N")]);
  const { inputs, outputs } = product(100, 60, 24);
  const other = x("other", [7]);
  const beside = programOf([other, ...inputs], other.exp(), outputs[0]!.value);
  assert.equal(keys(beside), [key]);
  const [a, b] = [x("a", [24, 100]), x("b", [60, 24])];
  const turned = dotGeneral(a, b, { lhsContract: [0], rhsContract: [1] });
  assert.equal(keys(programOf([a, b], turned)), [
    "matmul f32 m=100 n=60 k=24 batch=1 a=lines4 b=k4 rows=a",
  ]);
});

test("equal kernels are one choice, of few lines tiles are one, and long sums have a number of parts", () => {
  const [a, b, c] = [x("a", [64, 64]), x("b", [64, 64]), x("c", [64, 64])];
  assert.is(decide(programOf([a, b, c], a.matmul(b).exp().matmul(c).exp())).decisions.length, 1);
  const [row, w] = [x("row", [2, 512]), x("w", [512, 300])];
  const [few] = decide(programOf([row, w], row.matmul(w))).decisions;
  assert.is(few!.options[0], "few lines");
  assert.ok(few!.options.length > 1);
  const long = programOf([x("p", [8, 4096]), x("q", [4096, 8])]);
  const [p, q] = long.inputs as [(typeof long.inputs)[0], (typeof long.inputs)[0]];
  const program = programOf([p, q], p.matmul(q));
  const [parts] = decide(program).decisions;
  assert.is(parts!.of, "node");
  assert.is(parts!.options[0], "16");
  assert.ok(parts!.options.includes("1"));
  assert.is(decide(program, { [parts!.key]: "1" }).artifact.plan.steps.length, 1);
  assert.is(parts!.artifact("4").plan.steps.length, 2);
});

test("matrix units' cuts come first where there are any, and tiles remain a choice", () => {
  const [a, b] = [x("a", [256, 64], "f16"), x("b", [64, 256], "f16")];
  const features = ["shader-f16", "subgroup-matrix-f16-f32-16x16x16-of-32"];
  const limits = { ...webgpu.defaultLimits, maxComputeWorkgroupStorageSize: 49152 };
  const options = { target: "webgpu", features, limits } as const;
  const program = programOf([a, b], a.matmul(b));
  const { decisions, artifact } = compileProgram(program, { ...options, tuning: {} });
  assert.equal(artifact, compileProgram(program, options).artifact);
  const [{ key, options: ways }] = decisions as [(typeof decisions)[number]];
  assert.is(key, "matmul f16 m=256 n=256 k=64 batch=1 a=k4 b=lines4 rows=a unit=16x16x16 of 32");
  const cuts = ways.filter((way) => /^matrix units \d+x\d+ \d+x\d+ \d+$/.test(way));
  assert.ok(cuts.length > 1 && cuts.length < ways.length);
  assert.equal(ways.slice(0, cuts.length), cuts);
  for (const way of ways) {
    const { kernels } = compileProgram(program, { ...options, tuning: { [key]: way } }).artifact;
    assert.is(/subgroupMatrixMultiply/.test(kernels[0]!.text), cuts.includes(way));
    if (way !== ways[0]) assert.is.not(kernels[0]!.text, artifact.kernels[0]!.text);
  }
});

test("a product of f16 made f32 has another key than one of f32", () => {
  const [a, b] = [x("a", [64, 64], "f16"), x("b", [64, 64], "f16")];
  const program = programOf([a, b], a.convert("f32").matmul(b.convert("f32")));
  const given = { target: "webgpu", features: ["shader-f16"], tuning: {} } as const;
  const [{ key }] = compileProgram(program, given).decisions as readonly { key: string }[] as [
    { key: string },
  ];
  assert.is(key, "matmul f32 m=64 n=64 k=64 batch=1 a=k4:f16 b=lines4:f16 rows=a");
});

test("of rows the size of a team is a choice, where a row's length is known", () => {
  const rows = x("rows", [64, 512]);
  const program = programOf([rows], rows.softmax());
  const [decision] = decide(program).decisions;
  assert.is(
    decision!.key,
    "rows of 128x4 outer=64 reduceMax:f32 sub:f32 exp:f32 reduceSum:f32 reciprocal:f32 mul!:f32",
  );
  assert.equal(decision!.options, ["32 of 32 by 4", "128 of 128 by 1", "64 of 64 by 2"]);
  const { kernels } = decide(program, { [decision!.key]: "64 of 64 by 2" }).artifact;
  assert.match(kernels[0]!.text, "@workgroup_size(64)");
  const symbolic = x("rows", ["N" as never, "M" as never]);
  assert.equal(decide(programOf([symbolic], symbolic.softmax())).decisions[0]!.options, [
    "striding",
  ]);
});

// Shaders of larger blocks take a software adapter seconds to compile, and differ from these in numbers alone.
const small = /4x4|few|^\d+$|by/;

gpuTest("options of a choice are right, whichever is taken", async () => {
  const device = await open();
  const { limits } = device;
  const [row, many] = [x("row", [3, 70]), x("many", [70, 130])];
  const [p, q] = [x("p", [5, 1024]), x("q", [1024, 6])];
  const wide = x("wide", [3, 260]);
  const programs: readonly Program[] = [
    product("N", 36, 7),
    programOf([row, many], row.matmul(many)),
    programOf([p, q], p.matmul(q)),
    programOf([wide], wide.softmax()),
  ];
  for (const program of programs) {
    const [decision] = compileProgram(program, { target: "webgpu", limits, tuning: {} }).decisions;
    const { key, options } = decision!;
    // The compiler's own choices are what other tests run.
    const option = options.slice(1).find((o) => small.test(o));
    assert.ok(option, key);
    await agrees(device, `${key}: ${option}`, program, { N: 21 }, { [key]: option });
  }
  device.destroy();
});

test.run();
