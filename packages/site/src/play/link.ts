/** A program in the address of the page: deflated, as base64 of URLs. Nobody keeps it but the link. */

const codec = async (bytes: Uint8Array<ArrayBuffer>, through: GenericTransformStream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(through)).arrayBuffer());

export interface Shared {
  readonly code: string;
  readonly target: string;
}

/** The part of an address behind its `#`. */
export async function hashOf({ code, target }: Shared): Promise<string> {
  const packed = await codec(new TextEncoder().encode(code), new CompressionStream("deflate-raw"));
  const text = btoa(Array.from(packed, (b) => String.fromCharCode(b)).join(""));
  const spelled = text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return `${target}:${spelled}`;
}

/** The program of a hash, or undefined if there is none in it that can be read. */
export async function sharedOf(hash: string): Promise<Shared | undefined> {
  const [, target, spelled] = /^#?(js|wasm|webgpu):([\w-]+)$/.exec(hash) ?? [];
  if (!target || !spelled) return undefined;
  try {
    const text = atob(spelled.replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(text, (c) => c.charCodeAt(0));
    const bytes = await codec(packed, new DecompressionStream("deflate-raw"));
    return { target, code: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return undefined;
  }
}
