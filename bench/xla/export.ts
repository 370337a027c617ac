/** How long a large step takes to become text, over a mesh. Needs no engine. */
import { dataParallel, exportStableHlo, mesh } from "@kiln-ml/stablehlo";
import { bounded, type Row } from "../row.ts";
import { resnetStep } from "./resnet.ts";

/** Milliseconds of the export alone, the second of two. */
export function exportRow(): Row {
  const program = resnetStep(32, 224);
  const options = { mesh: mesh({ data: 8 }), shard: dataParallel() };
  const { text } = exportStableHlo(program, options);
  const begun = performance.now();
  exportStableHlo(program, options);
  const ms = performance.now() - begun;
  const note = `${(text.length / 2 ** 20).toFixed(1)} MiB of text`;
  const row = { case: "ResNet-50 step", target: "stablehlo", metric: "export", unit: "ms", note };
  return bounded({ ...row, value: ms }, 1500);
}
