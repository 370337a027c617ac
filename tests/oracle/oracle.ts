/**
 * A second opinion on what a program means: plain scalar code for every op, written from docs/ops.md, docs/architecture.md, StableHLO,
 * ONNX and IEEE 754. It shares nothing with the compiler's reference evaluator and takes from the IR only the shape of nodes: op, operands,
 * attributes, regions, dtype. Static shapes only.
 */
import type { Graph, Tensor, Value } from "@kiln-ml/ir";
import { element, elementwiseOps } from "./elementwise.ts";
import { type Array_, converted, fitted, isReal, type Num } from "./number.ts";
import { everywhere, places } from "./places.ts";
import { combines } from "./sums.ts";
import { threefry } from "./threefry.ts";

/** The oracle's form of a value of the reference, and back. */
export const fromValue = ({ dtype, shape, data }: Value): Array_ => ({
  dtype,
  shape,
  data: Array.from(data, (x) => (isReal(dtype) ? x : BigInt(x))),
});

const extents = (t: Tensor): number[] => t.shape.map(Number);

/** All ops that the oracle knows. */
export const knownOps: readonly string[] = [
  ...elementwiseOps,
  ...Object.keys(places),
  ...Object.keys(combines),
  ..."constant iota randomBits call cond whileLoop scan result".split(" "),
];

/** The results of one node: several of those with regions, else one. */
export function resultsOf(node: Tensor, x: readonly Array_[]): Array_[] {
  const control = controls[node.op];
  if (control) return control(node, x);
  const shape = extents(node);
  return [
    { dtype: node.dtype, shape, data: elements(node, x, shape).map((v) => fitted(node.dtype, v)) },
  ];
}

function elements(node: Tensor, x: readonly Array_[], shape: readonly number[]): readonly Num[] {
  const { op, attrs, dtype } = node;
  if (op === "constant") return [converted(dtype, attrs.value as number)];
  if (op === "iota")
    return everywhere(shape).map((at) => converted(dtype, BigInt(at[Number(attrs.axis)]!)));
  if (op === "randomBits") {
    const [a, b] = x[0]!.data as readonly bigint[];
    return everywhere(shape).map((_, i) => threefry([a!, b!], [BigInt(i), 0n])[0]);
  }
  const place = places[op];
  if (place) return everywhere(shape).map((at) => place(at, x, attrs, shape));
  const combine = combines[op];
  if (combine) return combine(x, attrs, dtype, shape);
  if (!elementwiseOps.includes(op)) throw new Error(`oracle: ${op} is not known`);
  const from = x[op === "select" ? 1 : 0]!.dtype;
  return x[0]!.data.map((_, i) =>
    element(
      op,
      from,
      dtype,
      x.map((v) => v.data[i]!),
    ),
  );
}

/** The results of a region for values of its parameters. */
function runRegion(region: Graph, given: readonly Array_[]): Array_[] {
  const done = new Map<Tensor, Array_[]>(region.params.map((p, i) => [p, [given[i]!]]));
  const resultOf = (t: Tensor): Array_[] => {
    const known = done.get(t);
    if (known) return known;
    const operands = t.operands.map((o) => resultOf(o));
    const own =
      t.op === "result"
        ? [operands[0]![Number(t.attrs.index)]!]
        : resultsOf(
            t,
            operands.map((o) => o[0]!),
          );
    done.set(t, own);
    return own;
  };
  return region.results.map((t) => resultOf(t)[0]!);
}

const holds = (x: Array_ | undefined): boolean => x!.data[0] === 1n;

const controls: Readonly<Record<string, (node: Tensor, x: readonly Array_[]) => Array_[]>> = {
  call: ({ regions }, x) => runRegion(regions[0]!, x),
  cond: ({ regions }, [flag, ...x]) => runRegion(regions[holds(flag) ? 0 : 1]!, x),
  whileLoop: ({ regions, attrs }, x) => {
    const n = Number(attrs.carries);
    let carry = x.slice(0, n);
    let trips = Number(attrs.maxTrips ?? Infinity);
    const around = x.slice(n);
    for (; trips > 0 && holds(runRegion(regions[0]!, [...carry, ...around])[0]); trips--)
      carry = runRegion(regions[1]!, [...carry, ...around]);
    return carry;
  },
  scan: ({ regions, attrs }, x) => {
    const [n, m, length] = [Number(attrs.carries), Number(attrs.xs), Number(attrs.length)];
    const [xs, around] = [x.slice(n, n + m), x.slice(n + m)];
    let carry = x.slice(0, n);
    const order = Array.from({ length }, (_, i) => (attrs.reverse ? length - 1 - i : i));
    const rows: Array_[][] = [];
    for (const i of order) {
      const step: Array_ = { dtype: "i32", shape: [], data: [BigInt(i)] };
      const out = runRegion(regions[0]!, [
        step,
        ...carry,
        ...xs.map((v) => rowOf(v, i)),
        ...around,
      ]);
      carry = out.slice(0, n);
      rows[i] = out.slice(n);
    }
    const types = regions[0]!.results.slice(n);
    const stacked = types.map((t, k): Array_ => {
      return {
        dtype: t.dtype,
        shape: [length, ...extents(t)],
        data: rows.flatMap((r) => r[k]!.data),
      };
    });
    return [...carry, ...stacked];
  },
};

function rowOf({ dtype, shape, data }: Array_, i: number): Array_ {
  const size = shape.slice(1).reduce((a, b) => a * b, 1);
  return { dtype, shape: shape.slice(1), data: data.slice(i * size, (i + 1) * size) };
}
