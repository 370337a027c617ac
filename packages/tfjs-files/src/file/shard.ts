/**
 * The bytes of a shard in the forms in which packages carry them: as they are, as base64, or as a
 * script that exports base64, whose text is read and never run.
 */
import { ArtifactError } from "@kiln-ml/ir/errors";

/** What a shard may be given as: bytes, a text in base64, or a module that exports either. */
export type ShardSource = Uint8Array | ArrayBuffer | string | { readonly default: unknown };

const base64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

function decoded(text: string, name: string): Uint8Array {
  if (!base64.test(text))
    throw new ArtifactError(`${name}: the text is no base64\n  give the bytes of the shard`);
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    throw new ArtifactError(`${name}: the base64 is cut short\n  copy the shard again`);
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The longest text between quotes. */
function longestLiteral(script: string): string {
  let longest = "";
  for (const quote of ['"', "'", "`"]) {
    for (let at = script.indexOf(quote); at >= 0; ) {
      const end = script.indexOf(quote, at + 1);
      if (end < 0) break;
      if (end - at - 1 > longest.length) longest = script.slice(at + 1, end);
      at = end;
    }
  }
  return longest;
}

/** Throws ArtifactError for what is no shard. */
export function shardBytes(source: unknown, name: string): Uint8Array {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (source instanceof Uint8Array) {
    if (!/\.[mc]?js$/i.test(name)) return source;
    return decoded(longestLiteral(new TextDecoder().decode(source)), name);
  }
  if (typeof source === "string") return decoded(source, name);
  if (typeof source === "object" && source !== null && "default" in source)
    return shardBytes(source.default, name);
  throw new ArtifactError(
    `${name}: a shard is bytes or base64, got ${source === null ? "null" : typeof source}`,
  );
}

/** The shards one behind the other. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
