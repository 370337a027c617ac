/**
 * Pickles written opcode by opcode, for tests: what a reader must refuse cannot be had from a library that writes.
 */

/** Bytes of parts: texts in latin-1, numbers as one byte, bytes as they are. */
export function bytesOf(...parts: readonly (string | number | Uint8Array)[]): Uint8Array {
  const pieces = parts.map((p) => {
    if (typeof p === "number") return new Uint8Array([p]);
    return typeof p === "string" ? Uint8Array.from(p, (c) => c.charCodeAt(0)) : p;
  });
  const out = new Uint8Array(pieces.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of pieces) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

/** `count` in `width` little-endian bytes. */
export function little(count: number, width: number): Uint8Array {
  const out = new Uint8Array(width);
  let left = count;
  for (let i = 0; i < width; i++) {
    out[i] = left % 256;
    left = Math.floor(left / 256);
  }
  return out;
}

const proto = bytesOf(0x80, 2);
/** A whole pickle of protocol 2. */
export const pickle = (...parts: readonly (string | number | Uint8Array)[]): Uint8Array =>
  bytesOf(proto, ...parts, ".");

export const text = (value: string): Uint8Array => bytesOf("X", little(value.length, 4), value);
/** A count in eight bytes. */
export const integer = (value: number): Uint8Array => bytesOf(0x8a, 8, little(value, 8));
export const global = (module: string, name: string): Uint8Array =>
  bytesOf(`c${module}\n${name}\n`);
export const tuple = (...items: readonly Uint8Array[]): Uint8Array => bytesOf("(", ...items, "t");
export const dict = (entries: Readonly<Record<string, Uint8Array>>): Uint8Array =>
  bytesOf("}(", ...Object.entries(entries).flatMap(([k, v]) => [text(k), v]), "u");

export interface TensorText {
  readonly storage?: string;
  readonly key?: string;
  readonly count?: number;
  readonly start?: number;
  readonly size?: readonly number[];
  readonly stride?: readonly number[];
}

/** A tensor of PyTorch: f32[2,2] of four elements unless told otherwise. */
export function tensor(t: TensorText = {}): Uint8Array {
  const { storage = "FloatStorage", key = "0", count = 4, start = 0 } = t;
  const { size = [2, 2], stride = [2, 1] } = t;
  const id = tuple(
    text("storage"),
    global("torch", storage),
    text(key),
    text("cpu"),
    integer(count),
  );
  const hooks = bytesOf(global("collections", "OrderedDict"), ")R");
  return bytesOf(
    global("torch._utils", "_rebuild_tensor_v2"),
    tuple(
      bytesOf(id, "Q"),
      integer(start),
      tuple(...size.map(integer)),
      tuple(...stride.map(integer)),
      bytesOf(0x89),
      hooks,
    ),
    "R",
  );
}

/** The stream form: magic, protocol, facts, the pickle, and storage "0" of four floats 0, 1, 2, 3. */
export function streamForm(
  body: Uint8Array,
  keys: Uint8Array = bytesOf("]", text("0"), "a"),
): Uint8Array {
  const magic = bytesOf(0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19);
  const data = new Uint8Array(new Float32Array([0, 1, 2, 3]).buffer);
  const facts = pickle("}");
  return bytesOf(
    pickle(magic),
    pickle("M", little(1001, 2)),
    facts,
    body,
    pickle(keys),
    little(4, 8),
    data,
  );
}
