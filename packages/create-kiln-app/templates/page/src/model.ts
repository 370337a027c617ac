/** Makes `public/spirals.kiln`, in Node: a small network that tells two spirals apart. */
import { mkdir } from "node:fs/promises";
import { compile, nn, optim, type Tensor } from "kiln-ml";
import { writeArtifact } from "kiln-ml/node";
import { spirals } from "./spirals.ts";

nn.seed(1);
const net = new nn.Sequential(
  new nn.Linear(2, 32),
  new nn.GELU(),
  new nn.Linear(32, 32),
  new nn.GELU(),
  new nn.Linear(32, 2),
);
const steps = 400;
const lr = optim.schedule.cosine(2e-2, steps, 1e-4);
const opt = new optim.AdamW(net.parameters(), { lr });

// The pass, its gradients and the update become one program.
const step = compile((x: Tensor, arm: Tensor) => {
  const loss = nn.crossEntropy(net.forward(x), arm);
  opt.step(loss);
  return loss;
});

for (let i = 1; i <= steps; i++) {
  const { x, arm } = spirals(64);
  const loss = await step(x, arm);
  if (i % 100 === 0) console.log(`step ${i}: loss ${(await loss.item()).toFixed(3)}`);
}

// "N" is any number of points.
const predict = compile(({ x }: { x: Tensor }) => ({ shares: net.forward(x).softmax(-1) }), {
  inputs: [{ x: ["N", 2] }],
});

await mkdir("public", { recursive: true });
await writeArtifact("public/spirals.kiln", await predict.artifact({ target: "wasm" }));
console.log("wrote public/spirals.kiln");
