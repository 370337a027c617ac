/**
 * The vocabulary of a GGUF file of SentencePiece's kind: the pair of neighbours that makes the best
 * piece is joined, until none makes any.
 */
import { LanguageModelError } from "./errors.ts";
import type { Tokenizer } from "./generate.ts";
import type { GgufValue } from "./gguf.ts";

const space = "\u2581";

/** What a vocabulary is made of. */
export interface SpmVocabulary {
  readonly pieces: readonly string[];
  readonly scores: readonly number[];
  /** Kinds of pieces: 1 normal, 3 control, 6 a byte. All are normal without it. */
  readonly kinds?: readonly number[];
  /** A space is put before the text. */
  readonly hasSpaceBefore?: boolean;
  /** The token put before every text, if there is one. */
  readonly begin?: number;
}

/** The vocabulary that a file's values tell. Throws LanguageModelError for one of another kind. */
export function spmVocabulary(metadata: ReadonlyMap<string, GgufValue>): SpmVocabulary {
  const get = (name: string) => metadata.get(`tokenizer.ggml.${name}`);
  if (get("model") !== "llama")
    throw new LanguageModelError(
      `spmVocabulary: the file's tokenizer is ${String(get("model"))}, not llama\n  take a tokenizer of that kind: generate takes any that encodes and decodes`,
    );
  const begin = get("bos_token_id");
  return {
    pieces: get("tokens") as readonly string[],
    scores: get("scores") as readonly number[],
    kinds: get("token_type") as readonly number[],
    hasSpaceBefore: get("add_space_prefix") !== false,
    ...(get("add_bos_token") !== false && begin !== undefined && { begin: Number(begin) }),
  };
}

/**
 * Text as tokens of such a vocabulary and back. What no piece spells becomes its bytes.
 *
 *     const tokenizer = spmTokenizer(spmVocabulary(readGguf(bytes).metadata));
 */
export function spmTokenizer(vocabulary: SpmVocabulary): Tokenizer {
  const { pieces, scores, kinds, begin, hasSpaceBefore = true } = vocabulary;
  if (pieces.length !== scores.length)
    throw new LanguageModelError(
      `spmTokenizer: ${pieces.length} pieces have ${scores.length} scores`,
    );
  const byPiece = new Map<string, number>();
  for (const [token, piece] of pieces.entries())
    if (!byPiece.has(piece) && (kinds?.[token] ?? 1) !== 3) byPiece.set(piece, token);
  const byteOf = (piece: string): number | undefined => {
    const hex = /^<0x([0-9A-F]{2})>$/.exec(piece)?.[1];
    return hex === undefined ? undefined : Number.parseInt(hex, 16);
  };
  const bytes = new Map(pieces.map((p, token) => [byteOf(p), token]));
  return {
    size: pieces.length,
    encode(text) {
      const whole = `${hasSpaceBefore && text ? " " : ""}${text}`.replaceAll(" ", space);
      const tokens = joined([...whole], byPiece, scores).flatMap((piece) => {
        const token = byPiece.get(piece);
        if (token !== undefined) return [token];
        return [...new TextEncoder().encode(piece)].map((b) => bytes.get(b) ?? 0);
      });
      return begin === undefined ? tokens : [begin, ...tokens];
    },
    decode(tokens) {
      const out: number[] = [];
      for (const token of tokens) {
        if (kinds?.[token] === 3 || token === begin) continue;
        const piece = pieces[token] ?? "";
        const byte = byteOf(piece);
        if (byte !== undefined) out.push(byte);
        else for (const b of new TextEncoder().encode(piece.replaceAll(space, " "))) out.push(b);
      }
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(out));
      return hasSpaceBefore && text.startsWith(" ") ? text.slice(1) : text;
    },
  };
}

/**
 * Neighbours that make the piece of the best score are joined first, the leftmost of equal ones.
 */
function joined(
  parts: string[],
  byPiece: ReadonlyMap<string, number>,
  scores: readonly number[],
): string[] {
  for (;;) {
    let best = -1;
    let bestScore = -Infinity;
    for (let i = 0; i + 1 < parts.length; i++) {
      const token = byPiece.get(parts[i]! + parts[i + 1]!);
      if (token === undefined || scores[token]! <= bestScore) continue;
      best = i;
      bestScore = scores[token]!;
    }
    if (best < 0) return parts;
    parts.splice(best, 2, parts[best]! + parts[best + 1]!);
  }
}
