/**
 * GridSample, which reads an image at given positions, and AffineGrid, which makes such positions.
 */
import { affineGrid, type GridSampleOptions, gridSample } from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";

const modes: Record<string, GridSampleOptions["mode"]> = {
  linear: "linear",
  bilinear: "linear",
  nearest: "nearest",
  cubic: "cubic",
  bicubic: "cubic",
};
const paddings: Record<string, GridSampleOptions["padding"]> = {
  zeros: "zeros",
  border: "border",
  reflection: "reflection",
};

function sampled(n: NodeContext) {
  const [mode, padding] = [n.string("mode", "linear"), n.string("padding_mode", "zeros")];
  return gridSample(n.tensor(0), n.tensor(1), {
    mode: modes[mode] ?? n.fail(`mode ${mode} is not linear, nearest or cubic`),
    padding: paddings[padding] ?? n.fail(`padding_mode ${padding} is not known`),
    alignCorners: n.flag("align_corners"),
  });
}

export const gridRows: readonly Row[] = [
  row("GridSample", sampled),
  row("AffineGrid", (n) =>
    affineGrid(n.tensor(0), n.dims(1), { alignCorners: n.flag("align_corners") }),
  ),
];
