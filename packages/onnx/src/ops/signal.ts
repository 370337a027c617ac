/**
 * Ops of signal processing: DFT, STFT, windows, MelWeightMatrix. Lengths must be numbers, so that their tables can be made during import.
 */
import {
  checkAxis,
  convert,
  fft,
  isStatic,
  reshape,
  type Tensor,
  tensor,
  transpose,
  windows,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { dtypeOf } from "../element.ts";
import { type Row, row } from "../row.ts";
import { typed } from "../value.ts";
import { elementTypeAt } from "./generate.ts";

/** The axis: an attribute before opset 20, an input since. */
function axisOf(n: NodeContext, rank: number): number {
  const given = n.opset < 20 ? n.int("axis", 1) : n.has(2) ? n.number(2) : -2;
  return checkAxis("dft", given, rank);
}

function dft(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const axis = axisOf(n, x.rank);
  const [inverse, onesided] = [n.flag("inverse"), n.flag("onesided")];
  const extent = x.shape[axis]!;
  const whole = () => (isStatic(extent) ? extent : n.fail("the length of the line is symbolic"));
  const length = n.has(1) ? n.number(1) : inverse && onesided ? 2 * (whole() - 1) : whole();
  const order = x.shape.map((_, i) => i).filter((i) => i !== axis);
  order.splice(x.rank - 2, 0, axis);
  const y = fft.fourier(transpose(x, order), length, { inverse, onesided });
  return transpose(
    y,
    order.map((_, i) => order.indexOf(i)),
  );
}

/** Spectra of overlapping frames: signal[B, L, 1 or 2] → [B, frames, bins, 2]. */
function stft(n: NodeContext): Tensor {
  const given = n.tensor(0);
  const x = given.rank === 2 ? reshape(given, [...given.shape, 1]) : given;
  const step = n.number(1);
  const shape = n.maybe(2);
  const length = n.has(3) ? n.number(3) : shape?.shape[0];
  if (length === undefined || !isStatic(length))
    return n.fail("the length of a frame is not known");
  // [B, parts, frames, length], and the parts last.
  const frames = windows(transpose(x, [0, 2, 1]), { size: length, stride: step });
  const framed = transpose(shape ? frames.mul(shape) : frames, [0, 2, 3, 1]);
  const real = x.shape[2] === 1;
  return fft.fourier(framed, length, {
    inverse: false,
    onesided: real && n.flag("onesided", true),
  });
}

/** a₀ − a₁·cos(2πi/N) + a₂·cos(4πi/N). */
const windowRow = (op: string, a: readonly [number, number, number]): Row =>
  row(op, (n): Result => {
    const size = n.number(0);
    const type = elementTypeAt(n, n.int("output_datatype", 1));
    const period = n.flag("periodic", true) ? size : size - 1;
    const values = Float64Array.from({ length: size }, (_, i) => {
      const angle = (2 * Math.PI * i) / Math.max(1, period);
      return a[0] - a[1] * Math.cos(angle) + a[2] * Math.cos(2 * angle);
    });
    return typed(convert(tensor(values, { dtype: "f32" }), dtypeOf(type)), type);
  });

const toMel = (hertz: number): number => 2595 * Math.log10(1 + hertz / 700);
const toHertz = (mel: number): number => 700 * (10 ** (mel / 2595) - 1);

/** Triangles over the bins of a spectrum, at equal distances in mel: [bins, mels]. */
function melWeights(n: NodeContext): Result {
  const [mels, length, rate, low, high] = [0, 1, 2, 3, 4].map((i) => n.number(i)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const bins = Math.floor(length / 2) + 1;
  const step = (toMel(high) - toMel(low)) / (mels + 2);
  const edges = Array.from({ length: mels + 2 }, (_, i) =>
    Math.floor(((length + 1) * toHertz(toMel(low) + i * step)) / rate),
  );
  const weights = new Float32Array(bins * mels);
  for (let m = 0; m < mels; m++) {
    const [from, peak, to] = [edges[m]!, edges[m + 1]!, edges[m + 2]!];
    if (peak === from) weights[peak * mels + m] = 1;
    else for (let j = from; j <= peak; j++) weights[j * mels + m] = (j - from) / (peak - from);
    for (let j = peak; j < to; j++) weights[j * mels + m] = (to - j) / (to - peak);
  }
  const type = elementTypeAt(n, n.int("output_datatype", 1));
  return typed(convert(tensor(weights, { shape: [bins, mels] }), dtypeOf(type)), type);
}

export const signalRows: readonly Row[] = [
  row("DFT", dft),
  row("STFT", stft),
  windowRow("HannWindow", [0.5, 0.5, 0]),
  windowRow("HammingWindow", [25 / 46, 21 / 46, 0]),
  windowRow("BlackmanWindow", [0.42, 0.5, 0.08]),
  row("MelWeightMatrix", melWeights),
];
