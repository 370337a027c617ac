/**
 * The vocabulary of a GGUF file of SentencePiece's kind: the pair of neighbours that makes the best
 * piece is joined, until none makes any.
 */
import { LanguageModelError, named } from "./errors.ts";
import type { Tokenizer } from "./generate.ts";
import type { GgufValue } from "./gguf.ts";
import { VocabularyValues } from "./vocabulary-values.ts";

const space = "\u2581";
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

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
      `spmVocabulary: the file's tokenizer is ${named(get("model"))}, not llama\n  take a tokenizer of that kind: generate takes any that encodes and decodes`,
    );
  const values = new VocabularyValues("spmVocabulary", metadata);
  const pieces = values.texts("tokens");
  const kinds = values.numbers("token_type", pieces.length);
  const begin = values.token("bos_token_id", pieces.length);
  return {
    pieces,
    scores: values.numbers("scores", pieces.length) ?? pieces.map(() => 0),
    ...(kinds && { kinds }),
    hasSpaceBefore: get("add_space_prefix") !== false,
    ...(get("add_bos_token") !== false && begin !== undefined && { begin }),
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
  const isMark = (token: number): boolean => kinds?.[token] === 3 || token === begin;
  const byteOf = (piece: string): number | undefined => {
    const hex = /^<0x([0-9A-F]{2})>$/.exec(piece)?.[1];
    return hex === undefined ? undefined : Number.parseInt(hex, 16);
  };
  const bytes = new Map(pieces.map((p, token) => [byteOf(p), token]));
  const plain = (text: string): number[] => {
    const whole = `${hasSpaceBefore && text ? " " : ""}${text}`.replaceAll(" ", space);
    return joined([...whole], byPiece, scores).flatMap((piece) => {
      const token = byPiece.get(piece);
      if (token !== undefined) return [token];
      return [...new TextEncoder().encode(piece)].map((b) => bytes.get(b) ?? 0);
    });
  };
  const controls = new Map(pieces.flatMap((p, i) => (p && isMark(i) ? [[p, i] as const] : [])));
  // The longest of those that begin alike. Without any, nothing is split off.
  const longestFirst = [...controls.keys()].sort((a, b) => b.length - a.length);
  const marks = new RegExp(`(${longestFirst.map(escaped).join("|") || "(?!)"})`, "u");
  return {
    size: pieces.length,
    encode(text, { formatted = false } = {}) {
      if (formatted)
        return text
          .split(marks)
          .flatMap((part, i) => (i % 2 ? [controls.get(part)!] : plain(part)));
      return begin === undefined ? plain(text) : [begin, ...plain(text)];
    },
    decode(tokens) {
      const out: number[] = [];
      for (const token of tokens) {
        if (isMark(token)) continue;
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

/** Neighbours that would join: `right` may be gone, or longer, when its turn comes. */
interface Join {
  readonly left: number;
  readonly right: number;
  readonly text: string;
  readonly score: number;
}

/** What joins first: the best score, the leftmost of equal ones. */
const isBefore = (a: Join, b: Join): boolean =>
  a.score > b.score || (a.score === b.score && a.left < b.left);

/** A binary heap of joins. */
class Joins {
  readonly #items: Join[] = [];

  push(join: Join): void {
    const items = this.#items;
    let at = items.length;
    for (; at > 0; ) {
      const above = (at - 1) >> 1;
      if (!isBefore(join, items[above]!)) break;
      items[at] = items[above]!;
      at = above;
    }
    items[at] = join;
  }

  pop(): Join | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0 || !last) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below + 1 < items.length && isBefore(items[below + 1]!, items[below]!)) below++;
      if (below >= items.length || !isBefore(items[below]!, last)) break;
      items[at] = items[below]!;
      at = below;
    }
    items[at] = last;
    return first;
  }
}

/**
 * Neighbours that make the piece of the best score are joined first, the leftmost of equal ones.
 * O(n log n) for n characters: a join makes two new pairs, which wait in a heap.
 */
function joined(
  parts: string[],
  byPiece: ReadonlyMap<string, number>,
  scores: readonly number[],
): string[] {
  const next = parts.map((_, i) => i + 1);
  const before = parts.map((_, i) => i - 1);
  const joins = new Joins();
  const offer = (left: number, right: number): void => {
    if (left < 0 || right >= parts.length) return;
    const text = parts[left]! + parts[right]!;
    const token = byPiece.get(text);
    if (token !== undefined) joins.push({ left, right, text, score: scores[token]! });
  };
  for (let i = 0; i + 1 < parts.length; i++) offer(i, i + 1);
  for (let join = joins.pop(); join; join = joins.pop()) {
    const { left, right, text } = join;
    // One of them has joined another since. What has is longer, or empty.
    if (!parts[left] || !parts[right] || parts[left] + parts[right] !== text) continue;
    parts[left] = text;
    parts[right] = "";
    next[left] = next[right]!;
    if (next[left] < parts.length) before[next[left]] = left;
    offer(before[left]!, left);
    offer(left, next[left]);
  }
  return parts.filter((p) => p !== "");
}
