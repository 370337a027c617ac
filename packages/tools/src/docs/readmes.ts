/**
 * The README of each published package: what it is, how it is installed, a use that runs, and what
 * a page downloads. Descriptions and keywords are those of the manifests, which
 * `tests/package/npm-pages.test.ts` compares.
 */
import { limits } from "../page-size.ts";
import { banner, table } from "./source.ts";

export interface PackagePage {
  readonly folder: string;
  readonly name: string;
  readonly description: string;
  readonly keywords: readonly string[];
  /** A module that runs as it stands. */
  readonly use: string;
  readonly more: string;
  readonly sized?: boolean;
  /** How one gets it, where that is not `npm install`. */
  readonly install?: string;
}

const everywhere = ["deep-learning", "machine-learning", "compiler", "webgpu", "webassembly"];
const unscoped: Readonly<Record<string, string>> = {
  "packages/kiln": "kiln-ml",
  "packages/create-kiln-app": "create-kiln-app",
};
const page = (
  folder: string,
  description: string,
  keywords: readonly string[],
  use: string,
  more: string,
): PackagePage => ({
  folder,
  name: unscoped[folder] ?? `@kiln-ml/${folder.split("/").at(-1)}`,
  description,
  keywords: [...everywhere, ...keywords],
  use: use.trim(),
  more,
  sized: /kiln$|runtime$/.test(folder),
});

export const packagePages: readonly PackagePage[] = [
  page(
    "packages/kiln",
    "Deep learning in TypeScript: models and training steps compiled to WebAssembly, WebGPU and JavaScript",
    ["neural-network", "training", "inference", "onnx", "tensor", "autodiff", "typescript"],
    `
import { compile, nn, optim, type Tensor } from "kiln-ml";

const net = new nn.Sequential(new nn.Linear(2, 16), new nn.ReLU(), new nn.Linear(16, 2));
const opt = new optim.AdamW(net.parameters(), { lr: 0.02 });
const step = compile((x: Tensor, y: Tensor) => {
  const loss = nn.crossEntropy(net.forward(x), y);
  opt.step(loss); // gradients and updates go into the same program
  return loss;
});
const loss = await step([[0, 1], [1, 0]], { data: Int32Array.of(0, 1), shape: [2] });
console.log(await loss.item());
`,
    "`kiln-ml/model` opens a compiled model or an ONNX file in one call, `kiln-ml/onnx`, `kiln-ml/tfjs` and `kiln-ml/train` read ONNX and TensorFlow.js models and run training loops, `kiln-ml/vision` has models for images, `kiln-ml/node` has files, `kiln-ml/nn`, `kiln-ml/optim` and `kiln-ml/data` are the namespaces for bundlers that keep these whole, and `kiln-ml/ir` is the language with its internals. The command `kiln` runs, compiles, inspects, times and tunes.",
  ),
  page(
    "runtime",
    "Runs models that Kiln compiled, in pages and Node, on WebAssembly, WebGPU or JavaScript, without the compiler",
    ["inference", "runtime", "browser"],
    `
import { createWasmDevice, initialStates, load } from "@kiln-ml/runtime";
import { compile, type Tensor } from "kiln-ml";

// In a page: const { artifact } = await loadFromUrl("/model/") of @kiln-ml/artifact.
const artifact = await compile((x: Tensor) => x.softmax(), { inputs: [["N", 3]] }).artifact({ target: "wasm" });
const device = createWasmDevice();
const program = await load(artifact, device, { states: initialStates(artifact, device) });
const [y] = await program.run([{ data: Float32Array.of(1, 2, 3), shape: [1, 3] }]);
console.log(await y!.data());
device.destroy();
`,
    "`openModel` of `kiln-ml/model` does all of that in one call.",
  ),
  page(
    "compiler",
    "Kiln's compiler: graphs of tensors fused into few kernels for WebAssembly, WebGPU and JavaScript",
    ["fusion", "code-generation", "simd", "wgsl"],
    `
import { compileProgram } from "@kiln-ml/compiler/all";
import { input } from "@kiln-ml/ir";

const x = input("x", "f32", ["N", 8]);
const program = { inputs: [x], outputs: [{ name: "y", value: x.softmax() }], updates: [] };
const { artifact } = compileProgram(program, { target: "webgpu" });
console.log(artifact.kernels[0]!.text);
`,
    "`kiln-ml` is the front door; this package is for tools that work on programs themselves.",
  ),
  page(
    "packages/ir",
    "Kiln's language: tensors as graphs with symbolic dims, ops with gradients, a text form and a reference evaluator",
    ["tensor", "autodiff", "intermediate-representation"],
    `
import { grad, input, printTensor } from "@kiln-ml/ir";

const x = input("x", "f32", [4]);
const [slope] = grad(x.mul(x).sum(), [x]);
console.log(printTensor(slope!));
`,
    "`kiln-ml` exports all of it.",
  ),
  page(
    "packages/artifact",
    "Programs that Kiln compiled, as data and as files: read, written, checked and fetched",
    ["serialization", "safetensors"],
    `
import { packArtifact, unpackArtifact } from "@kiln-ml/artifact";
import { compile, type Tensor } from "kiln-ml";

const artifact = await compile((x: Tensor) => x.exp(), { inputs: [[8]] }).artifact();
const bytes = packArtifact(artifact);
console.log(bytes.length, unpackArtifact(bytes).kernels.length);
`,
    "`@kiln-ml/artifact/node` reads and writes files; `@kiln-ml/runtime` runs artifacts.",
  ),
  page(
    "packages/nn",
    "Layers and losses for Kiln, built from its tensors: linear, convolution, attention, recurrent, normalisation",
    ["neural-network", "layers", "attention"],
    `
import { input } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";

const net = new nn.Sequential(new nn.Linear(4, 8), new nn.GELU(), new nn.Linear(8, 3));
const y = net.forward(input("x", "f32", ["N", 4]));
console.log(y.shape.map(String), net.parameters().length);
`,
    "`kiln-ml` exports it as `nn`, and compiles and runs what it builds.",
  ),
  page(
    "packages/optim",
    "Optimizers and schedules for Kiln, compiled into the training step",
    ["optimizer", "adam", "training"],
    `
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { compile, type Tensor } from "kiln-ml";

const net = new nn.Linear(3, 1);
const opt = new optim.AdamW(net.parameters(), { lr: 1e-3 });
const step = compile((x: Tensor) => {
  const loss = net.forward(x).mean();
  opt.step(loss);
  return loss;
});
console.log(await (await step([[1, 2, 3]])).item());
`,
    "`kiln-ml` exports it as `optim`.",
  ),
  page(
    "packages/data",
    "Data sets, loaders, samplers and augmentations for Kiln; readers of CSV, images, WAV and EDF",
    ["dataset", "dataloader", "augmentation"],
    `
import { DataLoader, fromArrays } from "@kiln-ml/data";

const points = Float32Array.from({ length: 20 }, (_, i) => i);
const loader = new DataLoader(fromArrays([points], [[2]]), { batch: 4 });
for await (const [x] of loader) console.log(x);
`,
    "`kiln-ml` exports it as `data`; `@kiln-ml/data/node` reads folders.",
  ),
  page(
    "packages/train",
    "Training loops for Kiln: fit, evaluate, callbacks, metrics, checkpoints",
    ["training", "metrics", "keras"],
    `
import { metrics, type Callback } from "@kiln-ml/train";

const quiet: Callback = {};
console.log(Object.keys(metrics).length > 0, Object.keys(quiet).length);
`,
    "Use it as `kiln-ml/train`, which plugs the compiler in.",
  ),
  page(
    "packages/vision",
    "Vision models for Kiln with torchvision's names: ResNet, GoogLeNet, MobileNetV3, EfficientNet, ViT, U-Net",
    ["resnet", "vision-transformer", "unet"],
    `
import { input } from "@kiln-ml/ir";
import { mobilenetV3Small } from "@kiln-ml/vision";

const net = mobilenetV3Small({ classes: 10 }).eval();
const scores = net.forward(input("images", "f32", ["N", 3, 64, 64]));
console.log(scores.shape.map(String), net.parameterCount);
`,
    '`kiln-ml/vision` plugs the compiler in: `await resnet18("wasm").train(photos)`. `loadWeights` of `kiln-ml` reads torchvision\'s files.',
  ),
  page(
    "packages/onnx",
    "ONNX models as Kiln's graphs and back",
    ["onnx", "model-import"],
    `
import { rows } from "@kiln-ml/onnx";

console.log(rows.length, "ops", rows.some((r) => r.op === "Conv"));
`,
    "`loadOnnx` of `kiln-ml/onnx` compiles and runs them.",
  ),
  page(
    "packages/llm",
    "Language models on Kiln: Llama, Qwen, Gemma, Phi, Mistral, GPT-2, BERT and Whisper by config.json, with caches and sampling",
    ["llm", "llama", "text-generation"],
    `
import { Decoder, decoderConfig, generateTokens, TextSession } from "@kiln-ml/llm";

const config = decoderConfig({
  model_type: "llama",
  vocab_size: 32,
  hidden_size: 16,
  intermediate_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  max_position_embeddings: 64,
});
const session = new TextSession(new Decoder(config), { target: "js" });
for await (const [token] of generateTokens(session, [[1, 2, 3]], { maxTokens: 4 }))
  console.log(token);
`,
    "`Embedder` makes vectors of texts with an encoder (`loadEncoder`), `transcribe` texts of sounds with Whisper (`loadSpeechModel`). `loadModel` of `@kiln-ml/llm/node` opens the folder of a public model, or a GGUF file; `kiln generate MODEL --prompt TEXT` and `kiln chat MODEL` talk to it.",
  ),
  page(
    "packages/serve",
    "Kiln's models over HTTP: artifacts, ONNX files, and language models as OpenAI's interface",
    ["inference-server", "llm", "openai", "onnx"],
    `
import { serve } from "@kiln-ml/serve";
import { exportArtifact, type Tensor } from "kiln-ml";
import { packArtifact } from "kiln-ml/artifact";
import { openModel } from "kiln-ml/model";

const double = await exportArtifact((x: Tensor) => x.mul(2), { inputs: [["N", 2]], target: "js" });
const server = await serve(await openModel(packArtifact(double)), { name: "double", port: 0 });
console.log(await (await fetch(\`\${server.url}/v1/signature\`)).json());
await server.stop();
`,
    "`kiln serve MODEL` is the same from a shell, for language models too: `POST /v1/chat/completions` as OpenAI's clients ask it.",
  ),
  page(
    "packages/onnxruntime",
    "The interface of onnxruntime-web and onnxruntime-node on Kiln: programs run unchanged behind an alias",
    ["onnx", "onnxruntime", "inference"],
    `
import * as ort from "@kiln-ml/onnxruntime";
import type { Tensor } from "kiln-ml";
import { exportOnnx } from "kiln-ml/onnx";

const bytes = await exportOnnx((x: Tensor) => x.softmax(), { inputs: [["N", 3]] });
const session = await ort.InferenceSession.create(bytes);
const [input, output] = [session.inputNames[0]!, session.outputNames[0]!];
const results = await session.run({ [input]: new ort.Tensor("float32", [1, 2, 3], [1, 3]) });
console.log(results[output]!.data);
`,
    '`"onnxruntime-web": "npm:@kiln-ml/onnxruntime"` among the overrides of a program\'s package.json puts it behind the packages that the program uses.',
  ),
  page(
    "packages/tfjs",
    "A TensorFlow.js backend on Kiln: programs run unchanged, their ops recorded, fused and compiled",
    ["tensorflow", "tfjs", "backend"],
    `
import * as tf from "@tensorflow/tfjs-core";
import "@kiln-ml/tfjs";

await tf.setBackend("kiln");
const y = tf.tidy(() => tf.softmax(tf.matMul(tf.ones([2, 3]), tf.ones([3, 4]))));
console.log(await y.data());
`,
    "The table of kernels covers what models and training use; what it lacks runs on tfjs's cpu backend, and `counts()` says how often.",
  ),
  page(
    "packages/tfjs-files",
    "TensorFlow.js model files as Kiln's graphs, read without TensorFlow.js",
    ["tensorflow", "tfjs", "model-import"],
    `
import { graphRows } from "@kiln-ml/tfjs-files";

console.log(graphRows.map((row) => row.op));
`,
    "`loadTfjs` of `kiln-ml/tfjs` fetches, compiles and runs them.",
  ),
  page(
    "packages/formats",
    "safetensors, PyTorch and NumPy files, read and written in TypeScript",
    ["safetensors", "pytorch", "numpy", "npz"],
    `
import { readNpy, writeNpy } from "@kiln-ml/formats";

const bytes = writeNpy({ dtype: "f32", shape: [2], data: new Uint8Array(8) });
console.log(readNpy(bytes).shape);
`,
    "`loadWeights` of `kiln-ml` puts what they hold into modules by name.",
  ),
  page(
    "packages/stablehlo",
    "Kiln's programs as StableHLO text for XLA, and a reader of that text",
    ["stablehlo", "xla", "mlir"],
    `
import { input } from "@kiln-ml/ir";
import { exportStableHlo } from "@kiln-ml/stablehlo";

const x = input("x", "f32", [4]);
console.log(typeof exportStableHlo, x.exp().op);
`,
    "It needs nothing else of Kiln but `@kiln-ml/ir`.",
  ),
  page(
    "packages/xla",
    "Kiln's programs on XLA: training steps and models on several cards, TPUs and hosts, by a process of Python",
    ["xla", "distributed", "stablehlo", "tpu", "gpu"],
    `
import { mesh, xla } from "@kiln-ml/xla";

const engine = xla({ mesh: mesh({ data: 8 }) });
console.log(engine.name, engine.options.mesh.size);
`,
    "`compile(step, { engine })` and `fit(net, loader, { engine })` of `kiln-ml` take it. It needs Python with `jax` 0.11 or newer.",
  ),
  page(
    "packages/inspector",
    "What Kiln compiled a program to, and why: a documented form, and a page of one file that shows it",
    ["inspector", "visualization", "profiler"],
    `
import { inspectionPage } from "@kiln-ml/inspector/node";
import { compile, type Tensor } from "kiln-ml";

const inspection = await compile((x: Tensor) => x.softmax(), { inputs: [[4, 8]] }).inspect();
console.log(inspection.kernels.map((k) => k.name), (await inspectionPage(inspection)).length > 0);
`,
    "`kiln inspect model.ts --html model.html` writes the page.",
  ),
  {
    ...page(
      "packages/create-kiln-app",
      "npm create kiln-app: a project that trains in Node, a model or an ONNX file in a page, or a server",
      ["create", "template", "vite"],
      `
import { templates } from "create-kiln-app";

// await createApp("my-app", "page") writes the files and returns their paths.
for (const { name, title } of templates) console.log(name, title);
`,
      "In a terminal it asks for what the flags leave open. The folder is new or empty; nothing is installed, and nothing but Node is needed.",
    ),
    install: "npm create kiln-app my-app -- --template page",
  },
];

/** The text of a package's README. */
export function readmeOf({ name, description, use, more, sized, install }: PackagePage): string {
  const sizes = Object.entries(limits).map(([what, kB]) => [what, `${kB} kB`]);
  const table_ = table([["what a page downloads", "gzip, at most"], ...sizes]);
  return `${banner}

# ${name}

${description}.

\`\`\`sh
${install ?? `npm install ${name}`}
\`\`\`

\`\`\`ts
${use}
\`\`\`

${more}
${sized ? `\n## Sizes\n\nHeld by tests of each commit, minified:\n\n${table_}\n` : ""}
ES modules with declarations and source maps, for Node 20 or newer and for pages. Apache License 2.0.
`;
}
