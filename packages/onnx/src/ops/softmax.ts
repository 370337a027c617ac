/**
 * The softmax family and running sums. Before opset 13 softmax is over all axes from `axis` on, flattened into one.
 */
import {
  argMax,
  convert,
  cumprod,
  cumsum,
  iota,
  logSoftmax,
  reshape,
  sizeOf,
  softmax,
  type Tensor,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { axisOf, inWide } from "./operands.ts";

type Along = (x: Tensor, axis: number) => Tensor;

/** 1 at the first of the largest, 0 elsewhere. */
const hardmax: Along = (x, axis) =>
  convert(
    iota(x.shape, axis).equal(argMax(x, axis, { keepDims: true, empty: "identity" })),
    x.dtype,
  );

const along = (op: string, f: Along): Row =>
  row(op, (n) => {
    const x = n.tensor(0);
    if (n.opset >= 13) {
      const axis = axisOf(n, n.int("axis", -1), x.rank);
      return inWide(x, (wide) => f(wide, axis));
    }
    // An axis as large as the rank leaves one element a row.
    const given = n.int("axis", 1);
    const axis = given === x.rank ? given : axisOf(n, given, x.rank);
    if (axis === x.rank - 1) return inWide(x, (wide) => f(wide, axis));
    const flat = reshape(x, [...x.shape.slice(0, axis), sizeOf(x.shape.slice(axis))]);
    return reshape(
      inWide(flat, (wide) => f(wide, axis)),
      x.shape,
    );
  });

const running =
  (f: typeof cumsum) =>
  (n: NodeContext): Tensor => {
    const x = n.tensor(0);
    const axis = axisOf(n, n.number(1), x.rank);
    return f(x, axis, { exclusive: n.flag("exclusive"), reverse: n.flag("reverse") });
  };

export const softmaxRows: readonly Row[] = [
  along("Softmax", softmax),
  along("LogSoftmax", logSoftmax),
  along("Hardmax", hardmax),
  row("CumSum", running(cumsum)),
  row("CumProd", running(cumprod)),
];
