/**
 * The options of the three scripts, with their defaults: `npm start -- --epochs 5`. Each script
 * uses those it needs.
 */
import { parseArgs } from "node:util";

const { values } = read({
  epochs: { type: "string", default: "3" },
  batch: { type: "string", default: "32" },
  lr: { type: "string", default: "0.005" },
  seed: { type: "string", default: "1" },
  // Digits to train on and test with together, at most 10,000.
  samples: { type: "string", default: "10000" },
  // The share of test digits that must be right.
  least: { type: "string", default: "0.96" },
  // Timed runs of each program in the comparison with fusion off.
  runs: { type: "string", default: "20" },
  out: { type: "string", default: "out" },
  // What the programs are compiled for: auto, js, wasm or webgpu. Threads of wasm: a number, or
  // auto for one a core.
  target: { type: "string", default: "wasm" },
  threads: { type: "string", default: "auto" },
});

/** `--help` lists the options, with their defaults; a wrong one is said, and nothing runs. */
function read<const O extends Record<string, { type: "string"; default: string }>>(options: O) {
  if (process.argv.includes("--help")) {
    const all = Object.entries(options).map(([name, o]) => `[--${name} ${o.default}]`);
    console.log(`usage: npm start -- ${all.join(" ")}`);
    process.exit(0);
  }
  try {
    return parseArgs({ options });
  } catch (error) {
    return fail(
      `${(error as Error).message.split(".")[0]}\n  npm start -- --help lists the options`,
    );
  }
}

function fail(message: string): never {
  console.error(`mnist: ${message}`);
  process.exit(2);
}

function number(
  name: "epochs" | "batch" | "lr" | "seed" | "samples" | "least" | "runs" | "threads",
  low: number,
): number {
  const value = Number(values[name]);
  if (values[name] !== "" && value >= low) return value;
  return fail(`--${name} must be a number of ${low} or more, got ${values[name]}`);
}

const targets = ["auto", "js", "wasm", "webgpu"] as const;

function target(): (typeof targets)[number] {
  const name = targets.find((name) => name === values.target);
  return name ?? fail(`--target must be auto, js, wasm or webgpu, got ${values.target}`);
}

export const options = {
  epochs: number("epochs", 1),
  batch: number("batch", 1),
  lr: number("lr", 0),
  seed: number("seed", 0),
  samples: Math.min(number("samples", 300), 10_000),
  least: number("least", 0),
  runs: number("runs", 1),
  out: values.out,
  target: target(),
  threads: values.threads === "auto" ? ("auto" as const) : number("threads", 1),
};
