/**
 * Networks as artifacts in a page: exported once, then loaded and run by the runtime alone in a headless Chromium, under a
 * policy that allows scripts of the page's own origin and nothing else (and WebAssembly where the artifact is that).
 */
import { encodeArtifact, type TargetName } from "@kiln-ml/artifact";
import { loadOnnx } from "../../packages/kiln/src/onnx.ts";
import { adapterEnvironment } from "./adapter.ts";
import { elementsOf } from "./compare.ts";
import type { Opened } from "./engine.ts";
import { NetworkPeer } from "./network-peer.ts";
import { networkNamed } from "./networks/index.ts";
import type { Network } from "./networks/network.ts";
import { absenceOf, fileAt, filesOf } from "./sources.ts";
import type { Tensors, TensorValue, Value } from "./values.ts";

export interface PageResult {
  readonly network: string;
  readonly target: TargetName;
  /** Largest error over the largest value, against ONNX Runtime. */
  readonly relative?: number;
  readonly ms?: number;
  readonly bytes?: number;
  readonly wrong?: string;
}

const shipped: readonly (readonly [network: string, target: TargetName])[] = [
  ["MNIST (rten)", "js"],
  ["silero half", "wasm"],
  ["BlazeFace front", "wasm"],
];

const closeEnough = 1e-3;
const strict = "default-src 'self'";
const policies: Readonly<Record<string, string>> = {
  js: strict,
  webgpu: strict,
  wasm: `${strict}; script-src 'self' 'wasm-unsafe-eval'`,
};

const devices: Readonly<Record<string, string>> = {
  js: "createCpuDevice()",
  wasm: "createWasmDevice({ threads: 1 })",
  webgpu: "openWebGpu({ allowSoftware: true })",
};

/** Loads the artifact beside the page, runs it on the inputs beside it, gives outputs as lists. */
const script = (target: string): string => `
import { loadFromUrl } from "@kiln-ml/artifact";
import { createCpuDevice, createWasmDevice, initialStates, load, openWebGpu } from "@kiln-ml/runtime";
async function main() {
  const device = await ${devices[target]};
  const { artifact, kernels } = await loadFromUrl("model", { relaxed: device.features.has("relaxed-simd") });
  const states = initialStates(artifact, device);
  const exe = await load(artifact, device, kernels ? { states, kernels } : { states });
  const given = await (await fetch("/inputs.json")).json();
  const inputs = artifact.signature.inputs.map(({ name, dtype }) => {
    const { data, dims } = given[name];
    return { data: dtype === "f32" ? Float32Array.from(data) : Int32Array.from(data), shape: dims };
  });
  const once = async () => {
    const outputs = await exe.run(inputs);
    return Promise.all(outputs.map(async (o) => [...(await o.data())]));
  };
  await once();
  const start = performance.now();
  const lists = await once();
  const ms = performance.now() - start;
  return { ms, outputs: lists };
}
globalThis.result = main().catch((error) => \`\${error.name}: \${error.message}\`);`;

interface PageAnswer {
  readonly ms: number;
  /** In the order of the graph's outputs. */
  readonly outputs: readonly (readonly number[])[];
}

/** Inputs of one run, as the network's own work makes them. */
async function inputsOf(network: Network): Promise<Tensors> {
  const unused: Opened = { run: async () => ({}), close: async () => {} };
  return (await network.work({ model: unused })).inputs.model!;
}

const isTensor = (v: Value): v is TensorValue => v !== null && "data" in v;

async function reference(network: Network, inputs: Tensors): Promise<Record<string, Value>> {
  const { from, path } = network.models.model!;
  const files = filesOf(from);
  const full = files.names.find((n) => n === path || n.endsWith(`/${path}`))!;
  const peer = await NetworkPeer.start("onnxruntime-node");
  const answer = await peer.ask({ ask: "graph", archive: files.path, path: full, inputs }, 60_000);
  peer.end();
  if (!("outputs" in answer))
    throw new Error("error" in answer ? answer.error : "no reference outputs");
  return answer.outputs as Record<string, Value>;
}

function compared(answer: PageAnswer, want: Readonly<Record<string, Value>>): number | string {
  let relative = 0;
  for (const [i, [name, value]] of Object.entries(want).entries()) {
    if (!isTensor(value)) continue;
    const got = answer.outputs[i];
    const expected = Array.from(elementsOf(value), Number);
    if (got?.length !== expected.length) return `${name} has ${got?.length} elements`;
    const largest = Math.max(...expected.map(Math.abs));
    const worst = Math.max(...expected.map((w, at) => Math.abs(w - got[at]!)));
    relative = Math.max(relative, worst === 0 ? 0 : worst / largest);
  }
  return relative;
}

async function inPage(name: string, target: TargetName): Promise<PageResult> {
  const network = networkNamed(name);
  const absent = absenceOf(network);
  if (absent) return { network: name, target, wrong: absent };
  const { from, path, dims } = network.models.model!;
  const inputs = await inputsOf(network);
  const model = loadOnnx(fileAt(filesOf(from), path), { file: path, ...(dims ? { dims } : {}) });
  const files = encodeArtifact(await model.artifact({ target }));
  const { bundleForPage, pageOf, resultOf, withPage } = await import(
    "../../tests/support/browser.ts"
  );
  const headers = { "Content-Security-Policy": policies[target]! };
  const page = pageOf(await bundleForPage({ text: script(target) }), headers);
  const plain = Object.entries(inputs).flatMap(([key, v]) =>
    isTensor(v) ? [[key, { dims: v.dims, data: Array.from(elementsOf(v), Number) }] as const] : [],
  );
  const served = {
    ...page.files,
    "/inputs.json": JSON.stringify(Object.fromEntries(plain)),
    ...Object.fromEntries([...files].map(([file, bytes]) => [`/model/${file}`, bytes])),
  };
  const answer = await withPage({ ...page, files: served }, async (open, { errors }) => {
    const result = await resultOf(open);
    return errors.length ? errors.join("; ") : result;
  });
  const base = { network: name, target };
  if (typeof answer === "string") return { ...base, wrong: answer };
  const relative = compared(answer as PageAnswer, await reference(network, inputs));
  if (typeof relative === "string") return { ...base, wrong: relative };
  const bytes = [...files.values()].reduce((sum, f) => sum + f.length, 0);
  const wrong = relative <= closeEnough ? {} : { wrong: `differs by ${relative.toExponential(1)}` };
  return { ...base, relative, ms: (answer as PageAnswer).ms, bytes, ...wrong };
}

/** The shipped networks whose name is selected, in pages. A failure is a result. */
export async function pageResults(selected: (name: string) => boolean): Promise<PageResult[]> {
  Object.assign(process.env, await adapterEnvironment());
  const results: PageResult[] = [];
  for (const [network, target] of shipped) {
    if (!selected(network)) continue;
    const result = await inPage(network, target).catch((error: Error) => ({
      network,
      target,
      wrong: `${error.name}: ${error.message}`,
    }));
    results.push(result);
  }
  return results;
}
