/**
 * Decoders of every row of the table against transformers 5.17, in f64 there: weights that a
 * formula makes, whole and through a session's cache.
 */
import { readFileSync } from "node:fs";
import { architectures, Decoder, decoderConfig, TextSession } from "@kiln-ml/llm";
import { compile, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { filled, more, namesOf, near } from "./made-up.ts";

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

const decoder = (config: unknown): Promise<Decoder> => filled(new Decoder(decoderConfig(config)));

test("there is a reference for every row", () => {
  const known = new Set([...rows, ...more.decoders].map((r) => r.type));
  assert.equal([...known].sort(), Object.keys(architectures).sort());
});

for (const { type, config, names } of more.decoders)
  if (names)
    test(`${type} has the weights that transformers has`, () =>
      assert.equal(namesOf(new Decoder(decoderConfig(config))), [...names].sort()));

/** What a case has that others of its type have not. */
const about = (config: object): string =>
  Object.entries(config)
    .filter(([key]) => /window|rope|partial|act|qk_|layer_types/.test(key))
    .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
    .join(", ");

const cases = [
  ...rows.map((r) => ({ ...r, name: r.type, names: [] })),
  ...more.decoders.map((r) => ({ ...r, name: `${r.type} ${about(r.config)}`.trim() })),
];

for (const { type, name, config, logits, names } of cases) {
  // What a case varies is seen beside a cache too, where its scores are compared as well.
  if (names)
    test(`${name} gives what transformers gives`, async () => {
      const net = await decoder(config);
      const run = compile((tokens: Tensor) => net.forward(tokens), { target: "js" });
      const scores = await (
        await run({ data: Int32Array.from(ids), shape: [1, ids.length] })
      ).data();
      const width = net.config.vocabulary;
      for (const [i, row] of logits.entries())
        near(scores.slice(places[i]! * width, (places[i]! + 1) * width) as never, row, type);
      await run.dispose();
    });

  test(`${name} gives the same beside a cache, by chunks and token by token`, async () => {
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
