/** Tuning on a device that is lost or reports faults meanwhile: it ends in a line, keeps no memory, and blames nobody else. */
import type { Artifact } from "@kiln-ml/artifact";
import { input } from "@kiln-ml/ir";
import { createCpuDevice, type Device, openWebGpu } from "@kiln-ml/runtime";
import { compile, type Tensor, type TensorLike, useDevice } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Decision } from "../../compiler/src/choices.ts";
import { Candidate, Feeds } from "../../packages/kiln/src/tune/candidate.ts";
import { tuneChoice } from "../../packages/kiln/src/tune/choice.ts";
import { timeInTurns } from "../../packages/kiln/src/tune/turns.ts";
import { type Driver, Device as FakedDevice } from "../../runtime/src/device.ts";
import type { WebGpuDriver } from "../../runtime/src/devices/webgpu.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";
import { rejection } from "./net.ts";

const timing = { rounds: 1, warmUp: 0, lead: 0 };

const opened = async (): Promise<Device> =>
  openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });

/** x + 1. */
function artifactFor(target: "js" | "webgpu"): Artifact {
  const x = input("x", "f32", [300]);
  const program = { inputs: [x], outputs: [{ name: "y", value: x.add(1) }], updates: [] };
  return compileProgram(program, { target }).artifact;
}

const filled = (...shape: [number, number]): TensorLike => ({
  data: new Float32Array(shape[0] * shape[1]).fill(0.5),
  shape,
});

gpuTest("tuning ends with an error if the device is lost between two choices", async () => {
  const device = await opened();
  useDevice(device);
  const twice = compile((x: Tensor, y: Tensor, z: Tensor) => x.matmul(y).matmul(z), {
    target: "webgpu",
  });
  const args: [TensorLike, TensorLike, TensorLike] = [filled(3, 40), filled(40, 33), filled(33, 5)];
  const seen: string[] = [];
  const observe = ({ key }: { key: string }): void => {
    seen.push(key);
    device.destroy();
  };
  const error = await rejection(twice.tune(args, { rounds: 1, most: 2, warmUp: 0, observe }));
  assert.is(seen.length, 1);
  assert.is(`${error.name}: ${error.message}`, "DeviceError: tune: the device was destroyed");
});

gpuTest(
  "what is made ready has ended before its failure is thrown, and none is unhandled",
  async () => {
    const device = await opened();
    const feeds = new Feeds(device, {});
    const standard = await Candidate.open(device, artifactFor("webgpu"), "one", feeds);
    const unhandled: unknown[] = [];
    const note = (error: unknown): unknown => unhandled.push(error);
    process.on("unhandledRejection", note);
    let ended = false;
    const works = [
      async () => {
        throw new Error("no memory");
      },
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        ended = true;
      },
    ];
    assert.is((await rejection(standard.busyWhile(works))).message, "no memory");
    assert.ok(ended);
    await new Promise((resolve) => setTimeout(resolve, 0));
    process.off("unhandledRejection", note);
    assert.equal(unhandled, []);
    standard.exe.dispose();
    feeds.dispose();
    assert.is(device.memory().live, 0);
    device.destroy();
  },
);

gpuTest("a fault of what is made ready is none of the runs that keep the device busy", async () => {
  const device = await opened();
  const feeds = new Feeds(device, {});
  const standard = await Candidate.open(device, artifactFor("webgpu"), "one", feeds);
  const gpu = (device.driver as WebGpuDriver).device;
  await standard.busyWhile([
    async () => {
      // No buffer may be mapped and be a storage buffer: an error that nobody waits for.
      gpu.createBuffer({ size: 16, usage: 0x1 | 0x80 });
      await new Promise((resolve) => setTimeout(resolve, 50));
    },
  ]);
  device.destroy();
});

test("a fault that the device reports after an option's run costs the default nothing", async () => {
  const { driver } = createCpuDevice();
  let fault: string | null = null;
  const load: Driver["load"] = async (artifact, kernels) => {
    const program = await driver.load(artifact, kernels);
    const { name } = artifact;
    return {
      run: (frame) => program.run(frame),
      profile: (frame) => {
        if (name === "faulty") fault = "no memory";
        return program.profile(frame);
      },
      destroy: () => program.destroy(),
    };
  };
  const takeFault = (): string | null => {
    const found = fault;
    fault = null;
    return found;
  };
  const get = (of: Driver, key: string | symbol): unknown => {
    const value: unknown = { load, takeFault }[String(key)] ?? Reflect.get(of, key, of);
    return typeof value === "function" ? value.bind(of) : value;
  };
  const decision: Decision = {
    key: "k",
    of: "kernel",
    name: "add",
    options: ["own", "faulty"],
    chosen: "own",
    artifact: (name) => ({ ...artifactFor("js"), name }),
  };
  const device = new FakedDevice(new Proxy(driver, { get }));
  const tuned = await tuneChoice(device, decision, {}, { ...timing, rounds: 0 });
  assert.equal(
    tuned!.tried.map((t) => t.refused),
    [undefined, undefined],
  );
  assert.is(device.memory().live, 0);
});

test("tuning wants whole numbers of rounds and options", async () => {
  const scale = compile((x: Tensor) => x.mul(2), { target: "js" });
  const why = async (how: object): Promise<string> =>
    (await rejection(scale.tune([[1, 2]], how))).message;
  assert.is(await why({ rounds: 0 }), "tune: rounds must be an integer of 1 or more, got 0");
  assert.is(await why({ most: 1.5 }), "tune: most must be an integer of 1 or more, got 1.5");
});

test("where a clock shows no time, nothing is decided", async () => {
  let calls = 0;
  const coarse = async (): Promise<number> => (calls++ % 3 === 1 ? 0 : 0.1);
  const { ms, settled } = await timeInTurns(coarse, [coarse], { ...timing, rounds: 3 });
  assert.not(settled);
  assert.ok(Number.isFinite(ms[0]));
  const none = await timeInTurns(async () => 0, [async () => 0], timing);
  assert.equal([none.settled, none.ms], [false, [0]]);
});

test.run();
