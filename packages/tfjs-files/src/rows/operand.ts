/** Operands as ops of the IR want them, and lists of numbers that are inputs. */
import {
  addDim,
  type Dim,
  type Dtype,
  dimValue,
  isStatic,
  printDim,
  stack,
  type Tensor,
  zeros,
} from "@kiln-ml/ir";
import type { NodeContext } from "@kiln-ml/onnx";

export const asFloat = (x: Tensor): Tensor => (x.dtype === "f32" ? x : x.convert("f32"));
export const asBool = (x: Tensor): Tensor => (x.dtype === "bool" ? x : x.convert("bool"));
export const asIndex = (x: Tensor): Tensor => (x.dtype === "i32" ? x : x.convert("i32"));

/** 0, 1, … n − 1. */
export const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** `axis` counted from the front. Throws GraphError where there is no such axis. */
export function axisOf(n: NodeContext, axis: number, rank: number): number {
  const at = axis < 0 ? axis + rank : axis;
  return Number.isInteger(at) && at >= 0 && at < Math.max(rank, 1)
    ? at
    : n.fail(`axis ${axis} is not one of the ${rank} axes`);
}

/** The axes of input `i`, which is one number or a list. */
export const axesOf = (n: NodeContext, i: number, rank: number): number[] => [
  ...new Set(n.numbers(i).map((a) => axisOf(n, a, rank))),
];

/** Extents as a tensor of rank 1, which may be empty. */
export const extents = (shape: readonly Dim[]): Tensor =>
  shape.length ? stack(shape.map((d) => dimValue(d))) : zeros([0], "i32");

/** Input `i`, a list of pairs, as what comes before and after each axis. */
export function pairsOf(n: NodeContext, i: number): [low: Dim, high: Dim][] {
  const all = n.dims(i);
  if (all.length % 2) n.fail(`input ${i} has ${all.length} numbers, not pairs`);
  return range(all.length / 2).map((k) => [all[2 * k]!, all[2 * k + 1]!]);
}

/** The dtype that a type attribute names; floats where there is none. */
export function dtypeAt(n: NodeContext, name: string, fallback: Dtype = "f32"): Dtype {
  const a = n.attribute(name);
  if (!a) return fallback;
  const type = a.kind === "type" ? a.value : undefined;
  if (type?.kind === "tensor" && type.type === "float32") return "f32";
  if (type?.kind === "tensor" && type.type === "int32") return "i32";
  if (type?.kind === "tensor" && type.type === "bool") return "bool";
  const what = type?.kind === "other" ? type.what : type?.kind === "tensor" ? type.type : a.kind;
  return n.fail(`attribute ${name} is ${what}, whose elements cannot be held`);
}

const formats: ReadonlyMap<string, boolean> = new Map([
  ["NHWC", false],
  ["NDHWC", false],
  ["NCHW", true],
  ["NCDHW", true],
]);

/** Whether channels are second. Throws GraphError for another order of axes. */
export function isFirst(n: NodeContext): boolean {
  const format = n.string("data_format", "NHWC");
  return (
    formats.get(format) ?? n.fail(`data_format is ${format}, not ${[...formats.keys()].join(", ")}`)
  );
}

/** An extent as a number. */
export const fixed = (n: NodeContext, d: Dim, what: string): number =>
  isStatic(d) ? d : n.fail(`${what} must be a number, it is ${printDim(d)}`);

export const sumOf = (dims: readonly Dim[]): Dim => dims.reduce<Dim>(addDim, 0);
