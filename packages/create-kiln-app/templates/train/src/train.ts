/** Trains a small network to tell two spirals apart, and keeps it as one file. */
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
const { x, arm } = spirals(500);
const shares = await (await predict({ x })).shares.data();
const right = arm.filter((a, i) => Number(shares[2 * i + a]) > 0.5).length;
console.log(`${((100 * right) / arm.length).toFixed(1)} % of new points are right`);

await writeArtifact("spirals.kiln", await predict.artifact({ target: "wasm" }));
console.log("wrote spirals.kiln");
