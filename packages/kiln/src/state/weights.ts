/**
 * Weights of models from elsewhere into modules of ours: any file that `readTensors` reads, or
 * tensors already read. Says what was applied and what was not, as `loadState` does.
 */

import type { Constant } from "@kiln-ml/artifact";
import { fromPytorch, readTensors, type TorchOptions } from "@kiln-ml/formats";
import {
  checkOptions,
  checkRecord,
  GraphError,
  kindOf,
  type OptionNames,
  type Tensor,
} from "@kiln-ml/ir";
import { inOrder } from "../devices/session.ts";
import {
  type LoadStateOptions,
  loadStateOptions,
  putTensors,
  type StateReport,
  type StateSource,
} from "./state.ts";

export interface LoadWeightsOptions extends LoadStateOptions, TorchOptions {
  /**
   * Whose names the tensors have: PyTorch's, which are brought to those of our layers before
   * `remap` sees them, or the module's own. By default PyTorch's for PyTorch files, and its own for
   * others.
   */
  readonly names?: "pytorch" | "own";
}

const loadWeightsOptions: OptionNames<LoadWeightsOptions> = {
  ...loadStateOptions,
  file: 1,
  limitBytes: 1,
  select: 1,
  topLevelKey: 1,
  unknown: 1,
  checksums: 1,
  names: 1,
};

/**
 * The keys that dropout draws from are u32 state of ours, which PyTorch's files cannot have: they
 * stay as they are.
 */
const isOfPytorch = (t: Tensor): boolean => t.dtype !== "u32";
const any = (): boolean => true;

/**
 * Puts the tensors of a file into a module: safetensors, PyTorch, `.npy` or `.npz` bytes, told
 * apart by how they begin, or tensors by name. `torch.load`, `safetensors.torch.load_file` and
 * `load_state_dict` in one.
 *
 * Rejects with ArtifactError for a damaged file, and if strict with GraphError for names or shapes
 * that differ, before anything is changed.
 *
 * @param source A module, an optimizer, or tensors by name.
 * @param file The bytes of a file, or tensors by name.
 * @example
 *   const layer = new nn.Linear(2, 1, { bias: false });
 *   const data = new Uint8Array(Float32Array.of(3, 4).buffer);
 *   await loadWeights(layer, { weight: { dtype: "f32", shape: [1, 2], data } });
 *   layer.forward(tensor([1, 10])) // [43]
 */
export const loadWeights = (
  source: StateSource,
  file: Uint8Array | ArrayBuffer | Readonly<Record<string, Constant>>,
  options: LoadWeightsOptions = {},
): Promise<StateReport> =>
  inOrder(async () => {
    checkOptions("loadWeights", options, loadWeightsOptions);
    const { names: given, strict: _s, remap: _r, convert: _c, ...reading } = options;
    checkFile(file);
    const { format, tensors } =
      file instanceof Uint8Array || file instanceof ArrayBuffer
        ? readTensors(file, reading)
        : { format: "tensors", tensors: file };
    const names = given ?? (format === "torch" ? "pytorch" : "own");
    const own = names === "pytorch" ? fromPytorch(tensors) : tensors;
    return putTensors("loadWeights", source, own, options, names === "pytorch" ? isOfPytorch : any);
  });

/** Throws GraphError unless it is bytes, or arrays with shapes by name. */
function checkFile(file: unknown): void {
  if (file instanceof Uint8Array || file instanceof ArrayBuffer) return;
  checkRecord("loadWeights", file, "the file");
  for (const [name, part] of Object.entries(file as Record<string, Partial<Constant>>))
    if (!ArrayBuffer.isView(part?.data))
      throw new GraphError(
        `loadWeights: ${name} must be { dtype, shape, data }, got ${kindOf(part)}\n  for tensors there is net.load({ … })`,
      );
}
