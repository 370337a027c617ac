/** Where "auto" puts a program: by its counts, and by what there is. No device is opened here. */
import { compileProgram } from "@kiln-ml/compiler/all";
import { input, param, type Tensor } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  adapterKind,
  type Counts,
  countsOf,
  type Machine,
  nominalDims,
  place,
} from "../../packages/kiln/src/devices/placement.ts";
import { costs } from "../../packages/kiln/src/devices/target-costs.ts";

const countsFor = (inputs: readonly Tensor[], value: Tensor): Counts => {
  const outputs = [{ name: "y", value }];
  return countsOf(compileProgram({ inputs, outputs, updates: [] }, { target: "js" }).artifact);
};

function mlp(batch: number | string, sizes: readonly number[]): Counts {
  const x = input("x", "f32", [batch, sizes[0]!]);
  let h: Tensor = x;
  for (const [i, size] of sizes.slice(1).entries()) {
    const w = param(new Float32Array(sizes[i]! * size), {
      name: `w${i}`,
      shape: [sizes[i]!, size],
    });
    h = h.matmul(w).tanh();
  }
  return countsFor([x], h);
}

const square = (n: number, f: (a: Tensor, b: Tensor) => Tensor): Counts => {
  const [a, b] = [input("a", "f32", [n, n]), input("b", "f32", [n, n])];
  return countsFor([a, b], f(a, b));
};

const page: Machine = { wasm: { threads: 1 }, webgpu: "integrated" };
const workstation: Machine = { wasm: { threads: 8 }, webgpu: "discrete" };
const server: Machine = { wasm: { threads: 2 }, webgpu: "no adapter" };
const strict: Machine = { wasm: "this page's policy forbids WebAssembly", webgpu: "no adapter" };

test("a tiny network runs on js, because loading wasm takes longer than all its runs", () => {
  for (const machine of [page, workstation, server]) {
    const { target, reason } = place(mlp(1, [4, 8, 2]), machine);
    assert.is(target, "js");
    assert.match(reason, /^js is [\d.]+× as fast as wasm: it is loaded sooner$/);
  }
});

test("a small network runs on wasm, with a card in the machine or not", () => {
  for (const machine of [page, workstation, server])
    assert.is(place(mlp(16, [784, 64, 10]), machine).target, "wasm");
});

test("a matmul of 4096 runs on an adapter if it is a real one", () => {
  const counts = square(4096, (a, b) => a.matmul(b));
  assert.is(place(counts, workstation).target, "webgpu");
  assert.is(place(counts, page).target, "webgpu");
  assert.is(place(counts, server).target, "wasm");
  const software = place(counts, { ...server, webgpu: "software" });
  assert.is(software.target, "wasm");
  assert.is(software.refused.webgpu, "the only adapter is software, slower than the CPU");
});

test("one elementwise pass stays on the CPU: its operands would have to be moved", () => {
  const counts = square(2048, (a, b) => a.mul(b).add(a).tanh());
  for (const machine of [page, workstation]) {
    const { target, estimates, reason } = place(counts, machine);
    assert.is(target, "wasm");
    const gpu = estimates.find((e) => e.target === "webgpu")!;
    assert.ok(gpu.transfer > gpu.compute);
    assert.match(reason, /^wasm is /);
  }
});

test("js is what remains where WebAssembly is forbidden", () => {
  const counts = square(512, (a, b) => a.matmul(b));
  const { target, refused, reason } = place(counts, strict);
  assert.is(target, "js");
  assert.is(reason, "js is the only target here");
  assert.equal(refused, strict);
});

test("f64 keeps a program off WebGPU, and size keeps one out of a wasm memory", () => {
  const x = input("x", "f64", [4096, 4096]);
  const wide = place(countsFor([x], x.matmul(x)), workstation);
  assert.is(wide.target, "wasm");
  assert.is(wide.refused.webgpu, "webgpu has no f64");
  const big = input("x", "f32", [40_000, 40_000]);
  const { refused } = place(countsFor([big], big.tanh()), server);
  assert.is(refused.wasm, "the program needs 12.8 GB, a memory has 4.2 GB");
});

test("f16 and bf16 keep a program off no target", () => {
  for (const dtype of ["f16", "bf16"] as const) {
    const counts = { ...square(4, (a, b) => a.add(b)), dtypes: new Set([dtype, "f32"]) };
    assert.equal(place(counts, workstation).refused, {});
    assert.is(place(counts, strict).target, "js");
  }
});

test("threads share a step only if that is faster than waking them", () => {
  const steps = (flops: number): Counts => ({
    steps: [{ flops, bytes: 0 }],
    kernels: 1,
    uploaded: 0,
    read: 0,
    held: 0,
    dtypes: new Set(["f32"]),
  });
  const wasm = (flops: number, threads: number) =>
    place(steps(flops), { wasm: { threads }, webgpu: "none" }).estimates.find(
      (e) => e.target === "wasm",
    )!;
  assert.is(wasm(1e4, 4).launches, wasm(1e4, 1).launches);
  assert.is(wasm(1e9, 4).launches, wasm(1e9, 1).launches + costs.wasm.wake);
  assert.is(wasm(1e9, 4).compute * 4, wasm(1e9, 1).compute);
});

test("symbols count at their largest, or 32, or their least", () => {
  const of = (min: number, max: number | null) => {
    const x = input("x", "f32", ["N"]);
    const outputs = [{ name: "y", value: x.exp() }];
    const { artifact } = compileProgram({ inputs: [x], outputs, updates: [] }, { target: "js" });
    const dims = [{ name: "N", min, max }];
    return nominalDims({ ...artifact, signature: { ...artifact.signature, dims } }).N;
  };
  assert.equal([of(1, null), of(1, 512), of(100, null), of(0, 8)], [32, 512, 100, 8]);
  assert.is(mlp("N", [4, 3]).uploaded, 32 * 4 * 4);
});

const amount = fc.integer({ min: 0, max: 1e12 });
const anyCounts: fc.Arbitrary<Counts> = fc
  .record({
    steps: fc.array(fc.record({ bytes: amount, flops: amount }), { maxLength: 5 }),
    kernels: fc.nat(5),
    uploaded: amount,
    read: amount,
    held: fc.nat(1e9),
  })
  .map((c) => ({ ...c, dtypes: new Set(["f32"]) }));
const anyMachine: fc.Arbitrary<Machine> = fc.record({
  wasm: fc.oneof(fc.constant("none"), fc.record({ threads: fc.integer({ min: 1, max: 64 }) })),
  webgpu: fc.constantFrom("discrete", "integrated", "software", "none"),
});

test("every target has an estimate or a reason, and the winner the least of them", () => {
  fc.assert(
    fc.property(anyCounts, anyMachine, (counts, machine) => {
      const { target, estimates, refused } = place(counts, machine);
      const named = [...estimates.map((e) => e.target), ...Object.keys(refused)];
      assert.equal(named.sort(), ["js", "wasm", "webgpu"]);
      for (const e of estimates) {
        assert.ok(Number.isFinite(e.total) && e.total >= e.compute + e.launches + e.transfer);
        assert.ok(estimates.find((other) => other.target === target)!.total <= e.total);
      }
      assert.ok(target !== "webgpu" || ["discrete", "integrated"].includes(machine.webgpu));
    }),
  );
});

test("more work never takes less time", () => {
  fc.assert(
    fc.property(anyCounts, fc.record({ bytes: amount, flops: amount }), (counts, step) => {
      const more = { ...counts, steps: [...counts.steps, step] };
      const before = place(counts, workstation).estimates;
      for (const e of place(more, workstation).estimates)
        assert.ok(e.total >= before.find((b) => b.target === e.target)!.total);
    }),
  );
});

test("an adapter's kind is read from its name", () => {
  for (const name of [
    "NVIDIA H200",
    "NVIDIA GeForce RTX 3060",
    "ampere",
    "AMD Radeon RX 6800",
    "rdna-3",
  ])
    assert.is(adapterKind(name), "discrete", name);
  for (const name of [
    "Intel(R) UHD Graphics 620",
    "apple",
    "metal-3",
    "gen-12lp",
    "adreno-7xx",
    "",
  ])
    assert.is(adapterKind(name), "integrated", name);
  for (const name of [
    "SwiftShader Device (Subzero)",
    "llvmpipe (LLVM 15)",
    "Microsoft Basic Render Driver",
  ])
    assert.is(adapterKind(name), "software", name);
});

test.run();
