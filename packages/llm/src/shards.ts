/**
 * Weights in shards of safetensors: an index says in which file each tensor lies. Reads no files:
 * that is `node.ts`'s, or a page's.
 */
import { type Constant, readSafetensors } from "kiln-ml/artifact";
import { LanguageModelError, listed, shown } from "./errors.ts";

/**
 * The names of tensors by file, of the object of a `model.safetensors.index.json`. Throws
 * LanguageModelError for what is no index, and for files that do not lie beside it.
 */
export function shardsOf(json: unknown, index: string): Map<string, string[]> {
  const map = (json as { weight_map?: unknown } | null | undefined)?.weight_map;
  if (typeof map !== "object" || map === null || Array.isArray(map))
    throw new LanguageModelError(
      `loadModel: ${index} has no weight_map\n  take the index that came with the shards`,
    );
  const shards = new Map<string, string[]>();
  const outside: string[] = [];
  for (const [name, file] of Object.entries(map)) {
    if (typeof file !== "string")
      throw new LanguageModelError(
        `loadModel: ${index} names no file for ${shown(name)}: ${shown(file)}\n  take the index that came with the shards`,
      );
    const names = shards.get(file);
    if (names) names.push(name);
    else if (isBeside(file)) shards.set(file, [name]);
    else outside.push(file);
  }
  if (outside.length)
    throw new LanguageModelError(
      `loadModel: ${index} names files that are not beside it: ${listed([...new Set(outside)])}`,
    );
  return shards;
}

const isBeside = (file: string): boolean =>
  file !== "" && file !== "." && file !== ".." && !/[\\/\0:]/.test(file);

/**
 * The tensors of a shard that the index says it has. Throws LanguageModelError for those that it
 * lacks, ArtifactError for a damaged file.
 */
export function tensorsOfShard(
  bytes: Uint8Array,
  file: string,
  names: readonly string[],
  index: string,
): Record<string, Constant> {
  const { tensors } = readSafetensors(bytes, file);
  const lost = names.filter((name) => !Object.hasOwn(tensors, name));
  if (lost.length)
    throw new LanguageModelError(
      `loadModel: ${file} lacks what ${index} says it has: ${listed(lost)}\n  take the index that came with the shards`,
    );
  return Object.fromEntries(names.map((name) => [name, tensors[name]!]));
}
