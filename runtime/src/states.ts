/**
 * State arrays: made from an artifact's weights, copied to the host, and built again on another
 * device after a loss. Never changes a value on the way.
 */
import { type Artifact, ArtifactError } from "@kiln-ml/artifact";
import type { Device } from "./device.ts";
import type { DeviceArray } from "./device-array.ts";
import { type Dtype, hostArrayOf, sizeOf, type TypedArray } from "./host-array.ts";

type Constant = Artifact["constants"][number];

/** One state as the host holds it. */
export interface HostState {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly data: TypedArray;
}

export type Snapshot = readonly HostState[];

/**
 * The states an artifact starts from. Throws ArtifactError naming those whose weights it does not
 * carry.
 */
export function initialStates(artifact: Artifact, device: Device): DeviceArray[] {
  const { states } = artifact.signature;
  const missing = states.filter((s) => !Object.hasOwn(artifact.weights, s.name));
  if (missing.length > 0)
    throw new ArtifactError(
      `initialStates: ${artifact.name} carries no weights for ${missing.map((s) => s.name).join(", ")}\n  pass states of your own to load`,
    );
  return states.map((spec) => {
    const weight = artifact.weights[spec.name]!;
    if (weight.dtype !== spec.dtype || `${weight.shape}` !== `${spec.shape}`)
      throw new ArtifactError(
        `initialStates: ${spec.name} is ${spec.dtype}[${spec.shape}], its weight ${weight.dtype}[${weight.shape}]\n  compile it again: the artifact is damaged`,
      );
    return uploadConstant(device, weight, spec.name);
  });
}

/**
 * Uploads the little-endian bytes of a constant. Throws ArtifactError if they are not as many as
 * its shape needs.
 */
export function uploadConstant(device: Device, constant: Constant, name: string): DeviceArray {
  const { dtype, shape, data } = constant;
  const Host = hostArrayOf(dtype);
  const size = sizeOf(shape);
  if (data.byteLength !== size * Host.BYTES_PER_ELEMENT)
    throw new ArtifactError(
      `load: ${name} ${dtype}[${shape}] needs ${size * Host.BYTES_PER_ELEMENT} bytes, has ${data.byteLength}\n  compile it again: the artifact is damaged`,
    );
  const aligned = data.byteOffset % Host.BYTES_PER_ELEMENT === 0 ? data : data.slice();
  return device.upload(new Host(aligned.buffer, aligned.byteOffset, size), dtype, shape);
}

/** Host copies of `states`, read together. */
export function readStates(artifact: Artifact, states: readonly DeviceArray[]): Promise<Snapshot> {
  return Promise.all(
    states.map(async (array, i) => ({
      name: artifact.signature.states[i]!.name,
      dtype: array.dtype,
      shape: array.shape,
      data: await array.data(),
    })),
  );
}

/** The states of a snapshot on `device`, in order: what `load` takes. */
export async function restore(snapshot: Snapshot, device: Device): Promise<DeviceArray[]> {
  return snapshot.map(({ data, dtype, shape }) => device.upload(data, dtype, shape));
}
