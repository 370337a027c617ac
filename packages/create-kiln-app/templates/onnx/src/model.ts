/**
 * Makes `public/model.onnx`, so that the page has a file to begin with: put your own in its place.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { nn, type Tensor } from "kiln-ml";
import { exportOnnx } from "kiln-ml/onnx";

nn.seed(1);
const net = new nn.Sequential(new nn.Linear(4, 8), new nn.ReLU(), new nn.Linear(8, 3));
const bytes = await exportOnnx(({ x }: { x: Tensor }) => ({ shares: net.forward(x).softmax(-1) }), {
  inputs: [{ x: ["N", 4] }],
});
await mkdir("public", { recursive: true });
await writeFile("public/model.onnx", bytes);
console.log("wrote public/model.onnx");
