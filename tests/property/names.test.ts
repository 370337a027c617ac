/**
 * A program may give its tensors and dims any names: those that schedules give loops, arrays and sums, those of ops, and
 * those that the languages of the targets have for something else.
 */
import {
  allOps,
  convolution,
  dim,
  evaluateDim,
  input,
  type Tensor,
  type Value,
  where,
} from "@kiln-ml/ir";
import { createCpuDevice } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { preludeNames } from "../../compiler/src/targets/js/prelude.ts";
import { reserved } from "../../compiler/src/targets/wgsl/reserved.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { nullDevice } from "../support/webgpu.ts";

const schedules =
  "a0 at0 b1 batch block c c00 chunk e f first g i i0 j jj k k0 k1 kept0 kk lane local max0 me n new0 p packedA " +
  "packedB r r1 row s side0 sidea0_0 step sum0 sum0s sums t0 tile tileA tileB tileColumn tileRow to0 u y0";
const jsWords = "Math await delete undefined";
const wgslWords = "partials_f32 combine_sum_f32 combine_max_f32 combine_max_f32_4 prefix_sum_f32";

const own = [...`${schedules} ${jsWords} ${wgslWords}`.split(" ")];
const words = [...allOps().map((r) => r.name), ...reserved].filter((w) => /^[a-z]\w*$/.test(w));

/** Each name beside the next one. Words are many and alike, so that some of them will do. */
const pairs = [...own, ...words.filter((_, i) => i % 8 === 0)].map(
  (name, i, all) => [name, all[(i + 1) % all.length]!] as const,
);

/** Products with a sum beside them, a row kernel, a column sum and a convolution, over dims and tensors of these names. */
function programOf(name: string, other: string): Program {
  const [N, K] = [dim(name), dim(other)];
  const x = input(name, "f32", [N, K]);
  const w = input(other, "f32", [K, 3]);
  const image = input(`${name}_`, "f32", [N, 2, K, 3]);
  const taps = input(`${other}_`, "f32", [4, 2, 2, 2]);
  const y = x.matmul(w).add(x.sum(1, { keepDims: true }));
  const rows = where(x.greater(0), x.softmax(1), x.mul(2));
  const values = [
    y,
    w.sum(0),
    rows,
    x.sum(0),
    convolution(image, taps),
    x.transpose().matmul(rows),
  ];
  return {
    inputs: [x, w, image, taps],
    outputs: values.map((value, i) => ({ name: `y${i}`, value })),
    updates: [],
  };
}

const sample = (t: Tensor, dims: Readonly<Record<string, number>>): Value => {
  const shape = t.shape.map((d) => evaluateDim(d, dims));
  const size = shape.reduce((a, b) => a * b, 1);
  return {
    dtype: "f32",
    shape,
    data: Float64Array.from({ length: size }, (_, i) => ((i * 7) % 11) - 4),
  };
};

test("tensors and dims may have any name, on js", async () => {
  const device = createCpuDevice();
  for (const [name, other] of pairs) {
    const program = programOf(name, other);
    const dims = { [name]: 3, [other]: 11 };
    const feeds = new Map(program.inputs.map((t) => [t, sample(t, dims)]));
    const want = evaluateProgram(program, feeds, dims);
    const options = { target: "js", rounding: "each-op" } as const;
    const { values } = await runProgram(program, feeds, dims, device, options);
    values.forEach((v, at) => {
      assert.ok(sameValue(v, want[at]!), `result ${at} with ${name} and ${other}`);
    });
  }
});

/** A tensor and a dim of these names, and all that the js prelude has a function for. */
function preludeProgram(name: string): Program {
  const x = input(name, "f32", [dim(`${name}_`)]);
  const i = x.mul(3).convert("i32");
  const values = [
    x.round().add(x.erf()).add(x.exp2()).add(x.pow(x)),
    x.tanh().add(x.exp()).mul(x.sigmoid()),
    i.shiftLeft(i.and(3)).add(i.shiftRight(i)),
    i.pow(i.and(3)),
    i.convert("u32").shiftRight(i.convert("u32").and(3)),
    x.mul(3).convert("u32"),
    x.convert("f64").erf(),
    x.convert("f64").argSort(0),
    x.convert("u8").convert("i32").add(x.convert("i8").convert("i32")),
    x.bitcast("i32").bitcast("f32"),
    x.convert("f16").mul(x.convert("f16").exp()).convert("f32"),
    x.convert("bf16").mul(x.convert("bf16").exp()).convert("f32"),
    x.argSort(0),
    i.argSort(0),
  ];
  const outputs = values.map((value, at) => ({ name: `y${at}`, value }));
  return { inputs: [x], outputs, updates: [] };
}

test("a tensor may have the name of anything in the js prelude", async () => {
  const device = createCpuDevice();
  const seen = new Set<string>();
  for (const name of preludeNames) {
    const program = preludeProgram(name);
    const dims = { [`${name}_`]: 7 };
    const feeds = new Map(program.inputs.map((t) => [t, sample(t, dims)]));
    const want = evaluateProgram(program, feeds, dims);
    const options = { target: "js", rounding: "each-op" } as const;
    const { values } = await runProgram(program, feeds, dims, device, options);
    for (const [at, v] of values.entries())
      assert.ok(sameValue(v, want[at]!), `result ${at} with ${name}`);
    for (const { text } of compileProgram(program, { target: "js" }).artifact.kernels)
      for (const used of preludeNames) if (text.includes(`${used}(`)) seen.add(used);
  }
  const functions = preludeNames.filter(
    (n) => !/^(doubleOf|wordsOf|floatOf|patternOf|power(Of|Bi)(Two|ts))$/.test(n),
  );
  assert.equal(
    functions.filter((n) => !seen.has(n)),
    [],
    "functions that no program here calls",
  );
});

test("tensors and dims may have any name, in WGSL", async () => {
  const device = await nullDevice();
  for (const [name, other] of pairs) {
    const { artifact } = compileProgram(programOf(name, other), { target: "webgpu" });
    for (const k of artifact.kernels) {
      device.pushErrorScope("validation");
      device.createShaderModule({ code: k.text });
      const error = await device.popErrorScope();
      assert.is(error, null, `${name}: ${error?.message}\n${k.text}`);
    }
  }
});

test.run();
