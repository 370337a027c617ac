/**
 * Where the windows of convolutions and pools stand: the attributes they share (`kernel_shape`, `strides`, `dilations`, `pads`,
 * `auto_pad`) as amounts for each spatial axis.
 */
import {
  addDim,
  ceilDiv,
  type Dim,
  floorDiv,
  maxDim,
  mulDim,
  printShape,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";

export interface Frame {
  readonly size: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  /** Before and after each axis. */
  readonly padding: readonly (readonly [Dim, Dim])[];
}

/** One number an axis, from an attribute. */
export function perAxis(n: NodeContext, name: string, rank: number, fallback = 1): number[] {
  const given = n.hasAttribute(name) ? n.ints(name) : [];
  if (!given.length) return new Array<number>(rank).fill(fallback);
  if (given.length !== rank) n.fail(`${name} has ${given.length} entries for ${rank} axes`);
  return [...given];
}

/** The extents of a kernel: those of the weight, or of the attribute, which must agree where both are numbers. */
export function kernelOf(n: NodeContext, rank: number, weight?: Tensor): number[] {
  const named = n.hasAttribute("kernel_shape") ? perAxis(n, "kernel_shape", rank) : undefined;
  if (!weight) return named ?? n.fail("kernel_shape is missing");
  return weight.shape.slice(2).map((d, i) => {
    const size = named?.[i] ?? d;
    if (typeof size !== "number") return n.fail("the extents of the kernel must be numbers");
    return typeof d !== "number" || size === d
      ? size
      : n.fail(`kernel_shape is [${named}], the kernel is ${printShape(weight.shape.slice(2))}`);
  });
}

/** SAME gives ⌈extent/stride⌉ windows; the odd element of padding goes after (UPPER) or before (LOWER). */
function samePadding(
  extent: Dim,
  size: number,
  stride: number,
  dilation: number,
  lower: boolean,
): readonly [Dim, Dim] {
  const reach = (size - 1) * dilation + 1;
  const span = addDim(mulDim(subDim(ceilDiv(extent, stride), 1), stride), reach);
  const total = maxDim(subDim(span, extent), 0);
  const half = floorDiv(total, 2);
  return lower ? [subDim(total, half), half] : [half, subDim(total, half)];
}

/** The explicit amounts, [low, high] an axis. */
export function explicitPads(n: NodeContext, rank: number): [number, number][] {
  const pads = n.hasAttribute("pads") ? n.ints("pads") : [];
  if (pads.length && pads.length !== 2 * rank)
    n.fail(`pads has ${pads.length} entries for ${rank} axes`);
  return Array.from({ length: rank }, (_, i) => [pads[i] ?? 0, pads[i + rank] ?? 0]);
}

export function frameOf(n: NodeContext, extents: readonly Dim[], size: readonly number[]): Frame {
  const rank = extents.length;
  const stride = perAxis(n, "strides", rank);
  const dilation = perAxis(n, "dilations", rank);
  const rule = n.string("auto_pad", "NOTSET");
  const padding = (): readonly (readonly [Dim, Dim])[] => {
    if (rule === "NOTSET" || rule === "") return explicitPads(n, rank);
    if (rule === "VALID") return extents.map(() => [0, 0] as const);
    if (rule !== "SAME_UPPER" && rule !== "SAME_LOWER") return n.fail(`auto_pad is ${rule}`);
    return extents.map((d, i) =>
      samePadding(d, size[i]!, stride[i]!, dilation[i]!, rule === "SAME_LOWER"),
    );
  };
  return { size, stride, dilation, padding: padding() };
}
