/**
 * What feeding costs: the training step of ResNet-50, whose batch is 19 MB, fed by Kiln and fed by
 * a loop in Python that runs the same text in a process of its own.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { evaluate, initialValueOf, toHost } from "@kiln-ml/ir";
import { dataParallel, exportStableHlo } from "@kiln-ml/stablehlo";
import type { Xla } from "@kiln-ml/xla";
import { type Program, statesOf } from "../../compiler/src/program.ts";
import { commandOf } from "../../packages/xla/src/options.ts";
import { compared, type Row } from "../row.ts";
import { resnetStep } from "./resnet.ts";
import { runScript } from "./script.ts";

interface Sizes {
  readonly images: number;
  readonly extent: number;
  readonly steps: number;
}

const median = (xs: readonly number[]): number => [...xs].sort((a, b) => a - b)[xs.length >> 1]!;

/** Four batches, taken in turn. */
function batches({ images, extent }: Sizes) {
  const x = { shape: [images, 3, extent, extent] };
  const size = images * 3 * extent * extent;
  return Array.from({ length: 4 }, (_, k) => [
    { ...x, data: Float32Array.from({ length: size }, (_, i) => Math.sin(i + k)) },
    { shape: [images], data: Int32Array.from({ length: images }, (_, i) => (i + k) % 10) },
  ]);
}

/** Milliseconds a step through the engine, the loss read after each group of steps. */
async function fed(engine: Xla, program: Program, sizes: Sizes): Promise<number> {
  const device = await engine.open();
  const states = statesOf(program);
  const first = states.map((t) => evaluate([t.op === "param" ? initialValueOf(t) : t])[0]!);
  const arrays = first.map((v) => device.upload(toHost(v.dtype, v.data), v.dtype, v.shape));
  const loaded = device.load(program, states);
  const given = batches(sizes);
  const times: number[] = [];
  for (let group = 0; group < 6; group++) {
    const begun = performance.now();
    let outputs = await loaded.run(given[0]!, arrays);
    for (let k = 1; k < sizes.steps; k++) outputs = await loaded.run(given[k % 4]!, arrays);
    await outputs[0]!.data();
    times.push((performance.now() - begun) / sizes.steps);
  }
  return median(times.slice(1));
}

/** The same by the loop in Python. */
function byLoop(engine: Xla, program: Program, { steps }: Sizes): number {
  const { mesh } = engine.options;
  const { text, args, results } = exportStableHlo(program, { mesh, shard: dataParallel() });
  const placed = (x: (typeof args)[number] | (typeof results)[number]) => ({
    dtype: x.dtype,
    shape: x.shape,
    spec: x.spec!,
  });
  const states = args.flatMap((a, i) => (a.alias === undefined ? [] : [[i, a.alias]]));
  const folder = mkdtempSync(join(tmpdir(), "kiln-loop-"));
  const about = { args: args.map(placed), results: results.map(placed), states };
  try {
    writeFileSync(join(folder, "step.mlir"), text);
    writeFileSync(join(folder, "step.json"), JSON.stringify(about));
    const [sidecar] = commandOf(engine.options).args;
    const asked = [sidecar!, folder, String(mesh.size), String(steps)];
    return (runScript(engine.options, "loop.py", asked) as { ms: number }).ms;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Feeding by Kiln and by Python, which differ by what the process between costs. */
export async function feedRow(engine: Xla, virtual: boolean): Promise<Row> {
  const sizes = virtual
    ? { images: 4, extent: 32, steps: 2 }
    : { images: 32, extent: 224, steps: 20 };
  const program = resnetStep(sizes.images, sizes.extent);
  const ms = await fed(engine, program, sizes);
  engine.close();
  const loop = byLoop(engine, program, sizes);
  const megabytes = (sizes.images * 3 * sizes.extent ** 2 * 4) / 1e6;
  const note = `${megabytes.toFixed(1)} MB a batch`;
  const row = { case: "ResNet-50 step", target: "xla, 1 device", metric: "feeding", note };
  const beside = { peer: "loop in Python", peerValue: loop };
  console.log(`feeding: ${ms.toFixed(2)} ms a step, by a loop in Python ${loop.toFixed(2)}`);
  return compared({ ...row, value: ms, unit: "ms", ...beside }, virtual ? undefined : 1 / 1.02);
}
