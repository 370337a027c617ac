/**
 * Decoders of every row of the table against transformers 5.17, in f64 there: weights that a
 * formula makes, whole and through a session's cache.
 */
import { readFileSync } from "node:fs";
import type { Constant } from "@kiln-ml/artifact";
import { architectures, Decoder, decoderConfig, TextSession } from "@kiln-ml/llm";
import { compile, loadWeights, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

interface Fixture {
  readonly ids: readonly number[];
  readonly rows: readonly {
    readonly type: string;
    readonly config: Readonly<Record<string, unknown>>;
    /** After tokens 0, 5 and 11. */
    readonly logits: readonly (readonly number[])[];
  }[];
}

const { ids, rows } = JSON.parse(
  readFileSync("tests/fixtures/llm/transformers.json", "utf8"),
) as Fixture;
const places = [0, 5, 11];

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

async function decoder(config: unknown): Promise<Decoder> {
  const net = new Decoder(decoderConfig(config));
  const tensors = [...net.checkpoint()].map(
    ([name, t]) => [name, madeUp(name, t.shape as number[])] as const,
  );
  await loadWeights(net, Object.fromEntries(tensors));
  return net;
}

function near(found: ArrayLike<number>, wanted: readonly number[], what: string): void {
  const scale = Math.max(1, ...wanted.map(Math.abs));
  for (const [i, w] of wanted.entries())
    assert.ok(Math.abs(found[i]! - w) < 2e-5 * scale, `${what}: ${found[i]} is not ${w} at ${i}`);
}

test("there is a reference for every row", () => {
  assert.equal(rows.map((r) => r.type).sort(), Object.keys(architectures).sort());
});

for (const { type, config, logits } of rows) {
  test(`${type} gives what transformers gives`, async () => {
    const net = await decoder(config);
    const run = compile((tokens: Tensor) => net.forward(tokens), { target: "js" });
    const scores = await (await run({ data: Int32Array.from(ids), shape: [1, ids.length] })).data();
    const width = net.config.vocabulary;
    for (const [i, row] of logits.entries())
      near(scores.slice(places[i]! * width, (places[i]! + 1) * width) as never, row, type);
    await run.dispose();
  });

  test(`${type} gives the same beside a cache, by chunks and token by token`, async () => {
    const net = await decoder(config);
    const session = new TextSession(net, { target: "js", capacity: 16 });
    const scores = new Map<number, ArrayLike<number>>();
    let at = 0;
    for (const length of [1, 3, 2, 4, 1, 1]) {
      const y = await session.step([ids.slice(at, at + length)], [at]);
      at += length;
      scores.set(at - 1, (await y.data()) as never);
    }
    for (const [i, place] of places.entries()) near(scores.get(place)!, logits[i]!, type);
    assert.is(session.compiles, 2);
    await session.dispose();
  });
}

test.run();
