/**
 * Attentions of which some queries see no key, masked in all the ways there are, with their gradients, and what they must give:
 * computed here in double precision from the definition, without Kiln.
 */
import { grad, input, makeValue, minOf, type Tensor, type Value } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import type { Program } from "../../compiler/src/program.ts";

export interface Sizes {
  readonly batch: number;
  readonly queries: number;
  readonly keys: number;
  readonly depth: number;
}

export type Kind =
  | "boolean"
  | "−∞"
  | "lowest"
  | "two lowest"
  | "boolean and end"
  | "−∞ and causal"
  | "end"
  | "causal"
  | "nothing";

/** All but "nothing". */
export const kinds: readonly Kind[] = [
  "boolean",
  "−∞",
  "lowest",
  "two lowest",
  "boolean and end",
  "−∞ and causal",
  "end",
  "causal",
];

export interface MaskedAttention {
  readonly program: Program;
  readonly feeds: ReadonlyMap<Tensor, Value>;
  readonly dims: Readonly<Record<string, number>>;
  /** The result, and the gradients of q, k, v and of a mask that is added. */
  readonly want: readonly (readonly number[])[];
}

const noise = (i: number, salt: number): number => Math.fround(Math.sin(12.9898 * (i + 1) + salt));

/** Every third query sees nothing, the others what a coin says and the last key. */
const isSeen = (i: number, j: number, keys: number): boolean =>
  i % 3 !== 1 && (j === keys - 1 || noise(i * keys + j, 5) > -0.3);

const causalOf = (kind: Kind): boolean | "end" =>
  kind.includes("end") ? "end" : kind.includes("causal");

const usesMask = (kind: Kind): boolean => kind !== "end" && kind !== "causal" && kind !== "nothing";

export function maskedAttention(kind: Kind, sizes: Sizes, symbolic = false): MaskedAttention {
  const { batch, queries, keys, depth } = sizes;
  const [t, s] = symbolic ? ["T", "S"] : [queries, keys];
  const [q, k, v] = [
    input("q", "f32", [batch, t, depth]),
    input("k", "f32", [batch, s, depth]),
    input("v", "f32", [batch, s, depth]),
  ] as const;
  const g = input("g", "f32", [batch, t, depth]);
  const boolean = kind.includes("boolean");
  const mask = input("mask", boolean ? "bool" : "f32", [t, s]);
  const whole = kind === "two lowest" ? mask.add(mask) : mask;
  const given = usesMask(kind) ? { mask: whole } : {};
  const y = nn.attention(q, k, v, { ...given, causal: causalOf(kind) });
  const added = usesMask(kind) && !boolean ? [mask] : [];
  const values = [y, ...grad(y.mul(g).sum(), [q, k, v, ...added])];
  const inputs = [q, k, v, g, ...(usesMask(kind) ? [mask] : [])];
  const feeds = feedsOf(kind, sizes, [q, k, v, g], mask);
  return {
    program: {
      inputs,
      outputs: values.map((value, i) => ({ name: `y${i}`, value })),
      updates: [],
    },
    feeds,
    dims: symbolic ? { T: queries, S: keys } : {},
    want: wanted(
      kind,
      sizes,
      [q, k, v, g].map((x) => [...feeds.get(x)!.data]),
    ).slice(0, values.length),
  };
}

function feedsOf(
  kind: Kind,
  { batch, queries, keys, depth }: Sizes,
  tensors: readonly Tensor[],
  mask: Tensor,
): Map<Tensor, Value> {
  const feeds = new Map<Tensor, Value>();
  for (const [salt, x] of tensors.entries()) {
    const rows = salt === 1 || salt === 2 ? keys : queries;
    const data = Array.from({ length: batch * rows * depth }, (_, i) => noise(i, salt));
    feeds.set(x, makeValue("f32", [batch, rows, depth], data));
  }
  const hidden = kind.includes("boolean") ? 0 : kind.includes("lowest") ? minOf("f32") : -Infinity;
  const shown = kind.includes("boolean") ? 1 : 0;
  const data = Array.from({ length: queries * keys }, (_, n) =>
    isSeen(Math.floor(n / keys), n % keys, keys) ? shown : hidden,
  );
  feeds.set(mask, makeValue(mask.dtype, [queries, keys], data));
  return feeds;
}

/** y = w·v with w = e^s/Σe^s over the keys that are seen; ds = w·(dw − Σ w·dw), dw = g·vᵀ. */
function wanted(kind: Kind, sizes: Sizes, data: readonly (readonly number[])[]): number[][] {
  const { batch, queries, keys, depth } = sizes;
  const [q, k, v, g] = data as [number[], number[], number[], number[]];
  const causal = causalOf(kind);
  const last = (i: number) => (causal === "end" ? i + keys - queries : causal ? i : keys);
  const row = (x: readonly number[], b: number, rows: number, i: number) =>
    x.slice((b * rows + i) * depth, (b * rows + i + 1) * depth);
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, x, n) => sum + x * b[n]!, 0);
  const zeros = (n: number): number[] => new Array<number>(n).fill(0);
  const [y, dq, dk, dv] = [q, q, k, v].map((x) => zeros(x.length)) as [
    number[],
    number[],
    number[],
    number[],
  ];
  const dmask = zeros(queries * keys);
  const scale = 1 / Math.sqrt(depth);
  for (let b = 0; b < batch; b++)
    for (let i = 0; i < queries; i++) {
      const seen = [...Array(keys).keys()].filter(
        (j) => j <= last(i) && (!usesMask(kind) || isSeen(i, j, keys)),
      );
      const [own, up] = [row(q, b, queries, i), row(g, b, queries, i)];
      const e = seen.map((j) => Math.exp(scale * dot(own, row(k, b, keys, j))));
      const total = e.reduce((sum, x) => sum + x, 0);
      const dw = seen.map((j) => dot(up, row(v, b, keys, j)));
      const mean = dw.reduce((sum, x, n) => sum + (x * e[n]!) / total, 0);
      for (const [n, j] of seen.entries()) {
        const w = e[n]! / total;
        const ds = w * (dw[n]! - mean);
        dmask[i * keys + j]! += ds * (kind === "two lowest" ? 2 : 1);
        for (let c = 0; c < depth; c++) {
          const [atQuery, atKey] = [(b * queries + i) * depth + c, (b * keys + j) * depth + c];
          y[atQuery]! += w * v[atKey]!;
          dv[atKey]! += w * g[atQuery]!;
          dq[atQuery]! += ds * scale * k[atKey]!;
          dk[atKey]! += ds * scale * q[atQuery]!;
        }
      }
    }
  return [y, dq, dk, dv, dmask];
}

/** What is not as it must be, in words. */
export function differences(
  got: readonly (readonly number[] | ArrayLike<number>)[],
  want: readonly (readonly number[])[],
): string[] {
  const names = ["y", "dq", "dk", "dv", "dmask"];
  return want.flatMap((expected, n) => {
    const most = expected.reduce((m, e) => Math.max(m, Math.abs(e)), 1);
    const off = expected.findIndex((e, j) => !(Math.abs(got[n]![j]! - e) <= 2e-5 * most));
    return off < 0 ? [] : [`${names[n]}[${off}] is ${got[n]![off]}, must be ${expected[off]}`];
  });
}
