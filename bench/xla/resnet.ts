/** The training step of ResNet-50 under SGD with momentum: a large text, and large batches. */
import { input, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import * as vision from "@kiln-ml/vision";
import type { Program } from "../../compiler/src/program.ts";

export function resnetStep(images: number, extent: number): Program {
  nn.seed(1);
  const x = input("x", "f32", [images, 3, extent, extent]);
  const y = input("labels", "i32", [images]);
  const net = vision.resnet50();
  const rule = new optim.SGD(net.parameters(), { lr: 0.01, momentum: 0.9 });
  const { value, updates } = trace(() => {
    const loss = nn.crossEntropy(net.forward(x), y);
    rule.step(loss);
    return loss;
  });
  return { inputs: [x, y], outputs: [{ name: "loss", value }], updates: [...updates] };
}
