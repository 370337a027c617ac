/**
 * Tensors of public files under the names that our models have: files that hold heads too put a
 * word before the model's names, others leave it out, and some hold what models make themselves.
 */
import type { Constant } from "kiln-ml/artifact";
import type { DecoderConfig } from "./config.ts";
import type { EncoderConfig } from "./encoder-config.ts";

type Tensors = Readonly<Record<string, Constant>>;

const renamed = (tensors: Tensors, name: (given: string) => string | undefined) =>
  Object.fromEntries(
    Object.entries(tensors).flatMap(([given, tensor]) => {
      const own = name(given);
      return own === undefined ? [] : [[own, tensor]];
    }),
  ) as Record<string, Constant>;

/** A decoder's: GPT-2's own files leave `transformer.` out, and hold the masks of attention. */
export function decoderTensors(tensors: Tensors, { names, tied }: DecoderConfig) {
  const body = `${names.model ?? "model"}.`;
  const isBare = !Object.keys(tensors).some((n) => n.startsWith(body));
  return renamed(tensors, (name) => {
    const isMade = /\.rotary_emb\.inv_freq$|\.attn\.(masked_)?bias$/.test(name);
    if (isMade || (tied && name === "lm_head.weight")) return undefined;
    return isBare && !name.startsWith("lm_head.") ? body + name : name;
  });
}

/** An encoder's: without heads, and with the names that norms have today. */
export function encoderTensors(tensors: Tensors, { prefix }: EncoderConfig) {
  const isWhole = Object.keys(tensors).some((n) => n.startsWith(prefix));
  return renamed(tensors, (name) => {
    if (isWhole && !name.startsWith(prefix)) return undefined;
    const own = isWhole ? name.slice(prefix.length) : name;
    if (/^pooler\.|^embeddings\.position_ids$/.test(own)) return undefined;
    return own
      .replace(/LayerNorm\.gamma$/, "LayerNorm.weight")
      .replace(/LayerNorm\.beta$/, "LayerNorm.bias");
  });
}
