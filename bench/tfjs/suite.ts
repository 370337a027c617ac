/**
 * `npm run conformance -- --tfjs [--target TARGET] [--only TEXT] [--no-peer] [--json] [--strict]`:
 * the specs of tfjs-core on the backend of `@kiln-ml/tfjs`, beside tfjs's own cpu backend. Says
 * what fails by kind and what ran on the cpu backend; `--strict` fails below 95 % of what that
 * passes. The target webgpu takes the software adapter that comes with the browser of the tests.
 */
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { build, type Plugin } from "esbuild";
import { installInto } from "../cpu/install.ts";
import { adapterEnvironment } from "../onnx/adapter.ts";

const folder = resolve("node_modules/.cache/kiln-bench/tfjs");

const packages: Readonly<Record<string, string>> = {
  "@tensorflow/tfjs-backend-cpu": "4.22.0",
  "@tensorflow/tfjs-core": "4.22.0",
  "jasmine-core": "3.99.1",
};

/** Specs that pass, of those that tfjs's cpu backend passes, in per cent. */
const goal = 95;

export interface SuiteOptions {
  readonly target: string;
  readonly only: string | undefined;
  readonly peer: boolean;
  readonly json: boolean;
  readonly strict: boolean;
}

interface Spec {
  readonly name: string;
  readonly status: "passed" | "failed" | "pending" | "excluded";
  readonly why?: string;
}

interface Outcome {
  readonly specs: readonly Spec[];
  /** Kernels that ran on the cpu backend. */
  readonly fallbacks: Readonly<Record<string, number>>;
}

/** tfjs and jasmine come from where they were installed, whoever asks for them. */
const peers: Plugin = {
  name: "peers",
  setup(context) {
    context.onResolve({ filter: /^(@tensorflow|jasmine-core)/ }, ({ path, kind, pluginData }) =>
      pluginData === "peer"
        ? undefined
        : context.resolve(path, { resolveDir: folder, kind, pluginData: "peer" }),
    );
  },
};

/** The path of the suite with our backend, as one module. */
async function bundleSuite(): Promise<string> {
  const outfile = join(folder, "suite.mjs");
  const head = `import { createRequire as requireFrom } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
const require = requireFrom(import.meta.url);
const __filename = fileURLToPath(import.meta.url);
const __dirname = dirname(__filename);`;
  await build({
    entryPoints: ["bench/tfjs/suite-entry.mjs"],
    outfile,
    bundle: true,
    // The core says that its specs have no side effects.
    ignoreAnnotations: true,
    format: "esm",
    platform: "node",
    target: "node20",
    mainFields: ["module", "main"],
    conditions: ["@kiln-ml/source"],
    external: ["webgpu", "esbuild"],
    banner: { js: head },
    plugins: [peers],
    logLevel: "error",
  });
  return outfile;
}

/** The suite on a backend, in a process of its own. */
async function runSuite(
  path: string,
  backend: string,
  { target, only = "" }: SuiteOptions,
): Promise<Outcome> {
  const adapter = target === "webgpu" ? await adapterEnvironment() : {};
  const env = { ...process.env, ...adapter, BACKEND: backend, TARGET: target, ONLY: only };
  const child = spawn(process.execPath, [path], { env, stdio: ["ignore", "pipe", "inherit"] });
  const specs: Spec[] = [];
  let fallbacks: Outcome["fallbacks"] | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const row = JSON.parse(line);
    if (row.fallbacks) fallbacks = row.fallbacks;
    else if (row.status !== "excluded") specs.push(row);
  }
  // The last line is the last: without it the suite ended before its time.
  if (!fallbacks)
    throw new Error(`conformance: the suite on ${backend} ended after ${specs.length}`);
  return { specs, fallbacks };
}

/** The suite that a spec belongs to; its name has that of the backend after it. */
const kindOf = ({ name }: Spec): string => name.split(/ (?:kiln|cpu) \{/)[0]!;
const plainName = (name: string): string => name.replace(/ (?:kiln|cpu) \{\}/g, "");

const passed = ({ specs }: Outcome): Spec[] => specs.filter((s) => s.status === "passed");

function count(name: string, outcome: Outcome): string {
  const of = (status: Spec["status"]) => outcome.specs.filter((s) => s.status === status).length;
  return `${name.padEnd(12)} ${of("passed")} passed, ${of("failed")} failed, ${of("pending")} skipped by the suite`;
}

function printFailures({ specs }: Outcome): void {
  const kinds = new Map<string, Spec[]>();
  for (const spec of specs)
    if (spec.status === "failed")
      kinds.set(kindOf(spec), [...(kinds.get(kindOf(spec)) ?? []), spec]);
  for (const [kind, list] of [...kinds].sort((a, b) => b[1].length - a[1].length)) {
    console.log(`\n${kind}: ${list.length}`);
    for (const { name, why = "" } of list)
      console.log(`  ${plainName(name)}\n    ${why.split("\n")[0]!.slice(0, 160)}`);
  }
}

export async function conformTfjs(options: SuiteOptions): Promise<void> {
  installInto(folder, packages);
  const path = await bundleSuite();
  const cpu = options.peer ? await runSuite(path, "cpu", options) : undefined;
  const ours = await runSuite(path, "kiln", options);
  if (options.json) console.log(JSON.stringify({ target: options.target, cpu, ours }, null, 2));
  else {
    if (cpu) console.log(count("tfjs cpu", cpu));
    console.log(count(`kiln ${options.target}`, ours));
    printFailures(ours);
    const list = Object.entries(ours.fallbacks).map(([name, n]) => `${name} ${n}`);
    console.log(`\non the cpu backend: ${list.join(", ") || "none"}`);
  }
  const mine = new Set(passed(ours).map((s) => plainName(s.name)));
  const theirs = cpu ? passed(cpu).map((s) => plainName(s.name)) : [];
  const both = theirs.filter((name) => mine.has(name)).length;
  const share = theirs.length ? (100 * both) / theirs.length : 100;
  if (!options.json && cpu)
    console.log(
      `${both} of the ${theirs.length} that tfjs's cpu backend passes: ${share.toFixed(1)} %`,
    );
  if (options.strict && share < goal) process.exitCode = 1;
}
