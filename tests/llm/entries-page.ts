/**
 * What tells a text by an artifact's entries and the runtime alone: in Node it is imported, in a
 * page bundled.
 */
import type { LoadedEntries } from "@kiln-ml/runtime/entries";

export interface Telling {
  /** Tokens to make. */
  readonly count: number;
  /** Tokens of a prompt that run at once. */
  readonly chunk: number;
}

/** The prompt, and the likeliest tokens after it. */
export async function greedyTokens(
  model: LoadedEntries,
  prompt: readonly number[],
  { count, chunk }: Telling,
): Promise<number[]> {
  const text = [...prompt];
  for (let at = 0; text.length < prompt.length + count; ) {
    const part = text.slice(at, at + chunk);
    const shape = [1, part.length];
    const [scores] = await model.run(part.length === 1 ? "decode" : "prefill", [
      { data: Int32Array.from(part), shape },
      { data: Int32Array.from(part, (_, t) => at + t), shape },
      Int32Array.from({ length: at + part.length }, (_, s) => s),
      Int32Array.of(part.length - 1),
    ]);
    at += part.length;
    if (at === text.length) {
      const [token] = await model.run("greedy", [scores!]);
      text.push(await token!.item());
      token!.dispose();
    }
    scores!.dispose();
  }
  return text;
}
