/**
 * Every elementwise record as JavaScript: with rounding at each op the text gives the bits the record gives.
 */
import type { Dtype } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { emitJs } from "../../compiler/src/targets/js/emit.ts";
import { casesOf, kernelOf, operandsOf, size, wantedOf } from "./records.ts";
import { arrayOf, runJs } from "./run-js.ts";

const dtypes: Dtype[] = ["f64", "f32", "i32", "u32", "i8", "u8", "bool"];

for (const c of casesOf(dtypes))
  test(`js: ${c.name} has the bits of its record`, () => {
    const operands = operandsOf(c, true);
    const out = arrayOf(c.result, new Array<number>(size).fill(0));
    const text = emitJs(kernelOf(c), { rounding: "each-op" });
    runJs(text, [...operands.map((x, k) => arrayOf(c.dtypes[k]!, x)), out], []);
    const wanted = wantedOf(c, operands);
    for (let i = 0; i < size; i++)
      if (!Object.is(out[i], wanted[i]))
        assert.unreachable(
          `${operands.map((x) => x[i]).join(", ")} gives ${out[i]}, not ${wanted[i]}\n${text.text}`,
        );
  });

test.run();
