/** The reference value of a kernel of the user: its JavaScript, run on arrays of the operands' dtypes. */
import type { NodeOf } from "../attributes.ts";
import { GraphError } from "../errors.ts";
import { allocateHost, toHost } from "../host.ts";
import type { Dims, Value } from "./value.ts";
import { concreteShape } from "./walk.ts";

export function customKernelValue(
  node: NodeOf<"customKernel">,
  operands: readonly Value[],
  dims: Dims,
): Value {
  const { name, operands: names, js } = node.attrs;
  if (js === undefined)
    throw new GraphError(
      `evaluate: customKernel ${name} has no js\n  the reference runs that text; give it one`,
    );
  const { dtype } = node;
  const shape = concreteShape(node.shape, dims);
  const y = allocateHost(dtype, sizeOf(shape));
  const given: [string, unknown][] = [
    ["y", y],
    ["y_shape", shape],
    ["y_size", y.length],
  ];
  for (const [i, x] of operands.entries()) {
    const called = names.split(",")[i]!;
    given.push([called, toHost(x.dtype, x.data)], [`${called}_shape`, x.shape]);
    given.push([`${called}_size`, x.data.length]);
  }
  new Function(...given.map(([n]) => n), `"use strict";\n${js}`)(...given.map(([, v]) => v));
  return { dtype, shape, data: Float64Array.from(y) };
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
