/** Programs beyond what kernels can count: refused when they are compiled, and not run with indices that wrap. */
import { input, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";

function message(x: Tensor, value: Tensor, target: "js" | "webgpu"): string {
  try {
    compileProgram({ inputs: [x], outputs: [{ name: "y", value }], updates: [] }, { target });
  } catch (error) {
    const place = /\(.*limits\.test\S*:\d+:\d+\)/;
    return `${(error as Error).name}: ${(error as Error).message.replace(place, "(here)")}`;
  }
  return "nothing was thrown";
}

for (const target of ["js", "webgpu"] as const)
  test(`${target}: a tensor that i32 cannot count is refused, with the line that made it`, () => {
    const row = input("x", "f32", [70000]);
    assert.is(
      message(row, row.reshape([70000, 1]).add(row), target),
      "ShapeError: compile: add [70000,70000] has 4900000000 elements, a tensor may have 2147483647 (here)",
    );
    const whole = input("x", "f32", [2147483647]);
    assert.is(message(whole, whole.exp(), target), "nothing was thrown");
  });

test.run();
