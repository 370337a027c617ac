/** The training step of ResNet-50 under SGD with momentum: a large text, and large batches. */
import { input, type Tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import * as vision from "@kiln-ml/vision";
import type { Xla } from "@kiln-ml/xla";
import { compile } from "kiln-ml";
import type { Program } from "../../compiler/src/program.ts";
import { bounded, type Row } from "../row.ts";

/**
 * With `calm` blocks are the identity at first (Goyal et al. 2017, 5.1). Otherwise normalisation
 * in fifty layers multiplies what rounds by some thousands: gradients of js and of wasm are 3e-3
 * apart, and no two engines stay together for a second step.
 */
function definition(lr: number, calm = false) {
  nn.seed(1);
  const net = vision.resnet50();
  if (calm) nn.mapParameters(net, (w, path) => (/bn3\.weight$/.test(path) ? w.mul(0) : w));
  const rule = new optim.SGD(net.parameters(), { lr, momentum: 0.9 });
  return (x: Tensor, y: Tensor) => {
    const loss = nn.crossEntropy(net.forward(x), y);
    rule.step(loss);
    return loss;
  };
}

export function resnetStep(images: number, extent: number): Program {
  const x = input("x", "f32", [images, 3, extent, extent]);
  const y = input("labels", "i32", [images]);
  const step = definition(0.01);
  const { value, updates } = trace(() => step(x, y));
  return { inputs: [x, y], outputs: [{ name: "loss", value }], updates: [...updates] };
}

/**
 * Uniform in [-1, 1), independent from pixel to pixel. A sine of the index has one frequency:
 * filters leave some channels next to no variance, and normalisation multiplies their rounding.
 */
function noise(size: number, seed: number): Float32Array {
  let state = seed + 1;
  return Float32Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** How the twenty steps are taken. */
export interface Conditions {
  readonly images: number;
  readonly lr: number;
}

/** Losses of some steps on batches of noise. */
export async function resnetLosses(
  options: object,
  steps: number,
  { images, lr }: Conditions,
): Promise<number[]> {
  const step = compile(definition(lr, true), options);
  const extent = 64;
  const size = images * 3 * extent ** 2;
  const found: number[] = [];
  for (let k = 0; k < steps; k++) {
    const labels = Int32Array.from({ length: images }, (_, i) => (7 * i + k) % 1000);
    const x = { data: noise(size, k), shape: [images, 3, extent, extent] };
    const loss = (await step(x as never, { data: labels, shape: [images] } as never)) as Tensor;
    found.push(await loss.item());
  }
  return found;
}

/** Twenty losses of the engine beside those of Kiln's own wasm, relative. */
export async function resnetRow(engine: Xla, on: string): Promise<Row> {
  const conditions = { images: 32, lr: 1e-3 };
  const there = await resnetLosses({ engine }, 20, conditions);
  engine.close();
  const here = await resnetLosses({ target: "wasm" }, 20, conditions);
  const off = there.map((l, i) => Math.abs(l - here[i]!) / Math.abs(here[i]!));
  const worst = Math.max(...off);
  const text = `${there[0]!.toFixed(4)} → ${there.at(-1)!.toFixed(4)}`;
  console.log(
    `resnet-50 on ${on}: 20 losses ${text}, off wasm's by ${off.map((e) => e.toExponential(0)).join(" ")}`,
  );
  return bounded(
    { case: "resnet-50, 20 steps", target: on, metric: "error", value: worst, unit: "" },
    1e-4,
  );
}
