/**
 * Kernels on complex numbers, whose parts are values of their own: a kernel that moves or adds
 * elements is its row on each part, others have rows of all parts here. What neither covers runs on
 * the cpu backend.
 */
import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from "@tensorflow/tfjs-core";
import type { Tensor } from "kiln-ml/ir";
import * as ir from "kiln-ml/ir";
import type { KilnBackend } from "./backend.ts";
import type { KernelResult } from "./fallback.ts";
import type { Row, Rows } from "./row.ts";

/**
 * Records a call of a row on tensors that are not complex; undefined where the row has no form for
 * it.
 */
export type Record = (
  name: string,
  row: Row,
  inputs: NamedTensorInfoMap,
  attrs: NamedAttrMap,
) => KernelResult | undefined;

/** Rows that serve each part by itself. */
const partwise = new Set([
  ...["Add", "AddN", "Sub", "Neg", "Sum", "ZerosLike"],
  ...["Concat", "Pack", "Unpack", "SplitV", "Slice", "StridedSlice", "ExpandDims", "BroadcastTo"],
  ...["Transpose", "Tile", "Reverse", "PadV2", "GatherV2"],
]);

interface Pair {
  readonly re: Tensor;
  readonly im: Tensor;
}

/** The operand of a name, whose imaginary part has a name of its own. */
const pairOf = (operands: Readonly<{ [name: string]: Tensor }>, name: string): Pair => {
  const re = operands[name]!;
  return { re, im: operands[`${name}.imag`] ?? ir.zerosLike(re) };
};

const fourier =
  (transform: (z: Tensor) => Tensor): Row =>
  (operands) => {
    const { re, im } = pairOf(operands, "input");
    const z = transform(ir.fft.complex(re, im));
    return [ir.fft.real(z), ir.fft.imag(z)];
  };

/** Rows of all parts; of two results the second is the imaginary one. */
const whole: Rows = {
  ComplexAbs: (operands) => {
    const { re, im } = pairOf(operands, "x");
    return ir.hypot(re, im);
  },
  Multiply: (operands) => {
    const [a, b] = [pairOf(operands, "a"), pairOf(operands, "b")];
    const re = ir.sub(ir.mul(a.re, b.re), ir.mul(a.im, b.im));
    return [re, ir.add(ir.mul(a.re, b.im), ir.mul(a.im, b.re))];
  },
  FFT: fourier((z) => ir.fft.fft(z)),
  IFFT: fourier((z) => ir.fft.ifft(z)),
};

/** The kernels that exist for complex numbers alone. */
export const complexKernels: readonly string[] = Object.keys(whole);

/** Whether any input is complex. */
export function hasComplex(inputs: NamedTensorInfoMap): boolean {
  for (const name in inputs) if (inputs[name]?.dtype === "complex64") return true;
  return false;
}

/** The inputs with one part of each that is complex, under the shape of the whole. */
function partsOf(
  inputs: NamedTensorInfoMap,
  part: "real" | "imag",
  backend: KilnBackend,
): NamedTensorInfoMap {
  const found: NamedTensorInfoMap = {};
  for (const name in inputs) {
    const info = inputs[name];
    const complex = info?.dtype === "complex64";
    found[name] = complex ? { ...backend.partsOf(info)[part], shape: info.shape } : info;
  }
  return found;
}

const joined = (real: TensorInfo, imag: TensorInfo, backend: KilnBackend): TensorInfo =>
  backend.complexOf(real, imag);

/** The call of a kernel on complex numbers; undefined where nothing here covers it. */
export function recordComplex(
  name: string,
  row: Row | undefined,
  inputs: NamedTensorInfoMap,
  attrs: NamedAttrMap,
  backend: KilnBackend,
  record: Record,
): KernelResult | undefined {
  const real = partsOf(inputs, "real", backend);
  const imag = partsOf(inputs, "imag", backend);
  const own = whole[name];
  if (own) {
    const all: NamedTensorInfoMap = {};
    for (const key in inputs) {
      all[key] = real[key];
      if (inputs[key]?.dtype === "complex64") all[`${key}.imag`] = imag[key];
    }
    const made = record(`complex ${name}`, own, all, attrs);
    return Array.isArray(made) ? joined(made[0]!, made[1]!, backend) : made;
  }
  if (!row || !partwise.has(name)) return undefined;
  // One that is real has no imaginary part to add.
  const mixed = Object.values(inputs).some((info) => info?.dtype === "float32");
  if (mixed) return undefined;
  const [re, im] = [record(name, row, real, attrs), record(name, row, imag, attrs)];
  if (!re || !im) return undefined;
  if (!Array.isArray(re)) return joined(re, im as TensorInfo, backend);
  return re.map((part, i) => joined(part, (im as TensorInfo[])[i]!, backend));
}
