/**
 * Artifacts with several entries over shared states, apart from the main entry: a page that runs
 * one program does without.
 */
export {
  decodeEntries,
  filesInMemory,
  isWhole,
  readManifestOf,
  readProgram,
  readShard,
} from "./decode-entries.ts";
export { type EntriesOptions, encodeEntries, entryFiles, weightOf } from "./encode-entries.ts";
export {
  type ArtifactEntries,
  bytesOfState,
  cacheKey,
  type EntriesManifest,
  type EntryFiles,
  type ShardCache,
  type StateEntry,
  type Weight,
} from "./entries.ts";
export { filesAtUrl, type UrlReading } from "./entries-from-url.ts";
