/**
 * Reference values of ops with regions. A region is run by the caller, which knows how; here is only how often, and on
 * what.
 */

import { type NodeOf, opOf } from "../attributes.ts";
import { evaluateDim } from "../dim-evaluate.ts";
import type { Graph, Tensor } from "../node.ts";
import { scanParts } from "../ops/scan.ts";
import { customKernelValue } from "./custom-kernel.ts";
import type { Dims, Value } from "./value.ts";
import { concreteShape } from "./walk.ts";

type Run = (region: Graph, operands: readonly Value[]) => Value[];
type Control = (node: Tensor, operands: readonly Value[], dims: Dims, run: Run) => Value[];

function cond({ regions }: Tensor, [flag, ...captures]: readonly Value[], run: Run): Value[] {
  return run(regions[flag!.data[0] ? 0 : 1]!, captures);
}

function whileLoop(
  { regions, attrs }: NodeOf<"whileLoop">,
  operands: readonly Value[],
  run: Run,
): Value[] {
  const { carries: n, maxTrips: most = Infinity } = attrs;
  const captures = operands.slice(n);
  let carry = operands.slice(0, n);
  for (let i = 0; i < most && run(regions[0]!, [...carry, ...captures])[0]!.data[0]; i++)
    carry = run(regions[1]!, [...carry, ...captures]);
  return [...carry];
}

const sliceAt = ({ dtype, shape, data }: Value, i: number): Value => {
  const size = shape.slice(1).reduce((a, b) => a * b, 1);
  return { dtype, shape: shape.slice(1), data: data.slice(i * size, (i + 1) * size) };
};

function scan(node: NodeOf<"scan">, operands: readonly Value[], dims: Dims, run: Run): Value[] {
  const { init, xs, captures } = scanParts(node.attrs, operands);
  const length = evaluateDim(node.attrs.length, dims);
  const stacked = node.results!.slice(init.length).map(({ dtype, shape }): Value => {
    const concrete = concreteShape(shape, dims);
    const size = concrete.reduce((a, b) => a * b, 1);
    return { dtype, shape: concrete, data: new Float64Array(size) };
  });
  let carry = init;
  for (let t = 0; t < length; t++) {
    const i = node.attrs.reverse ? length - 1 - t : t;
    const step: Value = { dtype: "i32", shape: [], data: Float64Array.of(i) };
    const out = run(node.regions[0]!, [
      step,
      ...carry,
      ...xs.map((x) => sliceAt(x, i)),
      ...captures,
    ]);
    carry = out.slice(0, init.length);
    for (const [k, y] of out.slice(init.length).entries())
      stacked[k]!.data.set(y.data, i * y.data.length);
  }
  return [...carry, ...stacked];
}

/** All results of a node with regions, or with a text, by op. */
export const controls: Readonly<Record<string, Control>> = {
  cond: (node, operands, _dims, run) => cond(node, operands, run),
  whileLoop: (node, operands, _dims, run) => whileLoop(opOf(node, "whileLoop"), operands, run),
  scan: (node, ...rest) => scan(opOf(node, "scan"), ...rest),
  customKernel: (node, operands, dims) => [
    customKernelValue(opOf(node, "customKernel"), operands, dims),
  ],
};
