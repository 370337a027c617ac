/**
 * The bytes of a model and of the weights beside it: from a URL, from memory, and in Node from a path. Node's modules are asked for by
 * name at run time, so that no bundler of a page looks for them.
 */
import { codes, SessionError } from "./errors.ts";
import type { ExternalData, FileType } from "./inference-session.ts";

type Node = typeof process & { getBuiltinModule?(name: string): unknown };

function nodeModule<M>(name: string): M | undefined {
  const node = (globalThis as { process?: Node }).process;
  return node?.versions?.node ? (node.getBuiltinModule?.(name) as M | undefined) : undefined;
}

type Files = typeof import("node:fs");
type Paths = typeof import("node:path");
type Urls = typeof import("node:url");

/** A drive's letter is no scheme. */
const schemeOf = (text: string): string | undefined => /^([a-z][a-z0-9+.-]+):/i.exec(text)?.[1];

export interface ModelFile {
  readonly bytes: Uint8Array;
  /** The name of the file, for messages. */
  readonly name?: string;
  /** Files of weights by location; what is not among them is looked for beside a model that has a path. */
  readonly external: (location: string) => Uint8Array | undefined;
}

/** What a caller owns is copied: it may be changed or given away while the session lives. */
const copyOf = (data: Uint8Array | ArrayBufferLike): Uint8Array =>
  Uint8Array.from(data instanceof Uint8Array ? data : new Uint8Array(data));

export const isBuffer = (x: unknown): x is ArrayBufferLike =>
  x instanceof ArrayBuffer ||
  (typeof SharedArrayBuffer !== "undefined" && x instanceof SharedArrayBuffer);

/** What a URL answers. */
export async function fetched(url: string): Promise<Uint8Array> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw new SessionError(`failed to load ${url}.`, "NO_SUCHFILE", (cause as Error).message, {
      cause,
    });
  }
  if (!response.ok)
    throw new SessionError(
      `failed to load ${url}.`,
      "NO_SUCHFILE",
      `the server answers ${response.status}`,
    );
  return new Uint8Array(await response.arrayBuffer());
}

/** The path that a text or URL means, if it means one and this is Node. */
function pathOf(from: string | URL): string | undefined {
  const href = String(from);
  const scheme = schemeOf(href);
  if (scheme === "file") return nodeModule<Urls>("node:url")?.fileURLToPath(href);
  return scheme === undefined && nodeModule("node:fs") ? href : undefined;
}

async function readPath(path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await nodeModule<Files>("node:fs")!.promises.readFile(path));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "File doesn't exist" : (cause as Error).message;
    const error = new SessionError(`Load model from ${path} failed.`, "NO_SUCHFILE", reason, {
      cause,
    });
    // Programs of Node look at the code of the system.
    throw Object.assign(error, { code: code ?? codes.NO_SUCHFILE });
  }
}

async function bytesOf(from: FileType | URL): Promise<Uint8Array> {
  if (typeof from === "string" || from instanceof URL) {
    const path = pathOf(from);
    return path === undefined ? fetched(String(from)) : readPath(path);
  }
  if (from instanceof Uint8Array || isBuffer(from)) return copyOf(from);
  if (typeof Blob !== "undefined" && from instanceof Blob)
    return new Uint8Array(await from.arrayBuffer());
  throw new TypeError("Unexpected argument[0]: must be 'path' or 'buffer'.");
}

const plain = (location: string): string => location.replace(/^\.\//, "");

/** A regular file that really lies in the model's folder; a model cannot name others. */
function beside(model: string, location: string): Uint8Array | undefined {
  const [fs, path] = [nodeModule<Files>("node:fs")!, nodeModule<Paths>("node:path")!];
  const wanted = path.resolve(path.dirname(model), location);
  if (!fs.existsSync(wanted)) return undefined;
  const [real, folder] = [fs.realpathSync(wanted), fs.realpathSync(path.dirname(model))];
  if (!real.startsWith(folder + path.sep) || !fs.statSync(real).isFile()) return undefined;
  return new Uint8Array(fs.readFileSync(real));
}

async function externals(list: readonly ExternalData[]): Promise<Map<string, Uint8Array>> {
  if (!Array.isArray(list)) throw new TypeError("'externalData' must be an array.");
  const entries = list.map(async (entry) => {
    const [path, data] = typeof entry === "string" ? [entry, entry] : [entry.path, entry.data];
    const name = typeof entry === "string" ? path.split("/").at(-1)! : path;
    return [plain(name), await bytesOf(data)] as const;
  });
  return new Map(await Promise.all(entries));
}

/** Reads a model and the files it comes with. Rejects with TypeError for what is no model, SessionError for what cannot be read. */
export async function readModelFile(
  from: FileType | URL,
  externalData: readonly ExternalData[] = [],
): Promise<ModelFile> {
  const [bytes, given] = await Promise.all([bytesOf(from), externals(externalData)]);
  const text = typeof from === "string" || from instanceof URL ? String(from) : undefined;
  const path = text === undefined ? undefined : pathOf(text);
  return {
    bytes,
    ...(text === undefined ? {} : { name: text.split(/[/\\]/).at(-1)!.split("?")[0]! }),
    external: (location) =>
      given.get(plain(location)) ?? (path === undefined ? undefined : beside(path, location)),
  };
}
