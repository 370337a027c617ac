/**
 * Artifact → files. Verifies what it writes with the checks of the reader, so a file that cannot be
 * loaded is never made. Writes nothing itself; `files.ts` does in Node.
 */
import type { Artifact, Constant, KernelText, Modules } from "./artifact.ts";
import { crc32Text } from "./crc32.ts";
import { ArtifactError } from "./errors.ts";
import { checkUnicode, kernelModuleRanges, scriptName } from "./kernel-module.ts";
import { checkManifest, checkVersion, type KernelEntry, printManifest } from "./manifest.ts";
import { writeSafetensors } from "./safetensors.ts";
import { manifestName } from "./schema.ts";
import { targets } from "./targets.ts";
import { verify } from "./verify.ts";
import { checkModules, moduleFiles } from "./wasm-modules.ts";

/**
 * The folder form of an artifact: `manifest.json`; `kernels.js`, or `kernels.wasm` and
 * `kernels-relaxed.wasm`, or `kernels/NAME.wgsl` for each kernel; `weights.safetensors` and
 * `constants.safetensors`, absent when empty. The text of wasm kernels is left out. Keys are paths
 * inside the folder.
 *
 * Throws ArtifactError, naming the field, if the artifact breaks a rule of its types.
 */
export function encodeArtifact(a: Artifact): Map<string, Uint8Array> {
  checkVersion(a.version);
  const files = new Map<string, Uint8Array>();
  const kernels = encodeKernels(a, files);
  const constants = Object.fromEntries(a.constants.map((c, i) => [`c${i}`, c]));
  addTensors(files, "constants.safetensors", constants);
  addTensors(files, "weights.safetensors", a.weights);
  const { constants: _constants, weights: _weights, modules, ...rest } = a;
  const manifest: unknown = {
    ...rest,
    kernels,
    files: [...files].map(([name, bytes]) => ({
      name,
      bytes: bytes.length,
      crc32: crc32Text(bytes),
    })),
  };
  checkManifest(manifest);
  verify(manifest, a.constants, a.weights);
  checkModules(a.target, modules);
  return new Map([[manifestName, printManifest(manifest)], ...files]);
}

function encodeKernels(a: Artifact, files: Map<string, Uint8Array>): KernelEntry[] {
  const entry = ({ text: _text, ...rest }: KernelText): KernelEntry => rest;
  const encoder = new TextEncoder();
  const form = targets[a.target].kernels;
  switch (form) {
    case "modules":
      for (const [variant, file] of Object.entries(moduleFiles))
        if (a.modules) files.set(file, a.modules[variant as keyof Modules]);
      return a.kernels.map(entry);
    case "here":
      throw new ArtifactError(
        `artifact: kernels of target ${a.target} are C, which runs only where it was compiled from the graph: no file holds them\n  compile for wasm, js or webgpu, or compile for native where it runs`,
      );
    case "script": {
      const { text, ranges } = kernelModuleRanges(a.kernels);
      files.set(scriptName, encoder.encode(text));
      return a.kernels.map((k, i) => ({ ...entry(k), range: ranges[i]! }));
    }
    default:
      return a.kernels.map((k) => {
        const file = `kernels/${k.name}${form}`;
        checkUnicode(k.name, k.text, file);
        files.set(file, encoder.encode(k.text));
        return entry(k);
      });
  }
}

function addTensors(
  files: Map<string, Uint8Array>,
  name: string,
  tensors: Readonly<Record<string, Constant>>,
): void {
  if (Object.keys(tensors).length > 0) files.set(name, writeSafetensors(tensors));
}
