/**
 * A kept program as bytes: a line that says whose it is and what it hashes to, then the artifact as
 * JSON and its modules. What is damaged, cut, renamed or of another program is none. The checks of
 * an artifact's file are not needed: what hashes to the line was written by this build. Neither are
 * they wanted: a page that compiles would have to load them.
 */
import type { Artifact } from "@kiln-ml/artifact";
import type { Store } from "./store.ts";

const headBytes = 192;
/** After the head: how long the JSON and the first of the modules are. */
const lengthBytes = 8;

const headOf = (key: string, hash: string): Uint8Array =>
  new TextEncoder().encode(`kiln-program 1 ${key} ${hash}`.padEnd(headBytes - 1).concat("\n"));

/** The bytes of an entry. */
export async function encodeEntry(
  key: string,
  artifact: Artifact,
  store: Store,
): Promise<Uint8Array> {
  const { modules, ...rest } = artifact;
  // The text of a wasm kernel is for readers, and made when it is asked for.
  const kernels = modules ? rest.kernels.map((k) => ({ ...k, text: "" })) : rest.kernels;
  const json = new TextEncoder().encode(JSON.stringify({ ...rest, kernels }));
  const { plain = new Uint8Array(), relaxed = new Uint8Array() } = modules ?? {};
  const start = headBytes + lengthBytes;
  const bytes = new Uint8Array(start + json.length + plain.length + relaxed.length);
  const lengths = new DataView(bytes.buffer, headBytes, lengthBytes);
  lengths.setUint32(0, json.length, true);
  lengths.setUint32(4, plain.length, true);
  bytes.set(json, start);
  bytes.set(plain, start + json.length);
  bytes.set(relaxed, start + json.length + plain.length);
  bytes.set(headOf(key, await store.digest(bytes.subarray(headBytes))));
  return bytes;
}

/** The artifact of an entry. Throws for any other bytes. */
export async function decodeEntry(key: string, bytes: Uint8Array, store: Store): Promise<Artifact> {
  const head = headOf(key, await store.digest(bytes.subarray(headBytes)));
  if (!head.every((b, i) => b === bytes[i])) throw new Error("cache: not the entry of this key");
  const lengths = new DataView(bytes.buffer, bytes.byteOffset + headBytes, lengthBytes);
  const start = headBytes + lengthBytes;
  const middle = start + lengths.getUint32(0, true);
  const plainEnd = middle + lengths.getUint32(4, true);
  const artifact = JSON.parse(new TextDecoder().decode(bytes.subarray(start, middle))) as Artifact;
  if (artifact.target !== "wasm") return artifact;
  const modules = { plain: bytes.slice(middle, plainEnd), relaxed: bytes.slice(plainEnd) };
  return { ...artifact, modules };
}
