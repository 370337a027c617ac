/**
 * How long a large step takes to become text: ResNet-50 under SGD with momentum, over a mesh. Needs
 * no engine.
 */
import { input, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { dataParallel, exportStableHlo, mesh } from "@kiln-ml/stablehlo";
import * as vision from "@kiln-ml/vision";
import { bounded, type Row } from "../row.ts";

/** Milliseconds of the export alone, the second of two. */
export function exportRow(): Row {
  nn.seed(1);
  const [x, y] = [input("x", "f32", [32, 3, 224, 224]), input("labels", "i32", [32])];
  const net = vision.resnet50();
  const rule = new optim.SGD(net.parameters(), { lr: 0.1, momentum: 0.9 });
  const { value, updates } = trace(() => {
    const loss = nn.crossEntropy(net.forward(x), y);
    rule.step(loss);
    return loss;
  });
  const program = { inputs: [x, y], outputs: [{ name: "loss", value }], updates: [...updates] };
  const options = { mesh: mesh({ data: 8 }), shard: dataParallel() };
  const { text } = exportStableHlo(program, options);
  const begun = performance.now();
  exportStableHlo(program, options);
  const ms = performance.now() - begun;
  const note = `${(text.length / 2 ** 20).toFixed(1)} MiB of text`;
  const row = { case: "ResNet-50 step", target: "stablehlo", metric: "export", unit: "ms", note };
  return bounded({ ...row, value: ms }, 1500);
}
