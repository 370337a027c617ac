/**
 * An artifact's module for this engine and this device: chooses between plain and relaxed SIMD,
 * marks the memory as shared where there are threads, and compiles. Runs nothing.
 */
import { type Artifact, ArtifactError, DeviceError } from "@kiln-ml/artifact";

/** One function with f32x4.relaxed_madd. */
// biome-ignore format: one section a row
const relaxedProbe = Uint8Array.of(
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  1, 5, 1, 0x60, 0, 1, 0x7b,
  3, 2, 1, 0,
  10, 19, 1, 17, 0, 0x41, 0, 0xfd, 15, 0x41, 0, 0xfd, 15, 0x41, 0, 0xfd, 15, 0xfd, 0x85, 2, 11,
);

export const hasRelaxedSimd = (): boolean => WebAssembly.validate(relaxedProbe);

/**
 * Throws ArtifactError if the artifact has no such module or it does not compile, DeviceError if
 * the page forbids it.
 */
export async function compileModule(
  artifact: Artifact,
  relaxed: boolean,
  shared: boolean,
): Promise<WebAssembly.Module> {
  const bytes = moduleBytes(artifact, relaxed, shared);
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw refusal(cause as Error);
  }
}

/** The same at once; a page's own thread may be refused large ones. */
export function compileModuleNow(
  artifact: Artifact,
  relaxed: boolean,
  shared: boolean,
): WebAssembly.Module {
  const bytes = moduleBytes(artifact, relaxed, shared);
  try {
    return new WebAssembly.Module(bytes);
  } catch (cause) {
    throw refusal(cause as Error);
  }
}

function moduleBytes(
  { modules }: Artifact,
  relaxed: boolean,
  shared: boolean,
): Uint8Array<ArrayBuffer> {
  if (!modules) throw new ArtifactError("load: a wasm artifact needs modules, this one has none");
  // A loader may have left out one of them; every engine runs the plain one.
  const bytes = relaxed && modules.relaxed.length > 0 ? modules.relaxed : modules.plain;
  if (bytes.length === 0)
    throw new ArtifactError(
      "load: the plain module was left out, the device runs no relaxed SIMD\n  pass { relaxed: false } to loadFromUrl, or the module to load",
    );
  return (shared ? withSharedMemory(bytes) : bytes) as Uint8Array<ArrayBuffer>;
}

function refusal(cause: Error): ArtifactError | DeviceError {
  // The policy speaks through the same class as a malformed module.
  if (/unsafe-eval|Content.Security/i.test(cause.message))
    return new DeviceError(
      "load: this page forbids WebAssembly\n  add 'wasm-unsafe-eval' to script-src of its Content-Security-Policy",
      { cause },
    );
  return new ArtifactError(`load: the module does not compile: ${cause.message}`, { cause });
}

/**
 * One that the caller has compiled. Throws DeviceError for anything else, and where memory is
 * shared, which the module's own is not.
 */
export function checkModule(module: object, shared: boolean): WebAssembly.Module {
  if (!(module instanceof WebAssembly.Module))
    throw new DeviceError(
      "load: module must be a WebAssembly.Module of the artifact's kernels.wasm",
    );
  if (shared)
    throw new DeviceError(
      "load: a module that is compiled already runs on one thread\n  createWasmDevice({ threads: 1 })",
    );
  return module;
}

/**
 * A copy whose memory is shared. The memory is the first import, with a maximum, so that one bit of
 * its limits says it (threads proposal, binary format of limits). Throws ArtifactError if it is not
 * there.
 */
export function withSharedMemory(module: Uint8Array): Uint8Array {
  const out = module.slice();
  const at = memoryFlags(out);
  if (at < 0)
    throw new ArtifactError(
      "load: the module's first import must be memory env.memory with a maximum\n  compile it again",
    );
  out[at] = 3;
  return out;
}

/** "env", "memory", a memory, limits with a maximum and not shared. */
const importHead = [3, 0x65, 0x6e, 0x76, 6, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 2, 1];

/** Where the limits of the first import begin, or −1. */
function memoryFlags(bytes: Uint8Array): number {
  let at = 8;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const section = bytes[at++];
    const size = number();
    if (section !== 2) {
      at += size;
      continue;
    }
    number(); // imports
    return importHead.every((byte, i) => bytes[at + i] === byte) ? at + importHead.length - 1 : -1;
  }
  return -1;
}
