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
  type Executable,
  type Input,
  initialStates,
  load,
  openWebGpu,
  type RunOptions,
} from "@kiln-ml/runtime/loader";
import { settings } from "../devices/settings.ts";
import { wasmMissing } from "../devices/wasm-support.ts";
import type { OpenedModel } from "./open-model.ts";
import {
  inOrderOf,
  type ModelResult,
  type ModelTensor,
  type ModelValue,
  plainNames,
} from "./values.ts";

/** Which device of a target is meant. */
export interface DeviceWishes {
  /** Accept a WebGPU adapter that runs on the CPU. */
  readonly allowSoftware?: boolean;
  /** In a page, the URL of the script of the wasm threads. */
  readonly threadScript?: string | URL;
}

const devices = new Map<string, Promise<Device>>();

/**
 * The device that models of a target share: the one that `useDevice` named, else one that is opened
 * here. Throws DeviceError if this machine has none.
 */
export function deviceFor(target: TargetName, wishes: DeviceWishes = {}): Promise<Device> {
  const used = settings.used?.get(target);
  if (used) return Promise.resolve(used);
  const software = (wishes.allowSoftware ?? settings.softwareAdapter) === true;
  const key = target === "webgpu" && software ? "webgpu, software" : target;
  const known = devices.get(key);
  if (known) return known;
  const opening = open(target, software, wishes.threadScript ?? settings.threadScript);
  devices.set(key, opening);
  // A failure is not kept, nor is a device that was lost.
  const forget = () => {
    if (devices.get(key) === opening) devices.delete(key);
  };
  opening.then((device) => device.lost.then(forget), forget);
  return opening;
}

async function open(
  target: TargetName,
  allowSoftware: boolean,
  threadScript: string | URL | undefined,
): Promise<Device> {
  if (target === "js") return (await import("@kiln-ml/runtime/cpu")).createCpuDevice();
  if (target === "webgpu") return openWebGpu({ allowSoftware });
  if (target === "native") return (await import("@kiln-ml/runtime/native")).openNativeDevice();
  const missing = wasmMissing();
  if (missing)
    throw new DeviceError(
      `openModel: ${missing}\n  compile the model for js too, and pass { wasm: …, js: … }`,
    );
  const { createWasmDevice } = await import("@kiln-ml/runtime/wasm");
  return createWasmDevice({ threads: "auto", ...(threadScript ? { threadScript } : {}) });
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

/** The targets, the best first. */
export const openTargets: readonly TargetName[] = ["webgpu", "wasm", "js"];

/** Where a model may run: wherever it can, or on targets, the best first. */
export interface Where extends DeviceWishes {
  readonly targets?: readonly TargetName[] | undefined;
  /** The entry that is meant, of an artifact with several. */
  readonly entry?: string | undefined;
}

export async function artifactModel(
  { artifact, kernels }: LoadedArtifact,
  { targets, entry, ...wishes }: Where,
): Promise<OpenedModel> {
  const { target, signature } = artifact;
  if (entry !== undefined) throw noEntry(artifact.name, entry);
  if (targets && !targets.includes(target))
    throw new GraphError(
      `openModel: ${artifact.name} is compiled for ${target}, targets are ${targets.join(", ")}\n  compile it for one of them, or leave targets out`,
    );
  const unset = signature.states.find(({ name }) => !Object.hasOwn(artifact.weights, name));
  if (unset)
    throw new GraphError(
      `openModel: ${artifact.name} has no weights for ${unset.name}\n  compile it without --no-weights, or load it with @kiln-ml/runtime and states of your own`,
    );
  const device = await deviceFor(target, wishes);
  const states = initialStates(artifact, device);
  const executable = await load(artifact, device, kernels ? { states, kernels } : { states });
  return runningModel(artifact.name, executable, async () => {
    executable.dispose();
    for (const state of states) state.dispose();
  });
}

/** What has one program, and is asked for another by name. */
export const noEntry = (name: string, entry: string): GraphError =>
  new GraphError(
    `openModel: ${name} has one program, and no entry ${JSON.stringify(entry)}\n  leave entry out`,
  );

/** A loaded program as a model, with inputs and outputs by name. */
export function runningModel(
  name: string,
  executable: Executable,
  dispose: () => Promise<void>,
): OpenedModel {
  const { target, signature } = executable.artifact;
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
  return { name, target, inputs, outputs, run, dispose };
}
