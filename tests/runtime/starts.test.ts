/** A kernel that begins beyond its buffer, or between its elements, is refused; nothing is read or written. */
import { type Artifact, ArtifactError, encodeArtifact } from "@kiln-ml/artifact";
import { createCpuDevice, createWasmDevice, type Device, load } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { parseProgram } from "../support/reference.ts";
import "../support/setup.ts";

const text = `graph f(%x: f32[16]) {
  %1: f32[16] = neg %x
  return %1
}`;

/** The artifact with its one step beginning at these bytes. */
function beginning(target: "js" | "wasm" | "webgpu", starts: readonly number[]): Artifact {
  const { artifact } = compileProgram(parseProgram(text), { target });
  const [step] = artifact.plan.steps;
  return { ...artifact, plan: { ...artifact.plan, steps: [{ ...step!, starts }] } };
}

async function run(artifact: Artifact, device: Device): Promise<number[]> {
  const exe = await load(artifact, device, { states: [] });
  const [y] = await exe.run([Float32Array.from({ length: 16 }, (_, i) => i)]);
  return [...((await y!.data()) as Float32Array)];
}

const refused = async (artifact: Artifact, device: Device): Promise<string> => {
  try {
    await run(artifact, device);
    return "";
  } catch (error) {
    assert.instance(error, ArtifactError);
    return (error as Error).message;
  }
};

for (const [target, device] of [
  ["js", createCpuDevice()],
  ["wasm", createWasmDevice({ threads: 1 })],
] as const) {
  test(`${target}: a kernel begins where the step says`, async () => {
    assert.equal((await run(beginning(target, [0, 0]), device)).slice(1, 3), [-1, -2]);
  });

  test(`${target}: a kernel that begins past its buffer is refused`, async () => {
    const message = await refused(beginning(target, [1 << 20, 0]), device);
    assert.match(message, /^run: a kernel begins at byte 1048576 of \d+$/);
  });

  test(`${target}: files state starts that divide into elements, one for each place`, () => {
    assert.throws(() => encodeArtifact(beginning(target, [2, 0])), /does not divide into elements/);
    assert.throws(() => encodeArtifact(beginning(target, [4])), /has 1 numbers for 2 places/);
    encodeArtifact(beginning(target, [4, 8]));
  });
}

test("webgpu artifacts have no starts", () => {
  assert.throws(() => encodeArtifact(beginning("webgpu", [0, 0])), /is not for target webgpu/);
});

test.run();
