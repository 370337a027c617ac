/** The first page: what Kiln is, ten lines of it, the inspector, and figures. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { framed } from "./frame.ts";
import { highlighted } from "./highlight.ts";

const program = `import { compile, nn, optim, type Tensor } from "kiln-ml";

const net = new nn.Sequential(
  new nn.Linear(2, 16),
  new nn.ReLU(),
  new nn.Linear(16, 2),
);
const opt = new optim.AdamW(net.parameters(), { lr: 0.02 });

const step = compile((x: Tensor, y: Tensor) => {
  const loss = nn.crossEntropy(net.forward(x), y);
  opt.step(loss); // gradients and updates: the same program
  return loss;
});
await step(points, labels); // WebAssembly, WebGPU or JavaScript`;

interface Figure {
  readonly value: string;
  readonly text: string;
}

/** Figures from rows that were kept; the page of numbers has the rest. */
function figures(root: string): Figure[] {
  const read = (name: string) =>
    JSON.parse(readFileSync(join(root, "bench/results", `${name}.json`), "utf8"));
  const resnet = read("models").rows.find(
    (r: { case: string; metric: string; peer?: string }) =>
      /ResNet50/.test(r.case) && r.metric === "a run" && r.peer === "onnxruntime-web",
  );
  const readme = readFileSync(join(root, "packages/kiln/README.md"), "utf8");
  const size = /wasm inference from a URL\s*\|\s*([\d.]+ kB)/.exec(readme)![1]!;
  const cnn = read("fusion").rows.find(
    (r: { case: string; metric: string }) => /cnn step/.test(r.case) && r.metric === "kernels",
  );
  return [
    { value: size, text: "of gzip for a page that runs a compiled model on WebAssembly" },
    {
      value: `${resnet.ratio.toFixed(1)}×`,
      text: "as fast as onnxruntime-web on ResNet-50, one thread",
    },
    ...(cnn
      ? [
          {
            value: String(cnn.value),
            text: `kernels for a training step of a CNN, not ${cnn.peerValue}`,
          },
        ]
      : []),
  ];
}

export function landingPage(root: string): string {
  const body = `<main class="landing">
<section class="hero"><div><h1>Deep learning, compiled in TypeScript</h1>
<p>Write a model and its training step as functions of tensors. Kiln differentiates them, fuses them into few kernels, plans their memory, and prints WebAssembly, WebGPU or JavaScript. It runs in pages and in Node; no native code is built.</p>
<p class="actions"><a class="button main" href="playground/index.html">Open the playground</a><a class="button" href="docs/tasks.html">Ten first tasks</a><a class="button" href="docs/guide.html">Guide</a></p>
<pre class="install"><code>npm install kiln-ml</code></pre></div>
<pre class="program"><code>${highlighted(program, "ts")}</code></pre></section>
<section class="figures3">${figures(root)
    .map(({ value, text }) => `<div><b>${value}</b><span>${text}</span></div>`)
    .join("")}</section>
<section class="look"><h2>See what it became, and why</h2><p>The inspector shows the kernels by module, why two of them are not one, the text of each, memory over time, and times beside what the machine could do. It is one file that opens anywhere.</p><a href="playground/index.html"><img src="images/inspector.png" alt="The inspector: kernels of a training step by module, and one of them with its reasons" width="1120" height="690"></a></section>
<section class="three"><a href="gallery/digits.html"><img src="images/digits.png" alt="" width="640" height="400" loading="lazy"><b>Train in the page</b><span>Forward, backward and the optimizer are one program, in a worker.</span></a><a href="gallery/onnx.html"><img src="images/onnx.png" alt="" width="640" height="400" loading="lazy"><b>Run ONNX files</b><span>Compiled ahead of time or in the page; nothing is sent.</span></a><a href="docs/recipes.html"><img src="images/picture.png" alt="" width="640" height="400" loading="lazy"><b>Deploy a file</b><span>An artifact needs neither the compiler nor the script. Recipes for bundlers, workers and servers.</span></a></section>
</main>`;
  return framed({
    title: "Kiln · deep learning, compiled in TypeScript",
    description:
      "A deep-learning compiler in TypeScript: training and inference on WebAssembly, WebGPU and JavaScript",
    root: "",
    kind: "home",
    body,
  });
}
