/** Artifacts of random programs: what comes back from their files runs to the same bits as what the compiler gave. */
import {
  type Artifact,
  decodeArtifact,
  encodeArtifact,
  kernelModule,
  packArtifact,
  unpackArtifact,
} from "@kiln-ml/artifact";
import {
  allocateHost,
  evaluateDim,
  type HostArray,
  hostDataOf,
  input,
  type Tensor,
  toHost,
  type Value,
} from "@kiln-ml/ir";
import {
  createCpuDevice,
  createWasmDevice,
  type Device,
  type KernelModule,
  load,
} from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { randomProgram, sampleDims } from "../support/graphs.ts";
import { runs } from "../support/setup.ts";

const cpu = createCpuDevice();

type Dims = Readonly<Record<string, number>>;

function host(t: Tensor, feeds: ReadonlyMap<Tensor, Value>, dims: Dims): HostArray {
  const value = feeds.get(t);
  if (value) return toHost(t.dtype, value.data);
  if (t.op === "data") return hostDataOf(t);
  return allocateHost(
    t.dtype,
    shapeOf(t, dims).reduce((a, b) => a * b, 1),
  );
}

const shapeOf = (t: Tensor, dims: Dims): number[] => t.shape.map((d) => evaluateDim(d, dims));

/** The bytes of the outputs and of all states after one run. */
async function run(
  artifact: Artifact,
  inputs: readonly Tensor[],
  states: readonly Tensor[],
  feeds: ReadonlyMap<Tensor, Value>,
  dims: Dims,
  { kernels, on: device = cpu }: { kernels?: KernelModule; on?: Device } = {},
): Promise<Uint8Array[]> {
  const upload = (t: Tensor) => device.upload(host(t, feeds, dims), t.dtype, shapeOf(t, dims));
  const held = states.map(upload);
  const exe = await load(artifact, device, { states: held, ...(kernels ? { kernels } : {}) });
  const outputs = await exe.run(inputs.map(upload));
  const arrays = await Promise.all([...outputs, ...held].map((a) => a.data()));
  exe.dispose();
  return arrays.map((a) => new Uint8Array(a.buffer, a.byteOffset, a.byteLength));
}

/** Forms an artifact may take between the compiler and the runtime. */
const ways: Record<string, (a: Artifact) => Artifact> = {
  "a folder of files": (a) => decodeArtifact(encodeArtifact(a)),
  "one packed file": (a) => unpackArtifact(packArtifact(a)),
  "files of files": (a) => decodeArtifact(encodeArtifact(unpackArtifact(packArtifact(a)))),
  JSON: (a) => JSON.parse(JSON.stringify(a)) as Artifact,
};

for (const [name, through] of Object.entries(ways))
  test(`through ${name}, an artifact runs to the same bits`, async () => {
    await fc.assert(
      fc.asyncProperty(randomProgram({ symbolic: true }), async ({ program: random, feeds }) => {
        const inputs = [...random.inputs, input("sized", "i32", ["N"])];
        const { artifact, states } = compileProgram({ ...random, inputs }, { target: "js" });
        const again = through(artifact);
        for (const dims of sampleDims) {
          const want = await run(artifact, inputs, states, feeds(dims), dims);
          assert.equal(await run(again, inputs, states, feeds(dims), dims), want);
        }
      }),
      { numRuns: runs(40) },
    );
  });

test("a module of the kernels runs to the same bits as their texts", async () => {
  await fc.assert(
    fc.asyncProperty(randomProgram(), async ({ program, feeds }) => {
      const { artifact, states } = compileProgram(program, { target: "js" });
      const text = kernelModule(artifact.kernels);
      const url = `data:text/javascript;base64,${Buffer.from(text).toString("base64")}`;
      const module = (await import(url)) as KernelModule;
      const want = await run(artifact, program.inputs, states, feeds(), {});
      assert.equal(
        await run(artifact, program.inputs, states, feeds(), {}, { kernels: module }),
        want,
      );
    }),
    { numRuns: runs(30) },
  );
});

test("wasm artifacts of random programs come back from files without texts, and run to the same bits", async () => {
  const wasm = createWasmDevice({ threads: 1 });
  await fc.assert(
    fc.asyncProperty(randomProgram({ symbolic: true }), async ({ program: random, feeds }) => {
      const inputs = [...random.inputs, input("sized", "i32", ["N"])];
      const { artifact, states } = compileProgram({ ...random, inputs }, { target: "wasm" });
      const kernels = artifact.kernels.map((k) => ({ ...k, text: "" }));
      const again = decodeArtifact(encodeArtifact(artifact));
      assert.equal(again, { ...artifact, kernels });
      assert.equal(unpackArtifact(packArtifact(artifact)), again);
      const dims = sampleDims[0]!;
      const want = await run(artifact, inputs, states, feeds(dims), dims, { on: wasm });
      assert.equal(await run(again, inputs, states, feeds(dims), dims, { on: wasm }), want);
    }),
    { numRuns: runs(30) },
  );
});

test("webgpu artifacts of random programs are the same after a trip through files", () => {
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), ({ program: random }) => {
      const inputs = [...random.inputs, input("sized", "i32", ["N"])];
      const { artifact } = compileProgram({ ...random, inputs }, { target: "webgpu" });
      assert.equal(decodeArtifact(encodeArtifact(artifact)), artifact);
      assert.equal(unpackArtifact(packArtifact(artifact)), artifact);
    }),
    { numRuns: runs(60) },
  );
});

test.run();
