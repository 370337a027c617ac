export * from "./artifact.ts";
export { decodeArtifact, filesOf } from "./decode.ts";
export { encodeArtifact } from "./encode.ts";
export * from "./errors.ts";
export * from "./extent.ts";
export { kernelModule } from "./kernel-module.ts";
export type { FileEntry } from "./manifest.ts";
export { packArtifact, packFiles, unpackArtifact, unpackFiles } from "./pack.ts";
export { readSafetensors, type Safetensors, writeSafetensors } from "./safetensors.ts";
