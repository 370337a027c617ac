/**
 * Products of f16 by matrix units: chosen where the device names a unit and operands are f16, valid
 * WGSL for every family of contraction, and exact where an adapter has units. Adapters without them
 * refuse the artifact.
 */
import {
  convert,
  convolution,
  type Dtype,
  dotGeneral,
  gelu,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import { type Device, load, openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { matrixUnitOf } from "../../compiler/src/schedule/gpu/matrix-unit.ts";
import { matrixUnitsOf } from "../../runtime/src/devices/webgpu-matrix.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { skip } from "../support/skip.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";
import { programOf, x } from "./agree.ts";

const unit = "subgroup-matrix-f16-f32-16x16x16-of-32";
const small = "subgroup-matrix-f16-f32-8x8x8-of-8";
const large = {
  maxComputeInvocationsPerWorkgroup: 1024,
  maxComputeWorkgroupStorageSize: 49152,
  maxStorageBuffersPerShaderStage: 8,
};

/** One contraction each, on leaves of a dtype. */
const programs: Readonly<Record<string, (dtype: Dtype) => Program>> = {
  plain: (d) => {
    const [a, b] = [x("a", [64, 64], d), x("b", [64, 96], d)];
    return programOf([a, b], a.matmul(b));
  },
  "turned operands": (d) => {
    const [a, b] = [x("a", [64, 40], d), x("b", [48, 64], d)];
    return programOf([a, b], dotGeneral(a, b, { lhsContract: [0], rhsContract: [1] }));
  },
  "edges in fours": (d) => {
    const [a, b] = [x("a", [76, 44], d), x("b", [44, 84], d)];
    return programOf([a, b], a.matmul(b));
  },
  "odd extents": (d) => {
    const [a, b] = [x("a", [37, 29], d), x("b", [29, 43], d)];
    return programOf([a, b], a.matmul(b));
  },
  "a batch, with an epilogue": (d) => {
    const [a, b, c] = [x("a", [3, 32, 24], d), x("b", [3, 24, 40], d), x("c", [40], d)];
    return programOf([a, b, c], gelu(a.matmul(b).add(c)));
  },
  "side sums of the one operand": (d) => {
    const [a, b] = [x("a", [64, 40], d), x("b", [64, 48], d)];
    return programOf([a, b], a.transpose([1, 0]).matmul(b), a.sum(0));
  },
  "side sums of the other": (d) => {
    const [a, b] = [x("a", [64, 40], d), x("b", [64, 48], d)];
    return programOf([a, b], a.transpose([1, 0]).matmul(b), b.sum(0));
  },
  windows: (d) => {
    const [a, w] = [x("a", [2, 8, 12, 12], d), x("w", [16, 8, 3, 3], d)];
    return programOf([a, w], convolution(a, w, { padding: 1 }));
  },
  "symbolic extents": (d) => {
    const [a, b] = [x("a", ["M" as never, 64], d), x("b", [64, "N" as never], d)];
    return programOf([a, b], a.matmul(b));
  },
};

const textsOf = (program: Program, features: readonly string[]): string[] =>
  compileProgram(program, { target: "webgpu", features, limits: large }).artifact.kernels.map(
    (k) => k.text,
  );

const byMatrices = (texts: readonly string[]): number =>
  texts.filter((t) => t.includes("subgroupMatrixMultiplyAccumulate")).length;

test("the largest unit for f16 and sums of f32 is used, and no other kind", () => {
  assert.equal(matrixUnitOf([small, unit, "shader-f16"]), { m: 16, n: 16, k: 16, size: 32 });
  for (const other of [
    "subgroup-matrix-f16-f16-16x16x16-of-32",
    "subgroup-matrix-u8-u32-16x16x32-of-32",
    "subgroup-matrix-f16-f32-16x16x16",
    "subgroup-matrix-f16-f32-16x6x16-of-32",
    "subgroups",
  ])
    assert.is(matrixUnitOf([other]), undefined);
});

for (const [name, build] of Object.entries(programs))
  test(`${name}: one kernel by matrices, which is valid WGSL`, async () => {
    const gpu = await heldGpu("backend=null", "enable-dawn-features=allow_unsafe_apis");
    const requiredFeatures = ["shader-f16", "subgroups", "chromium-experimental-subgroup-matrix"];
    const device = await (await gpu.requestAdapter())!.requestDevice({
      requiredFeatures: requiredFeatures as GPUFeatureName[],
    });
    for (const by of [unit, small]) {
      const texts = textsOf(build("f16"), ["shader-f16", by]);
      assert.is(byMatrices(texts), 1, by);
      // The null adapter lists no unit, so that it makes no pipelines.
      for (const code of texts) {
        device.pushErrorScope("validation");
        device.createShaderModule({ code });
        const error = await device.popErrorScope();
        assert.is(error, null, `${error?.message}\n${code}`);
      }
    }
    device.destroy();
  });

test("every matrix stands at a constant of its part of a tile, so that Tint has nothing to check", () => {
  for (const [name, build] of Object.entries(programs))
    for (const by of [unit, small]) {
      const [text] = textsOf(build("f16"), ["shader-f16", by]);
      const loads = text!.match(/subgroupMatrixLoad<.*/g)!;
      assert.ok(loads.length > 1, name);
      for (const load of loads) assert.match(load, /\(&tile[AB](\[[^\]]+\])?, u32\(\d+\), \d+u\);/);
    }
});

test("where sums run beside a product, a workgroup has an invocation for every line", () => {
  for (const [m, n] of [
    [64, 512],
    [512, 64],
    [512, 512],
  ] as const)
    for (const by of [unit, small]) {
      const [a, b] = [x("a", [64, m], "f16"), x("b", [64, n], "f16")];
      const program = programOf([a, b], a.transpose([1, 0]).matmul(b), a.sum(0), b.sum(0));
      const options = { target: "webgpu", features: ["shader-f16", by], limits: large } as const;
      const [decision] = compileProgram(program, { ...options, tuning: {} }).decisions;
      const { key, options: ways } = decision!;
      const tiles = ways.flatMap((way) => {
        const sizes = /^matrix units (\d+)x(\d+)/.exec(way)?.slice(1).map(Number);
        return sizes ? [{ way, most: Math.max(...sizes) }] : [];
      });
      assert.ok(tiles.length > 0, key);
      for (const { way, most } of tiles) {
        const tuning = { [key]: way };
        const [kernel] = compileProgram(program, { ...options, tuning }).artifact.kernels;
        const [, size] = /@workgroup_size\((\d+)\)/.exec(kernel!.text)!;
        assert.ok(Number(size) >= most, `${way}: ${size} invocations`);
      }
    }
});

test("halves come eight at a time where lines are so long, and four at a time where they are not", () => {
  const bound = (m: number, k: number, n: number): string[] => {
    const [a, b] = [x("a", [m, k], "f16"), x("b", [k, n], "f16")];
    const [text] = textsOf(programOf([a, b], a.matmul(b)), ["shader-f16", unit]);
    return [...text!.matchAll(/var<storage, read> \w+: array<(.*)>;/g)].map((found) => found[1]!);
  };
  assert.equal(bound(64, 64, 96), ["vec4<u32>", "vec4<u32>"]);
  assert.equal(bound(76, 44, 88), ["vec4<f16>", "vec4<u32>"]);
  assert.equal(bound(64, 48, 84), ["vec4<u32>", "vec4<f16>"]);
  assert.equal(bound(37, 29, 43), ["f16", "f16"]);
});

test("other dtypes, few lines, and devices without a unit or without f16 have the kernels that they had", () => {
  const build = programs.plain!;
  assert.equal(
    textsOf(build("f16"), ["shader-f16"]).map((t) => /subgroup/.test(t)),
    [false],
  );
  assert.equal(textsOf(build("f16"), [unit]), textsOf(build("f16"), []));
  for (const d of ["f32", "bf16"] as const)
    assert.equal(textsOf(build(d), ["shader-f16", unit]), textsOf(build(d), []));
  const [a, b] = [x("a", [4, 256], "f16"), x("b", [256, 64], "f16")];
  assert.is(byMatrices(textsOf(programOf([a, b], a.matmul(b)), ["shader-f16", unit])), 0);
});

test("operands that are converted on their way go by matrices too", () => {
  const [a, b] = [x("a", [64, 64]), x("b", [64, 64])];
  const y = convert(convert(a.mul(2), "f16").matmul(convert(b, "f16")), "f32");
  const texts = textsOf(programOf([a, b], y), ["shader-f16", unit]);
  assert.is(texts.length, 1);
  assert.is(byMatrices(texts), 1);
  assert.match(texts[0]!, /var<storage, read> a: array<vec4<f32>>;/);
});

test("what large products bring often is made f16 beforehand, once for all of them", () => {
  const castsOf = (size: number, features: readonly string[]): number => {
    const [a, g] = [x("a", [4096, size], "f16"), x("g", [4096, size], "f16")];
    const w = x("w", [size, size]);
    const forward = a.matmul(convert(w.transpose(), "f16"));
    const program = programOf([a, w, g], forward, g.matmul(convert(w, "f16")));
    return textsOf(program, features).length - 2;
  };
  assert.is(castsOf(512, ["shader-f16", unit]), 1);
  assert.is(castsOf(256, ["shader-f16", unit]), 0);
  assert.is(castsOf(512, ["shader-f16"]), 0);
});

function feedsOf(program: Program, dims: Readonly<Record<string, number>>): Map<Tensor, Value> {
  const feeds = new Map<Tensor, Value>();
  for (const [k, t] of program.inputs.entries()) {
    const shape = t.shape.map((d) => (typeof d === "number" ? d : dims[String(d)]!));
    const size = shape.reduce((p, q) => p * q, 1);
    const data = Float64Array.from({ length: size }, (_, i) => (((i * 7 + k * 5) % 13) - 6) / 8);
    feeds.set(t, { dtype: t.dtype, shape, data });
  }
  return feeds;
}

async function checkNumbers(device: Device, name: string): Promise<void> {
  const [program, exact] = [programs[name]!("f16"), programs[name]!("f64")];
  const dims = { M: 37, N: 52 };
  const want = evaluateProgram(exact, feedsOf(exact, dims), dims);
  const options = {
    target: "webgpu",
    features: [...device.features],
    limits: device.limits,
  } as const;
  const { values } = await runProgram(program, feedsOf(program, dims), dims, device, options);
  for (const [i, v] of values.entries())
    v.data.forEach((got, j) => {
      const y = want[i]!.data[j]!;
      const near = Math.abs(got - y) <= 2 ** -10 * (0.1 + Math.abs(y));
      assert.ok(near, `${name}: ${i}[${j}] is ${got}, exactly ${y}`);
    });
}

test("a unit counts where kernels of this version's text compile, and nowhere else", async () => {
  const gpu = await heldGpu("backend=null", "enable-dawn-features=allow_unsafe_apis");
  const requiredFeatures = ["shader-f16", "subgroups", "chromium-experimental-subgroup-matrix"];
  const device = await (await gpu.requestAdapter())!.requestDevice({
    requiredFeatures: requiredFeatures as GPUFeatureName[],
  });
  const config = { componentType: "f16", resultComponentType: "f32", M: 16, N: 16, K: 16 };
  const info = { subgroupMinSize: 32, subgroupMaxSize: 32, subgroupMatrixConfigs: [config] };
  const unitsOf = (sizes: object = info, on = device) => matrixUnitsOf(on, sizes as never);
  assert.equal(await unitsOf(), [unit]);
  assert.equal(await unitsOf({ ...info, subgroupMinSize: 16 }), []);
  // A Dawn whose extension has other words.
  const create = device.createShaderModule.bind(device);
  const other = ({ code }: GPUShaderModuleDescriptor) =>
    create({ code: code.replaceAll("subgroupMatrixLoad", "subgroup_matrix_load") });
  Object.defineProperty(device, "createShaderModule", { value: other });
  assert.equal(await unitsOf(), []);
  device.destroy();
});

gpuTest("products by matrices are right where there are units, and refused elsewhere", async () => {
  const gpu = await heldGpu(
    "backend=vulkan",
    "enable-dawn-features=vulkan_enable_f16_on_nvidia,allow_unsafe_apis",
  );
  const device = await openWebGpu({ gpu, allowSoftware: true });
  if (matrixUnitOf([...device.features]) && device.features.has("shader-f16"))
    for (const name of Object.keys(programs)) await checkNumbers(device, name);
  else skip("numbers of products by matrices", "the adapter has no matrix units");
  const absent = "subgroup-matrix-f16-f32-64x64x64-of-64";
  const { artifact } = compileProgram(programs.plain!("f16"), {
    target: "webgpu",
    features: [absent],
  });
  await load(artifact, device, { states: [] }).then(
    () => assert.unreachable("it was loaded"),
    (error: Error) =>
      assert.is(
        error.message,
        `load: artifact needs ${absent}, which the device lacks\n  compile it without that feature, or take another adapter`,
      ),
  );
  device.destroy();
});

test.run();
