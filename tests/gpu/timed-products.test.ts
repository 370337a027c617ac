/**
 * The cost model against products whose every tile, and every number of parts, was timed on a card.
 * The times are those of `kiln tune`; what the compiler would choose by itself may take no more
 * than 4 % longer than the fastest, on average.
 */
import { readFileSync } from "node:fs";
import { convolution, gelu, input, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { program } from "../../bench/cases.ts";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";

type Times = Readonly<Record<string, number>>;

interface Card {
  readonly features: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
}

interface Timed {
  readonly name: string;
  readonly tiles: Times;
  readonly parts?: Times;
}

const kept = new URL("./timed-products.jsonl", import.meta.url);
const lines = readFileSync(kept, "utf8").trim().split("\n");
const [card, ...timed] = lines.map((line) => JSON.parse(line)) as [Card, ...Timed[]];

type Dtype = "f32" | "f16";
const leaf = (name: string, dtype: Dtype, ...shape: number[]): Tensor => input(name, dtype, shape);

/**
 * `f32 batch m n k`, `gelu m n k`, `turned m n k`, `conv batch channels features size window
 * padding`.
 */
function programOf(name: string): Program {
  const [kind, ...numbers] = name.split(" ") as [string, ...string[]];
  const [a = 0, b = 0, c = 0, d = 0, window = 0, padding = 0] = numbers.map(Number);
  if (kind === "conv") {
    const [x, w] = [leaf("x", "f32", a, b, d, d), leaf("w", "f32", c, b, window, window)];
    return program([x, w], () => convolution(x, w, { padding }));
  }
  if (kind === "gelu") {
    const [x, y, bias] = [leaf("x", "f32", a, c), leaf("y", "f32", c, b), leaf("bias", "f32", b)];
    return program([x, y, bias], () => gelu(x.matmul(y).add(bias)));
  }
  if (kind === "turned") {
    const [x, y] = [leaf("x", "f32", c, a), leaf("y", "f32", b, c)];
    return program([x, y], () => x.transpose([1, 0]).matmul(y.transpose([1, 0])));
  }
  const batch = a === 1 ? [] : [a];
  const [x, y] = [
    leaf("x", kind as Dtype, ...batch, b, d),
    leaf("y", kind as Dtype, ...batch, d, c),
  ];
  return program([x, y], () => x.matmul(y));
}

const fastest = (times: Times): number => Math.min(...Object.values(times));

/**
 * How many times the fastest the compiler's own choice takes: among parts, and among tiles of the
 * parts that are best.
 */
function lossesOf({ name, tiles, parts }: Timed): { parts?: number; tiles?: number } {
  const { features, limits } = card;
  const compile = (tuning: Readonly<Record<string, string>>) =>
    compileProgram(programOf(name), { target: "webgpu", features, limits, tuning }).decisions;
  const split = compile({}).find(({ of }) => of === "node");
  const best = parts && Object.keys(parts).find((p) => parts[p] === fastest(parts));
  // Tiles were timed of the parts that were best, by more than noise.
  const own = parts?.[split?.options[0] ?? "1"];
  const taken =
    split && best ? { [split.key]: own! < 1.02 * fastest(parts) ? split.options[0]! : best } : {};
  const kernel = compile(taken).find(({ of }) => of === "kernel");
  const tile = kernel && tiles[kernel.options[0]!];
  return {
    ...(own === undefined ? {} : { parts: own / fastest(parts!) }),
    ...(tile === undefined ? {} : { tiles: tile / fastest(tiles) }),
  };
}

const losses = timed.map((product) => ({ name: product.name, ...lossesOf(product) }));
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b) / values.length;

function held(what: "tiles" | "parts", of: RegExp, most: number, count: number): void {
  const found = losses.flatMap((l) => (of.test(l.name) ? (l[what] ?? []) : []));
  assert.ok(found.length >= count, `${found.length} products were timed`);
  const loss = mean(found);
  assert.ok(loss <= most, `${what} take ${loss.toFixed(4)} of the fastest`);
}

test("tiles of f32 are within 4 % of the fastest", () => held("tiles", /^(?!f16)/, 1.04, 40));
test("tiles of matrix units are within 4 % of the fastest", () => held("tiles", /^f16/, 1.04, 14));
test("sums are split into parts that are within 4 % of the fastest", () =>
  held("parts", /./, 1.04, 20));

test.run();
