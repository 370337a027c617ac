/**
 * The model that the server serves: put your own here, or have `server.ts` open a file that you
 * have.
 */
import { compile, nn, optim, type Tensor } from "kiln-ml";
import { writeArtifact } from "kiln-ml/node";

nn.seed(1);
const net = new nn.Sequential(new nn.Linear(2, 16), new nn.Tanh(), new nn.Linear(16, 1));
const opt = new optim.AdamW(net.parameters(), { lr: 2e-2 });
const step = compile((x: Tensor, y: Tensor) => {
  const loss = net.forward(x).sub(y).square().mean();
  opt.step(loss);
  return loss;
});

// It learns to multiply.
for (let i = 0; i < 500; i++) {
  const x = Float32Array.from({ length: 128 }, () => 2 * Math.random() - 1);
  const y = Float32Array.from({ length: 64 }, (_, k) => x[2 * k]! * x[2 * k + 1]!);
  await step({ data: x, shape: [64, 2] }, { data: y, shape: [64, 1] });
}

const model = compile(({ x }: { x: Tensor }) => ({ y: net.forward(x) }), {
  inputs: [{ x: ["N", 2] }],
});
await writeArtifact("model.kiln", await model.artifact({ target: "wasm" }));
console.log("wrote model.kiln");
