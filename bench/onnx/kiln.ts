/**
 * Kiln as an engine. Webgpu accepts a software adapter.
 */
import { setThreads, useDevice } from "../../packages/kiln/src/index.ts";
import { loadOnnx, type OnnxModel } from "../../packages/kiln/src/onnx.ts";
import { openNativeDevice } from "../../runtime/src/devices/native.ts";
import { openWebGpu } from "../../runtime/src/index.ts";
import type { Engine, OurTarget } from "./engine.ts";
import type { Tensors } from "./values.ts";

type Inputs = Parameters<OnnxModel["run"]>[0];

export async function kilnEngine(target: OurTarget, threads: number): Promise<Engine> {
  if (target === "webgpu") useDevice(await openWebGpu({ allowSoftware: true }));
  if (target === "wasm") setThreads(threads);
  if (target === "native") useDevice(await openNativeDevice({ threads }));
  return {
    name: target,
    open: async ({ name, bytes, beside, dims }) => {
      const external = (location: string) => beside.get(location);
      const model = loadOnnx(bytes, { target, file: name, external, ...(dims ? { dims } : {}) });
      return {
        run: (inputs: Tensors) => model.run(inputs as Inputs),
        kernels: async (inputs: Tensors) => (await model.profile(inputs as Inputs)).length,
        compiles: () => model.compiles,
        close: async () => {},
      };
    },
  };
}
