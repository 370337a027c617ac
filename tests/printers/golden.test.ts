/**
 * The text of some kernels, kept to be read: tests/golden/printers. `UPDATE_GOLDEN=1` writes them anew.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { KernelText } from "@kiln-ml/artifact";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { emitJs } from "../../compiler/src/targets/js/emit.ts";
import { emitWasm } from "../../compiler/src/targets/wasm/emit.ts";
import { emitWgsl } from "../../compiler/src/targets/wgsl/emit.ts";
import {
  argMaxAny,
  gatherRows,
  mapPad,
  matmulVector,
  softmax,
  sumMaxLanes,
  transposeTile,
} from "./kernels.ts";

const folder = "tests/golden/printers";

function check(file: string, { text }: KernelText): void {
  const whole = `${text.trimEnd()}\n`;
  const path = `${folder}/${file}`;
  if (process.env.UPDATE_GOLDEN) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, whole);
  }
  assert.fixture(whole, readFileSync(path, "utf8"));
}

const serial = [mapPad(), softmax(), matmulVector(), transposeTile(), gatherRows(), argMaxAny()];
for (const kernel of serial)
  test(`js: ${kernel.name} reads as it is kept`, () => {
    check(`${kernel.name}.js`, emitJs(kernel, { rounding: "on-store" }));
  });

for (const kernel of [mapPad(), softmax(), matmulVector(), gatherRows()])
  test(`wasm: ${kernel.name} reads as it is kept`, () => {
    check(`${kernel.name}.wat`, emitWasm(kernel));
  });

const parallel = [
  mapPad("workgroup", "local", 32),
  softmax(64),
  matmulVector(16),
  transposeTile(),
  gatherRows(64),
  sumMaxLanes(32),
];
for (const kernel of parallel)
  test(`wgsl: ${kernel.name} reads as it is kept`, () => {
    check(`${kernel.name}.wgsl`, emitWgsl(kernel));
  });

test.run();
