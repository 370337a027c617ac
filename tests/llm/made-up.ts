/** Weights that a formula of their names makes, which tests/fixtures/make-transformers.py has too. */
import { readFileSync } from "node:fs";
import type { Constant } from "@kiln-ml/artifact";
import { loadWeights, type nn } from "kiln-ml";
import * as assert from "uvu/assert";

type Rows = readonly (readonly number[])[];

export interface Case {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Of parameters, with their shapes; those of the case before where it has none. */
  readonly names?: readonly string[];
}

export interface More {
  readonly ids: readonly number[];
  /** Scores after tokens 0, 5 and 11. */
  readonly decoders: readonly (Case & { readonly logits: Rows })[];
  /** What tokens 0 and 11 of the first text become, and token 3 of the second. */
  readonly encoders: readonly (Case & { readonly rows: Rows })[];
  /** What frames 0 and 9 of what is heard become, and scores as those of decoders. */
  readonly whisper: Case & { readonly heard: Rows; readonly logits: Rows };
  /** Bands by number. */
  readonly mel: { readonly shape: readonly number[]; readonly rows: readonly [number, number[]][] };
}

export const more = JSON.parse(readFileSync("tests/fixtures/llm/more.json", "utf8")) as More;

/**
 * Element i of a tensor: 0.4·sin(1.7i + s + 0.01·i·(s mod 7)), s of the letters of its name; about
 * 1 for norms.
 */
function madeUp(name: string, shape: readonly number[]): Constant {
  const s = [...name].reduce((sum, c) => sum + c.charCodeAt(0), 0) % 97;
  const size = shape.reduce((a, b) => a * b, 1);
  const centre = name.includes("norm") ? 1 : 0;
  const values = Float32Array.from(
    { length: size },
    (_, i) => centre + 0.4 * Math.sin(1.7 * i + s + 0.01 * i * (s % 7)),
  );
  return { dtype: "f32", shape, data: new Uint8Array(values.buffer) };
}

/** The model, with such weights. */
export async function filled<M extends nn.Module>(net: M): Promise<M> {
  const tensors = [...net.checkpoint()].map(
    ([name, t]) => [name, madeUp(name, t.shape as number[])] as const,
  );
  await loadWeights(net, Object.fromEntries(tensors));
  return net;
}

/** Names of parameters with their shapes, in the order of letters. */
export const namesOf = (net: nn.Module): string[] =>
  [...net.checkpoint()].map(([name, t]) => `${name} ${t.shape.join(",")}`).sort();

export function near(found: ArrayLike<number>, wanted: readonly number[], what: string): void {
  const scale = Math.max(1, ...wanted.map(Math.abs));
  for (const [i, w] of wanted.entries())
    assert.ok(Math.abs(found[i]! - w) < 2e-5 * scale, `${what}: ${found[i]} is not ${w} at ${i}`);
}
