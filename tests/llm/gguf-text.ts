/** GGUF files that tests write: values, and tensors whose bytes are given. */

export type WrittenValue = string | number | readonly string[] | readonly number[];

export interface Written {
  readonly values: Readonly<Record<string, WrittenValue>>;
  readonly tensors: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    /** GGUF's number of the element type. */
    readonly type: number;
    readonly data: Uint8Array;
  }[];
}

const little = (value: number, size: number): number[] =>
  Array.from({ length: size }, (_, i) => Math.floor(value / 256 ** i) % 256);
const text = (s: string): number[] => {
  const bytes = [...new TextEncoder().encode(s)];
  return [...little(bytes.length, 8), ...bytes];
};
const float = (x: number): number[] => [...new Uint8Array(Float32Array.of(x).buffer)];

/** Integers become u32, other numbers f32; lists are of what their elements are. */
const value = (v: WrittenValue): number[] => {
  if (typeof v === "string") return [...little(8, 4), ...text(v)];
  if (typeof v === "number")
    return Number.isInteger(v)
      ? [...little(4, 4), ...little(v, 4)]
      : [...little(6, 4), ...float(v)];
  const isText = typeof v[0] === "string";
  const elements = v.flatMap((x) => (typeof x === "string" ? text(x) : float(x)));
  return [...little(9, 4), ...little(isText ? 8 : 6, 4), ...little(v.length, 8), ...elements];
};

const rest = (n: number): number[] => new Array<number>((32 - (n % 32)) % 32).fill(0);

/** The bytes of a file of version 3. */
export function writeGguf({ values, tensors }: Written): Uint8Array {
  const entries = Object.entries(values);
  const head = [...new TextEncoder().encode("GGUF"), ...little(3, 4)];
  head.push(...little(tensors.length, 8), ...little(entries.length, 8));
  for (const [key, v] of entries) head.push(...text(key), ...value(v));
  let offset = 0;
  for (const { name, shape, type, data } of tensors) {
    head.push(...text(name), ...little(shape.length, 4));
    for (const d of [...shape].reverse()) head.push(...little(d, 8));
    head.push(...little(type, 4), ...little(offset, 8));
    offset += data.length + rest(data.length).length;
  }
  const parts: Uint8Array[] = [Uint8Array.from([...head, ...rest(head.length)])];
  for (const { data } of tensors) parts.push(data, Uint8Array.from(rest(data.length)));
  return new Uint8Array(Buffer.concat(parts));
}

/** Names of GGUF's files, whose rows of q and k are llama2.c's. */
export const ggufName = (name: string): string =>
  [
    ["model.embed_tokens", "token_embd"],
    ["model.norm", "output_norm"],
    ["model.layers", "blk"],
    ["input_layernorm", "attn_norm"],
    ["post_attention_layernorm", "ffn_norm"],
    ["self_attn.o_proj", "attn_output"],
    ["self_attn.", "attn_"],
    ["mlp.", "ffn_"],
    ["_proj", ""],
  ].reduce((s, [from, to]) => s.replace(from!, to!), name);
