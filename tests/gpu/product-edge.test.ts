/** What a tile brings from beyond an operand's last line, or before the first place of k, reaches no result. */
import { where } from "@kiln-ml/ir";
import { test } from "uvu";
import { gpuTest } from "../support/webgpu.ts";
import { agrees, open, programOf, x } from "./agree.ts";

gpuTest(
  "what is infinite or no number stays in its row or column, whatever lies beside it",
  async () => {
    const device = await open();
    for (const [k, fours] of [
      [17, 0],
      [20, 12],
    ] as const) {
      const [a, b] = [x("a", [2, 9 + fours, k]), x("b", [2, k, 10 + fours])];
      // Infinite where the scale is not positive, and no number where an element is zero.
      const [rows, columns] = [x("rows", [2, 9 + fours, 1]), x("columns", [2, 1, 10 + fours])];
      const y = a.mul(rows.maximum(0).rsqrt()).matmul(b.mul(columns.maximum(0).rsqrt()));
      await agrees(device, `${k}`, programOf([a, b, rows, columns], where(y.isFinite(), y, 77)));
    }
    device.destroy();
  },
);

test.run();
