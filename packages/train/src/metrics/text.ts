/**
 * Measures of texts, which no program computes: they are added one by one on the host. Words are what spaces separate, unless a list
 * of tokens is given.
 */
import { GraphError, kindOf } from "@kiln-ml/ir";

/** A text, or its tokens. */
export type Text = string | readonly string[];

export interface TextMetric {
  readonly name: string;
  /** Counts one text against its reference, or for BLEU and ROUGE several. */
  add(candidate: Text, reference: Text, ...more: readonly Text[]): this;
  /** Over all that was added; NaN if nothing was. */
  value(): number;
  reset(): void;
}

/** The tokens of a text, or the list of them that it is. */
function tokensOf(op: string, text: Text, split: (text: string) => string[]): readonly string[] {
  if (typeof text === "string") return split(text);
  if (Array.isArray(text) && text.every((token) => typeof token === "string")) return text;
  throw new GraphError(
    `${op}: takes a text, or a list of its tokens, got ${kindOf(text)}\n  decode numbers of tokens first`,
  );
}

const words = (op: string, text: Text): readonly string[] =>
  tokensOf(op, text, (t) => t.split(/\s+/).filter((w) => w));
const characters = (op: string, text: Text): readonly string[] => tokensOf(op, text, (t) => [...t]);

/** Levenshtein 1966, a row at a time. */
function edits(a: readonly string[], b: readonly string[]): number {
  let row = b.map((_, j) => j + 1);
  row.unshift(0);
  for (const [i, x] of a.entries()) {
    const next = [i + 1];
    for (const [j, y] of b.entries())
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + Number(x !== y)));
    row = next;
  }
  return row[b.length]!;
}

function errorRate(name: string, tokens: typeof words): TextMetric {
  let [wrong, length] = [0, 0];
  return {
    name,
    add(candidate, reference) {
      const right = tokens(name, reference);
      wrong += edits(tokens(name, candidate), right);
      length += right.length;
      return this;
    },
    value: () => (length ? wrong / length : NaN),
    reset() {
      [wrong, length] = [0, 0];
    },
  };
}

/** Edits of characters (Unicode's code points) over the length of the references. May exceed 1. */
export const cer = (): TextMetric => errorRate("cer", characters);
/** Edits of words over the length of the references. May exceed 1. */
export const wer = (): TextMetric => errorRate("wer", words);

function grams(tokens: readonly string[], n: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i + n <= tokens.length; i++) {
    const key = JSON.stringify(tokens.slice(i, i + n));
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** n-grams of the candidate that a reference has, each at most as often as there. */
function clipped(
  candidate: readonly string[],
  references: readonly (readonly string[])[],
  n: number,
) {
  const allowed = references.map((r) => grams(r, n));
  let hits = 0;
  for (const [gram, count] of grams(candidate, n))
    hits += Math.min(count, Math.max(...allowed.map((a) => a.get(gram) ?? 0)));
  return hits;
}

/**
 * BLEU of the corpus that was added: brevity penalty times the geometric mean of the clipped precisions of 1- to `order`-grams; 0 where
 * one of these is 0. Papineni et al. 2002; the reference closest in length counts, the shorter of two. No smoothing.
 */
export function bleu(order = 4): TextMetric {
  if (!Number.isInteger(order) || order < 1 || order > 100)
    throw new GraphError(
      `bleu: order must be a whole number from 1 to 100, got ${kindOf(order)}\n  leave it out for 4`,
    );
  let hits = new Array<number>(order).fill(0);
  let totals = new Array<number>(order).fill(0);
  let [own, other] = [0, 0];
  return {
    name: "bleu",
    add(candidate, reference, ...more) {
      const tokens = words("bleu", candidate);
      const references = [reference, ...more].map((text) => words("bleu", text));
      const away = (n: number) => Math.abs(n - tokens.length);
      const lengths = references.map((r) => r.length).sort((a, b) => away(a) - away(b) || a - b);
      own += tokens.length;
      other += lengths[0]!;
      for (let n = 1; n <= order; n++) {
        hits[n - 1]! += clipped(tokens, references, n);
        totals[n - 1]! += Math.max(0, tokens.length - n + 1);
      }
      return this;
    },
    value() {
      if (!other) return NaN;
      if (hits.some((h) => h === 0)) return 0;
      const logs = hits.reduce((sum, h, i) => sum + Math.log(h / totals[i]!), 0) / order;
      return Math.min(1, Math.exp(1 - other / own)) * Math.exp(logs);
    },
    reset() {
      hits = new Array<number>(order).fill(0);
      totals = new Array<number>(order).fill(0);
      [own, other] = [0, 0];
    },
  };
}

/** Length of the longest common subsequence. */
function common(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const x of a) {
    const next = [0];
    for (const [j, y] of b.entries())
      next.push(x === y ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!));
    row = next;
  }
  return row[b.length]!;
}

/** F₁ of the longest common subsequence of words; the mean over texts, of several references the best. Lin 2004, section 3. */
export function rougeL(): TextMetric {
  let [sum, count] = [0, 0];
  return {
    name: "rougeL",
    add(candidate, reference, ...more) {
      const tokens = words("rougeL", candidate);
      const references = [reference, ...more].map((text) => words("rougeL", text));
      const scores = references.map((r) => {
        const sizes = tokens.length + r.length;
        return sizes ? (2 * common(tokens, r)) / sizes : 0;
      });
      sum += Math.max(...scores);
      count++;
      return this;
    },
    value: () => (count ? sum / count : NaN),
    reset() {
      [sum, count] = [0, 0];
    },
  };
}
