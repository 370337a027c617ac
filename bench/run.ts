/**
 * The benchmarks: `npm run bench -- --fusion --budgets --compile --memory --train --peers [--slow]
 * [--only PATTERN] [--target js] [--json] [--strict] [--save NAME]`. Prints one row a case;
 * `--strict` fails when a goal is missed. Claims nothing that is not in a row.
 *
 * The CPU table is `--cpu [--peers] [--only NAME,NAME] [--threads 1,2] [--samples 9] [--target
 * wasm]`, with `--against COMMIT` beside an earlier tree, none of whose rows may be 3 % faster;
 * `--cold [--target wasm]` times whole processes; `--models [--target native]` times networks from
 * ONNX files against ONNX Runtime. `--onnxruntime [--threads 1,2]` and `--tfjs [--target
 * wasm|webgpu]` are people's programs unchanged, on Kiln beside onnxruntime-web and beside tfjs's
 * own backends. `--llm [--peers] [--quick] [--slow] [--target js]` is language models by shape,
 * prefill and decode, with llama.cpp, transformers.js and wllama beside them. `--xla [--slow]
 * [--only PATTERN]` is the engine of several devices on those at hand, or with `--slow` on 8 made
 * of the processor, with JAX by hand beside it: it needs Python with jax. `--linalg` is
 * decompositions of 512 × 512 beside plain loops of C, which it compiles. `--gpu FOLDER/bench.mjs`
 * writes the table of a real card as one file and its peers' scripts beside it, for
 * `KILN_PEERS=FOLDER node FOLDER/bench.mjs` on a machine that has one. `--networks` counts the
 * launches of networks' steps on webgpu by kind, which takes no card.
 */
import { dirname } from "node:path";
import type { TargetName } from "@kiln-ml/artifact";
import { scriptOptions } from "../packages/tools/src/script-options.ts";
import { budgetRows } from "./budgets.ts";
import { compileRows } from "./compile.ts";
import { fusionRows } from "./fusion.ts";
import { memoryRows } from "./memory.ts";
import { missed, type Row, save, table } from "./row.ts";

const options = scriptOptions(import.meta.url, {
  fusion: { type: "boolean" },
  budgets: { type: "boolean" },
  compile: { type: "boolean" },
  memory: { type: "boolean" },
  train: { type: "boolean" },
  peers: { type: "boolean" },
  cpu: { type: "boolean" },
  cold: { type: "boolean" },
  onnxruntime: { type: "boolean" },
  tfjs: { type: "boolean" },
  models: { type: "boolean" },
  threads: { type: "string" },
  against: { type: "string" },
  samples: { type: "string" },
  slow: { type: "boolean" },
  json: { type: "boolean" },
  strict: { type: "boolean" },
  only: { type: "string" },
  target: { type: "string", multiple: true },
  save: { type: "string" },
  gpu: { type: "string" },
  xla: { type: "boolean" },
  linalg: { type: "boolean" },
  llm: { type: "boolean" },
  quick: { type: "boolean" },
  networks: { type: "boolean" },
  python: { type: "string" },
});

type Selected = (name: string) => boolean;

/** Comma-separated counts. */
const counts = (text: string): number[] => text.split(",").map(Number);

const cpuTarget = options.target?.[0] ?? "wasm";
const threads = counts(options.threads ?? "1,2");

async function cpuTableRows(): Promise<Row[]> {
  const { cpuRows } = await import("./cpu/suite.ts");
  return cpuRows({
    target: cpuTarget,
    threads,
    samples: Number(options.samples ?? 9),
    withPeers: options.peers ?? false,
    ...(options.against === undefined ? {} : { against: options.against }),
    only: options.only?.split(",") ?? [],
  });
}

const targets = (options.target ?? ["js", "webgpu"]) as TargetName[];

const suites: Readonly<Record<string, (selected: Selected) => Row[] | Promise<Row[]>>> = {
  budgets: (selected) => budgetRows(selected, targets),
  fusion: fusionRows,
  compile: compileRows,
  memory: memoryRows,
  train: async (selected) => (await import("./train/rows.ts")).trainRows(selected),
  cpu: cpuTableRows,
  models: async (selected) =>
    (await import("./onnx/rows.ts")).modelRows(selected, Number(options.samples ?? 9), cpuTarget),
  onnxruntime: async (selected) =>
    (await import("./faces/onnxruntime.ts")).onnxRuntimeRows(selected, {
      samples: Number(options.samples ?? 9),
      threads,
    }),
  tfjs: async (selected) =>
    (await import("./faces/tfjs.ts")).tfjsRows(selected, {
      samples: Number(options.samples ?? 9),
      target: cpuTarget,
    }),
  xla: async (selected) =>
    (await import("./xla/rows.ts")).xlaRows(selected, {
      virtual: options.slow ?? false,
      python: options.python ?? process.env.KILN_PYTHON ?? "python3",
    }),
  linalg: async (selected) => (await import("./linalg/rows.ts")).linalgRows(selected),
  llm: async (selected) =>
    (await import("./llm/rows.ts")).llmRows(selected, {
      targets: options.target ?? ["js", "wasm"],
      slow: options.slow ?? false,
      peers: options.peers ?? false,
      quick: options.quick ?? false,
    }),
  cold: async (selected) => (await import("./cold.ts")).coldRows(selected, cpuTarget, threads),
  // The peer is loaded only where it is asked for: it takes a second.
  peers: async (selected) => (await import("./peers.ts")).peerRows(selected, options.slow ?? false),
};

/**
 * Everything in one file but npm `webgpu`, which is the machine's own, and each peer in one beside
 * it.
 */
async function bundleForCard(path: string): Promise<void> {
  const { build } = await import("esbuild");
  await build({
    entryPoints: ["bench/gpu.ts"],
    outfile: path,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["webgpu", "esbuild"],
    conditions: ["@kiln-ml/source"],
    logLevel: "error",
  });
  await (await import("./gpu-peers/bundle.ts")).writePeers(dirname(path));
  console.log(
    `wrote ${path} and its peers: run it with node where npm webgpu is installed and a card is in reach`,
  );
}

async function main(): Promise<void> {
  if (options.gpu) return bundleForCard(options.gpu);
  const pattern = new RegExp(options.only ?? "");
  // With the CPU table, networks or language models, `--peers` asks for its peers.
  const chosen = Object.keys(suites).filter(
    (name) =>
      name in options && !(name === "peers" && (options.cpu || options.llm || options.models)),
  );
  if (chosen.length === 0) {
    console.log(
      `usage: npm run bench -- ${Object.keys(suites)
        .map((s) => `--${s}`)
        .join(" ")}`,
    );
    process.exitCode = 1;
  }
  const all: Row[] = [];
  for (const name of chosen) {
    const rows = await suites[name]!((c) => pattern.test(c));
    all.push(...rows);
    if (options.json) for (const row of rows) console.log(JSON.stringify(row));
    // The CPU table with peers prints itself: it is as wide as it has peers.
    else if (name !== "cpu" || options.against) console.log(`${name}\n${table(rows)}\n`);
  }
  if (options.save) console.log(`saved ${save(options.save, all)}`);
  const failed = missed(all);
  if (options.strict && failed.length > 0) {
    console.error(`${failed.length} goals missed`);
    process.exitCode = 1;
  }
}

await main();
