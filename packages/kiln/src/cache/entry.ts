/**
 * A kept program as bytes: a line that says whose it is and what it hashes to, then the artifact as a file. What is damaged,
 * cut, renamed or of another program is none.
 */
import { type Artifact, packArtifact, unpackArtifact } from "@kiln-ml/artifact";
import type { Store } from "./store.ts";

/** So many bytes come before the artifact, whose tensors then lie at multiples of 64. */
const headBytes = 192;

const headOf = (key: string, hash: string): Uint8Array =>
  new TextEncoder().encode(`kiln-program 1 ${key} ${hash}`.padEnd(headBytes - 1).concat("\n"));

/** The bytes of an entry. Throws ArtifactError for what no file can hold. */
export async function encodeEntry(key: string, artifact: Artifact, store: Store) {
  const packed = packArtifact(artifact);
  const bytes = new Uint8Array(headBytes + packed.length);
  bytes.set(packed, headBytes);
  bytes.set(headOf(key, await store.digest(packed)));
  return bytes;
}

/** The artifact of an entry. Throws for any other bytes. */
export async function decodeEntry(key: string, bytes: Uint8Array, store: Store): Promise<Artifact> {
  const packed = bytes.subarray(headBytes);
  const head = headOf(key, await store.digest(packed));
  if (!head.every((b, i) => b === bytes[i])) throw new Error("cache: not the entry of this key");
  return unpackArtifact(packed);
}
