/** An artifact as a model: on a device of its target, with inputs and outputs by name. */
import {
  type Artifact,
  DeviceError,
  GraphError,
  type LoadedArtifact,
  printExtent,
  type TargetName,
} from "@kiln-ml/artifact";
import {
  type Device,
  type Input,
  initialStates,
  load,
  openWebGpu,
  type RunOptions,
} from "@kiln-ml/runtime/loader";
import { wasmMissing } from "../devices/wasm-support.ts";
import type { OpenedModel } from "./open-model.ts";
import {
  inOrderOf,
  type ModelResult,
  type ModelTensor,
  type ModelValue,
  plainNames,
} from "./values.ts";

const devices = new Map<TargetName, Promise<Device>>();

/** The device that models of a target share. Throws DeviceError if this machine has none. */
export function deviceFor(target: TargetName): Promise<Device> {
  const known = devices.get(target);
  if (known) return known;
  const opening = open(target);
  devices.set(target, opening);
  // A failure is not kept, nor is a device that was lost.
  const forget = () => {
    if (devices.get(target) === opening) devices.delete(target);
  };
  opening.then((device) => device.lost.then(forget), forget);
  return opening;
}

async function open(target: TargetName): Promise<Device> {
  if (target === "js") return (await import("@kiln-ml/runtime/cpu")).createCpuDevice();
  if (target === "webgpu") return openWebGpu();
  const missing = wasmMissing();
  if (missing)
    throw new DeviceError(
      `openModel: ${missing}\n  compile the model for js too, and pass { wasm: …, js: … }`,
    );
  return (await import("@kiln-ml/runtime/wasm")).createWasmDevice({ threads: "auto" });
}

type Spec = Artifact["signature"]["inputs"][number];

function tensors(specs: readonly Spec[]): ModelTensor[] {
  const names = plainNames(specs.map((s) => s.name));
  return specs.map(({ dtype, shape }, i) => ({
    name: names[i]!,
    dtype,
    shape: shape.map((e) => (typeof e === "number" ? e : printExtent(e))),
  }));
}

export async function artifactModel(
  { artifact, kernels }: LoadedArtifact,
  targets: readonly TargetName[] | undefined,
): Promise<OpenedModel> {
  const { target, signature } = artifact;
  if (targets && !targets.includes(target))
    throw new GraphError(
      `openModel: ${artifact.name} is compiled for ${target}, targets are ${targets.join(", ")}\n  compile it for one of them, or leave targets out`,
    );
  const unset = signature.states.find(({ name }) => !Object.hasOwn(artifact.weights, name));
  if (unset)
    throw new GraphError(
      `openModel: ${artifact.name} has no weights for ${unset.name}\n  compile it without --no-weights, or load it with @kiln-ml/runtime and states of your own`,
    );
  const device = await deviceFor(target);
  const states = initialStates(artifact, device);
  const executable = await load(artifact, device, kernels ? { states, kernels } : { states });
  const [inputs, outputs] = [tensors(signature.inputs), tensors(signature.outputs)];
  const names = inputs.map((i) => i.name);
  const run = async (
    given: Readonly<Record<string, ModelValue>>,
    options?: RunOptions,
  ): Promise<Record<string, ModelResult>> => {
    const arrays = await executable.run(inOrderOf(names, given) as Input[], options);
    try {
      const results: [string, ModelResult][] = [];
      for (const [i, array] of arrays.entries()) {
        const { dtype, shape } = array;
        results.push([outputs[i]!.name, { data: await array.data(), shape, dtype }]);
      }
      return Object.fromEntries(results);
    } finally {
      for (const array of arrays) array.dispose();
    }
  };
  const dispose = async (): Promise<void> => {
    executable.dispose();
    for (const state of states) state.dispose();
  };
  return { name: artifact.name, target, inputs, outputs, run, dispose };
}
