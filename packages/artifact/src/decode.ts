/**
 * Files → Artifact. Refuses anything damaged or hostile with an ArtifactError naming the file and field: the manifest
 * first, then sizes and checksums of the files, then what they hold. Allocates nothing larger than the files it was given.
 */
import type { Artifact, Constant, KernelText } from "./artifact.ts";
import { crc32Text } from "./crc32.ts";
import { ArtifactError, checkOptions, type OptionNames } from "./errors.ts";
import { decodeText } from "./json.ts";
import { checkKernelText, scriptName } from "./kernel-module.ts";
import { type FileEntry, type Manifest, readManifest } from "./manifest.ts";
import { readSafetensors } from "./safetensors.ts";
import { distinct, manifestName, refuse } from "./schema.ts";
import { targets } from "./targets.ts";
import { verify } from "./verify.ts";
import { checkModules, completed, moduleFiles, modulesOf } from "./wasm-modules.ts";

type Files = ReadonlyMap<string, Uint8Array>;

/** The files that a loader must fetch besides the manifest. Throws ArtifactError as decodeArtifact does. */
export const filesOf = (manifest: Uint8Array): readonly FileEntry[] => readManifest(manifest).files;

/**
 * The artifact whose folder form is `files`. Tensor data and kernel ranges are views into the given bytes, which the
 * caller must not change afterwards.
 *
 * Throws ArtifactError for files of another version, missing, truncated, altered, or not a possible artifact.
 */
export function decodeArtifact(files: Files, options: DecodeOptions = {}): Artifact {
  const { modules = true } = checkOptions("decodeArtifact", options, decodeOptions);
  return decodeWithout(modules ? [] : Object.values(moduleFiles), files);
}

export interface DecodeOptions {
  /**
   * False for a wasm artifact without the bytes of its modules, where a module that is compiled
   * already goes to `load`.
   */
  readonly modules?: boolean;
}

const decodeOptions: OptionNames<DecodeOptions> = { modules: 1 };

/** As decodeArtifact, but the files `omitted`, of the two modules, need not be there. */
export function decodeWithout(omitted: readonly string[], files: Files): Artifact {
  const bytes = files.get(manifestName);
  if (!bytes) throw new ArtifactError(`${manifestName}: the file is missing`);
  const manifest = readManifest(bytes);
  const listed = checkFiles(manifest, files, omitted);
  const constants = decodeConstants(listed);
  const weightBytes = listed.get("weights.safetensors");
  const weights = weightBytes ? readSafetensors(weightBytes, "weights.safetensors").tensors : {};
  verify(manifest, constants, weights);
  const { version, target, name, signature, plan, limits, features } = manifest;
  const found = modulesOf(listed);
  checkModules(target, found, omitted);
  const kernels = decodeKernels(manifest, listed);
  const modules = targets[target].kernels === "modules" ? { modules: completed(found) } : {};
  // biome-ignore format: one field after the other
  return { version, target, name, signature, kernels, ...modules, plan, constants, weights, limits, features };
}

function checkFiles(manifest: Manifest, files: Files, omitted: readonly string[]): Files {
  distinct(
    manifest.files.map((f) => f.name),
    "files",
  );
  const listed = new Map<string, Uint8Array>();
  for (const { name, bytes: size, crc32 } of manifest.files) {
    const bytes = files.get(name);
    if (!bytes && omitted.includes(name)) continue;
    if (!bytes) throw new ArtifactError(`${name}: the file is missing`);
    if (bytes.length !== size)
      throw new ArtifactError(`${name}: ${bytes.length} bytes, the manifest says ${size}`);
    const actual = crc32Text(bytes);
    if (actual !== crc32)
      throw new ArtifactError(`${name}: checksum ${actual}, the manifest says ${crc32}`);
    listed.set(name, bytes);
  }
  return listed;
}

function decodeConstants(files: Files): Constant[] {
  const file = "constants.safetensors";
  const bytes = files.get(file);
  if (!bytes) return [];
  const { tensors } = readSafetensors(bytes, file);
  return Object.keys(tensors).map((_, i) => {
    const name = `c${i}`;
    if (!Object.hasOwn(tensors, name))
      throw new ArtifactError(`${file}: tensor "${name}" is missing`);
    return tensors[name]!;
  });
}

function decodeKernels(manifest: Manifest, files: Files): KernelText[] {
  const form = targets[manifest.target].kernels;
  return manifest.kernels.map(({ range, ...rest }, i) => {
    if (form === "modules") return { ...rest, text: "" };
    const file = form === "script" ? scriptName : `kernels/${rest.name}${form}`;
    const bytes = files.get(file);
    if (!bytes) throw new ArtifactError(`${manifestName}: files does not list ${file}`);
    if (form !== "script") return { ...rest, text: decodeText(bytes, file) };
    const [start, end] = range ?? refuse(`kernels[${i}].range`, "is missing");
    if (end > bytes.length)
      refuse(`kernels[${i}].range`, `ends at ${end}, ${file} has ${bytes.length} bytes`);
    const text = decodeText(bytes.subarray(start, end), file);
    checkKernelText(rest.name, text, file);
    return { ...rest, text };
  });
}
