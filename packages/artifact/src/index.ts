export * from "./artifact.ts";
export { crc32 } from "./crc32.ts";
export { decodeArtifact, filesOf } from "./decode.ts";
export { encodeArtifact } from "./encode.ts";
export * from "./errors.ts";
export * from "./extent.ts";
export { printExtent, printShape } from "./extent-text.ts";
export { loopsAround, maxFlowDepth, partsOf, timesOf } from "./flow.ts";
export { kernelModule } from "./kernel-module.ts";
export { fetchBytes, type LoadedArtifact, loadFromUrl, type UrlOptions } from "./load-from-url.ts";
export type { FileEntry } from "./manifest.ts";
export { packArtifact, packFiles, unpackArtifact, unpackFiles } from "./pack.ts";
export {
  headerBytes,
  readSafetensors,
  readSafetensorsHeader,
  type Safetensors,
  type SafetensorsEntry,
  type SafetensorsHeader,
  writeSafetensors,
} from "./safetensors.ts";
export { packedBytes, storageBytes, type TargetName } from "./targets.ts";
