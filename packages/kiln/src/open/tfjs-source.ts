/**
 * Where the files of a TensorFlow.js model come from: a URL, files by name, modules of a package,
 * or the artifacts of `tf.io`. All come to the text of a model.json and the bytes of each of its
 * shards.
 */
import { ArtifactError, fetchBytes } from "@kiln-ml/artifact";
import type { ImportedModel } from "@kiln-ml/onnx";
import type { ShardSource } from "@kiln-ml/tfjs-files";
import { type Fetcher, urlOf } from "./source.ts";

/**
 * What packages export: the model.json as an object, a text or a module, and its shards in order.
 */
export interface TfjsModules {
  readonly model: object | string;
  readonly weights: readonly ShardSource[];
}

/** The text of a model.json, and what has the bytes of each shard. */
export interface TfjsParts {
  readonly model: string;
  readonly shard: (path: string) => Promise<ShardSource>;
}

/** What `tf.io` handlers load and save. */
export interface TfjsArtifacts {
  readonly modelTopology: object;
  readonly weightSpecs?: readonly object[] | undefined;
  readonly weightData?: ArrayBuffer | readonly ArrayBuffer[] | undefined;
}

/** What is asked of a file that was dropped or chosen; `File` of pages and of Node is one. */
export interface NamedFile {
  readonly name: string;
  readonly webkitRelativePath?: string;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export type TfjsSource =
  | string
  | URL
  | ReadonlyMap<string, Uint8Array>
  | ArrayLike<NamedFile>
  | TfjsModules
  | TfjsParts
  | TfjsArtifacts;

/** A text of a model.json; no model has one as long. */
const mostText = 1 << 29;

const load = () => import("@kiln-ml/tfjs-files");

/** Throws ArtifactError for what is no such model, or cannot be had. */
export async function readTfjs(
  source: TfjsSource,
  fetcher: Fetcher,
  name?: string,
): Promise<ImportedModel> {
  if (typeof source === "string" || source instanceof URL) {
    const url = urlOf(source, "loadTfjs");
    const text = new TextDecoder().decode(await fetchBytes(url, mostText, fetcher));
    const beside = (path: string) => fetchShard(new URL(path, withoutQuery(url)), fetcher);
    return readText(text, name ?? fileOf(url), beside, fetcher);
  }
  if (source instanceof Map) return readFiles(source, fetcher, name);
  if (isFileList(source)) return readFiles(await filesByName(source), fetcher, name);
  if (typeof source === "object" && source !== null && "modelTopology" in source)
    return readArtifacts(source as TfjsArtifacts, fetcher, name);
  if (typeof source === "object" && source !== null && "model" in source)
    return "shard" in source
      ? readText(source.model, name ?? "model.json", source.shard, fetcher)
      : readModules(source as TfjsModules, fetcher, name);
  throw new ArtifactError(
    "loadTfjs: takes the URL of a model.json, its files by name, a list of files, or { model, weights }\n  in Node, loadTfjs of kiln-ml/node takes paths",
  );
}

const fileOf = (url: URL): string => url.pathname.split("/").at(-1) || "model.json";

/** A token behind the file's name is that file's own. */
function withoutQuery(url: URL): URL {
  const plain = new URL(url.href);
  plain.search = plain.hash = "";
  return plain;
}

const fetchShard = (url: URL, fetcher: Fetcher): Promise<Uint8Array> =>
  fetchBytes(url, Number.MAX_SAFE_INTEGER, fetcher);

/**
 * A text of a model.json, and a way to its shards; each is asked for once, all at the same time.
 */
export async function readText(
  text: string,
  name: string,
  shard: (path: string) => Promise<unknown>,
  fetcher: Fetcher,
): Promise<ImportedModel> {
  const { shardBytes, TfjsFile } = await load();
  const file = TfjsFile.parse(text, name);
  const given = await Promise.all(
    file.shards.map(async (path) => shardBytes(await shard(path), path)),
  );
  fetcher.tell("load");
  return file.model(given);
}

/** The one model.json among files, and the shards that lie beside it. */
function readFiles(
  files: ReadonlyMap<string, Uint8Array>,
  fetcher: Fetcher,
  name?: string,
): Promise<ImportedModel> {
  const own = name !== undefined && files.has(name) ? [name] : undefined;
  const found = own ?? [...files.keys()].filter((path) => /\.json$/i.test(path));
  if (found.length !== 1)
    throw new ArtifactError(
      `loadTfjs: ${found.length ? `several files could be the model: ${found.join(", ")}` : "no file is a model.json"}\n  name it by the option file`,
    );
  const path = found[0]!;
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  // Files that were picked have lost their folders; a name that two shards share tells neither.
  const taken = new Map<string, string>();
  const beside = async (shard: string) => {
    const own = files.get(folder + shard);
    if (own) return own;
    const last = shard.split("/").at(-1)!;
    const bytes = files.get(last);
    const other = taken.get(last) ?? shard;
    taken.set(last, shard);
    if (bytes && other !== shard)
      throw new ArtifactError(
        `${path}: the shards ${other} and ${shard} would both be the file ${last}\n  give the files under the paths that the model has for them`,
      );
    if (bytes) return bytes;
    throw new ArtifactError(
      `${path}: the shard ${shard} is not among the files\n  give all files of the model's folder`,
    );
  };
  return readText(new TextDecoder().decode(files.get(path)), path, beside, fetcher);
}

function isFileList(source: object): source is ArrayLike<NamedFile> {
  const list =
    Array.isArray(source) || (typeof FileList !== "undefined" && source instanceof FileList);
  return (
    list && Array.from(source as readonly File[]).every((f) => typeof f?.arrayBuffer === "function")
  );
}

async function filesByName(files: ArrayLike<NamedFile>): Promise<ReadonlyMap<string, Uint8Array>> {
  const pairs = Array.from(
    files,
    async (file): Promise<[string, Uint8Array]> => [
      file.webkitRelativePath || file.name,
      new Uint8Array(await file.arrayBuffer()),
    ],
  );
  return new Map(await Promise.all(pairs));
}

/** What `import()` gave may have the object under `default`. */
function plain(model: unknown): unknown {
  const own = typeof model === "object" && model !== null && !("modelTopology" in model);
  return own && "default" in model ? model.default : model;
}

async function readModules(
  { model, weights }: TfjsModules,
  fetcher: Fetcher,
  name = "model.json",
): Promise<ImportedModel> {
  const { shardBytes, TfjsFile, Field } = await load();
  const known = plain(model);
  const file =
    typeof known === "string" ? TfjsFile.parse(known, name) : new TfjsFile(new Field(known, name));
  if (!Array.isArray(weights) || weights.length !== file.shards.length)
    throw new ArtifactError(
      `${name}: ${Array.isArray(weights) ? weights.length : "no"} weights are given, the model has ${file.shards.length} shards\n  give { model, weights } with a shard for each of ${file.shards.slice(0, 3).join(", ")}`,
    );
  fetcher.tell("load");
  return file.model(file.shards.map((path, i) => shardBytes(weights[i], path)));
}

/** One group whose one shard holds all weights. */
function readArtifacts(
  artifacts: TfjsArtifacts,
  fetcher: Fetcher,
  name = "the artifacts",
): Promise<ImportedModel> {
  const { weightSpecs = [], weightData, ...rest } = artifacts;
  const parts =
    weightData === undefined ? [] : Array.isArray(weightData) ? weightData : [weightData];
  const paths = parts.map((_, i) => `weights-${i}`);
  const model = { ...rest, weightsManifest: [{ paths, weights: weightSpecs }] };
  return readModules({ model, weights: parts as ArrayBuffer[] }, fetcher, name);
}
