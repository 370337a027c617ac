/**
 * JSON as files hold it: UTF-8, no repeated keys. Everything `JSON.parse` or the text decoder would throw becomes
 * an ArtifactError that names the file.
 */
import { ArtifactError } from "./errors.ts";
import { show } from "./schema.ts";

/** The text of `bytes`; throws ArtifactError if they are not UTF-8. */
export function decodeText(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ArtifactError(`${file}: the text is not UTF-8`);
  }
}

/** The value of JSON text; throws ArtifactError if it is not JSON or an object has a key twice. */
export function parseJson(text: string, file: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The engine's message may quote the text, line breaks and all.
    const { message } = error as Error;
    throw new ArtifactError(`${file}: not JSON: ${message.replace(/\s+/g, " ")}`);
  }
  const key = repeatedKey(text);
  if (key !== undefined) throw new ArtifactError(`${file}: key ${show(key)} stands twice`);
  return value;
}

/** A key that one object of valid JSON has twice. Keeps its own stack: nesting may be hostile. */
function repeatedKey(text: string): string | undefined {
  const open: (Set<string> | null)[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "{") open.push(new Set());
    else if (c === "[") open.push(null);
    else if (c === "}" || c === "]") open.pop();
    else if (c === '"') {
      const start = i++;
      while (text[i] !== '"') i += text[i] === "\\" ? 2 : 1;
      let after = i + 1;
      while (" \t\r\n".includes(text[after] ?? "x")) after++;
      if (text[after] !== ":") continue;
      const key = JSON.parse(text.slice(start, i + 1)) as string;
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
