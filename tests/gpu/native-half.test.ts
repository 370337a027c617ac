/**
 * f16 on webgpu with the feature shader-f16: every kernel is valid, elements are f16 in memory,
 * four at a time where an f32 is, and results are as near to the exact ones as where halves share
 * words. SwiftShader lacks the feature, so there the numbers are replaced by its refusal.
 */
import {
  concat,
  convert,
  convolution,
  type Dtype,
  gelu,
  input,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { type Device, load, openWebGpu } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { randomProgram } from "../support/graphs.ts";
import { evaluateProgram, printProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { skip } from "../support/skip.ts";
import { gpuTest, heldGpu, nullDevice } from "../support/webgpu.ts";
import { programOf, x } from "./agree.ts";

const features = ["shader-f16"];
const large = {
  maxComputeInvocationsPerWorkgroup: 1024,
  maxComputeWorkgroupStorageSize: 49152,
  maxStorageBuffersPerShaderStage: 8,
};

const h = (name: string, ...shape: number[]): Tensor => x(name, shape, "f16");

/** Programs by name; the leaves of each are made anew in the dtype asked for. */
const programs: Readonly<Record<string, (dtype: Dtype) => Program>> = {
  chain: (d) => {
    const [a, b] = [x("a", [16, 64], d), x("b", [16, 64], d)];
    return programOf([a, b], a.mul(b).add(1).tanh(), a.transpose([1, 0]).mul(0.5));
  },
  "odd extents": (d) => {
    const [a, b] = [x("a", [33, 7], d), x("b", [7, 35], d)];
    return programOf([a, b], a.matmul(b), a.exp(), concat([a, a], 1));
  },
  "product with an epilogue": (d) => {
    const [a, w, b] = [x("a", [96, 72], d), x("w", [80, 72], d), x("b", [80], d)];
    return programOf([a, w, b], gelu(a.matmul(w.transpose([1, 0])).add(b)));
  },
  "few lines": (d) => {
    const [a, b, c] = [x("a", [3, 256], d), x("b", [256, 80], d), x("c", [80, 256], d)];
    return programOf([a, b, c], a.matmul(b), a.matmul(c.transpose([1, 0])));
  },
  rows: (d) => {
    const a = x("a", [32, 128], d);
    return programOf([a], a.softmax(-1), a.sum(0), a.sum(), a.cumsum(1), a.argMax(1));
  },
  "neighbouring fours, and what each lane picks": (d) => {
    const [a, table] = [x("a", [64, 8], d), x("table", [13], d)];
    const [left, right] = [a.slice([0, 0], [64, 4]), a.slice([0, 4], [64, 8])];
    const picked = table.gather([convert(left.abs().mul(8), "i32")], [0]);
    return programOf([a, table], left.add(right.mul(0.5)).add(picked));
  },
  windows: (d) => {
    const [a, w] = [x("a", [2, 8, 12, 12], d), x("w", [16, 8, 3, 3], d)];
    return programOf([a, w], convolution(a, w, { padding: 1 }));
  },
  "a long sum, in parts of f32": (d) => {
    const [a, b] = [x("a", [16, 2048], d), x("b", [2048, 24], d)];
    return programOf([a, b], a.matmul(b));
  },
  attention: (d) => {
    const [q, k, v] = ["q", "k", "v"].map((name) => x(name, [2, 64, 32], d)) as [
      Tensor,
      Tensor,
      Tensor,
    ];
    return programOf([q, k, v], nn.attention(q, k, v, { causal: true }));
  },
};

async function checkValid(device: GPUDevice, text: string, program: Program): Promise<void> {
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ code: text });
  device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
  const error = await device.popErrorScope();
  assert.is(error, null, `${error?.message}\n${text}\n${printProgram(program)}`);
}

const textsOf = (program: Program, options: { features?: string[]; limits?: typeof large } = {}) =>
  compileProgram(program, { target: "webgpu", ...options }).artifact.kernels.map((k) => k.text);

for (const [name, build] of Object.entries(programs))
  test(`${name}: kernels of f16 are valid on a device that has only what is guaranteed and f16`, async () => {
    const device = await nullDevice(["shader-f16"]);
    for (const text of textsOf(build("f16"), { features })) {
      await checkValid(device, text, build("f16"));
      assert.match(text, /^enable f16;/);
      assert.not.match(text, /atomic/, "halves share no word");
    }
  });

test("kernels of random programs of halves are valid", async () => {
  const device = await nullDevice(["shader-f16"]);
  const dtypes: Dtype[] = ["f16", "bf16", "f16", "f32", "i32"];
  await fc.assert(
    fc.asyncProperty(randomProgram({ symbolic: true, dtypes }), async ({ program: random }) => {
      const program = { ...random, inputs: [...random.inputs, input("sized", "i32", ["N"])] };
      for (const text of textsOf(program, { features })) await checkValid(device, text, program);
    }),
    { numRuns: runs(100) },
  );
});

test("without the feature no f16 is printed, and without f16 the feature changes no text", () => {
  for (const build of Object.values(programs)) {
    assert.equal(textsOf(build("f32"), { features }), textsOf(build("f32")));
    assert.equal(textsOf(build("bf16"), { features }), textsOf(build("bf16")));
    for (const text of textsOf(build("f16"))) assert.not.match(text, /\bf16\b/);
  }
});

test("halves are widened on their way into the tiles of a product, and casts rounded there", () => {
  const [a, b] = [h("a", 2048, 2048), h("b", 2048, 2048)];
  const [plain] = textsOf(programOf([a, b], a.matmul(b)), { features, limits: large });
  assert.match(plain!, /var<workgroup> tileA: array<vec4<f32>, \d+>;/);
  assert.match(plain!, /var<storage, read> a: array<vec4<u32>>;/);
  assert.match(plain!, /var aNext0: vec4<f16>/);
  assert.match(plain!, /var c0_0: vec4<f32>/);
  assert.match(plain!, /tileB\[[^\]]*\] = vec4<f32>\(bNext0\);/);
  assert.is(plain!.match(/narrowF164\(/g)!.length - 1, plain!.match(/dotGeneral\[/g)!.length);
  const [u, w] = [x("u", [512, 512]), x("w", [512, 512])];
  const cast = convert(u, "f16").matmul(convert(w, "f16"));
  const texts = textsOf(programOf([u, w], convert(cast, "f32")), { features, limits: large });
  assert.is(texts.length, 1);
  assert.match(texts[0]!, /var<workgroup> tileA: array<vec4<f32>, \d+>;/);
  assert.match(texts[0]!, /var<storage, read> w: array<vec4<f32>>;/);
  assert.match(texts[0]!, /tileB\[[^\]]*\] = nearestF164\(bNext0\);/);
});

test("a widened value that takes long to make is made once, and no kernel is empty", () => {
  const [a, b, c] = [h("a", 64, 64), x("b", [64, 64]), x("c", [64, 64])];
  const sines = (t: Tensor, n: number): Tensor => (n ? sines(t.sin().mul(1.5), n - 1) : t);
  const w = convert(sines(a, 6), "f32");
  const [left, right] = [w.matmul(b), w.transpose().matmul(c)];
  for (const values of [
    [left, right],
    [w.sum(0), w.sum(1)],
    [left, w.sum(1)],
  ]) {
    const program = programOf([a, b, c], ...values);
    const { kernels } = compileProgram(program, { target: "webgpu", features }).artifact;
    assert.is(kernels.filter(({ text }) => /> a: array</.test(text)).length, 1);
    assert.ok(kernels.every(({ bindings }) => bindings.length > 0));
  }
});

test("a buffer read eight at a time gives halves also where lanes do not run together", () => {
  const program = programs["neighbouring fours, and what each lane picks"]!("f16");
  for (const text of textsOf(program, { features })) {
    assert.match(text, /var<storage, read> a: array<vec4<u32>>;/);
    const reads = text.match(/\ba\[/g)!;
    assert.is(text.match(/bitcast<vec\d<f16>>\(a\[/g)?.length, reads.length, text);
  }
});

test("every op of f16 is rounded where it is made, and once where that is stored", () => {
  const a = h("a", 64);
  const [text] = textsOf(programOf([a], a.mul(3).add(1)), { features });
  assert.match(text!, /narrowF164\(nearestF164\([^()]*(\([^()]*\)[^()]*)*\) \+ /);
  assert.not.match(text!, /narrowF164\(nearestF164\([^()]*(\([^()]*\)[^()]*)*\)\);/);
});

test("a product in f32 of halves is not rounded, though every op of halves is", () => {
  const [a, b] = [h("a", 64, 64), h("b", 64, 64)];
  const program = programOf([a, b], convert(a, "f32").matmul(convert(b, "f32")).mul(3));
  const options = { target: "webgpu", features } as const;
  for (const { text } of compileProgram(program, options).artifact.kernels) {
    assert.match(text, /var<storage, read> a: array<vec4<u32>>;/);
    assert.not.match(text, /nearestF16/);
  }
});

function feedsOf(program: Program): Map<Tensor, Value> {
  const feeds = new Map<Tensor, Value>();
  for (const [k, t] of program.inputs.entries()) {
    const shape = t.shape as number[];
    const size = shape.reduce((p, q) => p * q, 1);
    // Eighths: exact in f16 and bf16.
    const data = Float64Array.from({ length: size }, (_, i) => (((i * 7 + k * 5) % 13) - 6) / 8);
    feeds.set(t, { dtype: t.dtype, shape, data });
  }
  return feeds;
}

/** Results against the same program in f64, and in what is left of an f16 after a few roundings. */
async function checkNumbers(device: Device, name: string): Promise<void> {
  const [program, exact] = [programs[name]!("f16"), programs[name]!("f64")];
  const want = evaluateProgram(exact, feedsOf(exact));
  for (const limits of [undefined, device.limits]) {
    const options = { target: "webgpu", features, ...(limits ? { limits } : {}) } as const;
    const { values } = await runProgram(program, feedsOf(program), {}, device, options);
    for (const [i, v] of values.entries())
      v.data.forEach((got, j) => {
        const y = want[i]!.data[j]!;
        const near = Math.abs(got - y) <= 2 ** -9 * (0.1 + Math.abs(y));
        assert.ok(near, `${name}: ${i}[${j}] is ${got}, exactly ${y}`);
      });
  }
}

gpuTest(
  "an artifact for shader-f16 is right where it runs, and refused where it does not",
  async () => {
    const gpu = await heldGpu("backend=vulkan", "enable-dawn-features=vulkan_enable_f16_on_nvidia");
    const device = await openWebGpu({ gpu, allowSoftware: true });
    if (device.features.has("shader-f16"))
      for (const name of Object.keys(programs)) await checkNumbers(device, name);
    else skip("numbers of f16 with shader-f16", "the adapter lacks shader-f16");
    const { artifact } = compileProgram(programs.chain!("f16"), {
      target: "webgpu",
      features: [...features, "no-such-feature"],
    });
    assert.equal(artifact.features, ["shader-f16", "no-such-feature"]);
    const missing = device.features.has("shader-f16") ? "no-such-feature" : "shader-f16";
    await load(artifact, device, { states: [] }).then(
      () => assert.unreachable("it was loaded"),
      (error: Error) =>
        assert.is(
          error.message,
          `load: artifact needs ${missing}, which the device lacks\n  compile it without that feature, or take another adapter`,
        ),
    );
    device.destroy();
  },
);

test.run();
