/**
 * Ops about shapes: they read extents, or move elements without computing on them.
 */
import { concat, type Dim, dimValue, mulDim, reshape, stack } from "@kiln-ml/ir";
import { type Row, row } from "../row.ts";

export const shapeRows: readonly Row[] = [
  row(
    "Shape",
    (n) => {
      const { shape, rank } = n.tensor(0);
      const clamp = (i: number) => Math.max(0, Math.min(rank, i < 0 ? i + rank : i));
      const part = shape.slice(clamp(n.int("start", 0)), clamp(n.int("end", rank)));
      return part.length ? stack(part.map((d) => dimValue(d))) : n.fail("of rank 0 TODO");
    },
    { type: "int64" },
  ),
  row("Size", (n) => dimValue(n.tensor(0).shape.reduce<Dim>(mulDim, 1)), { type: "int64" }),
  row("Concat", (n) => concat(n.tensors(), n.int("axis"))),
  row("Reshape", (n) => {
    const x = n.tensor(0);
    const wanted = n.dims(1).map((d, i) => (d === 0 && !n.flag("allowzero") ? x.shape[i]! : d));
    return reshape(x, wanted);
  }),
];
