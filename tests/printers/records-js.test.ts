/**
 * Every elementwise record as JavaScript: with rounding at each op the text gives the bits the record gives.
 */
import { type Dtype, fromHost, type HostArray } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { emitJs } from "../../compiler/src/targets/js/emit.ts";
import { casesOf, kernelOf, operandsOf, size, wantedOf } from "./records.ts";
import { arrayOf, runJs } from "./run-js.ts";

const dtypes: Dtype[] = ["f64", "f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool"];

for (const c of casesOf(dtypes))
  test(`js: ${c.name} has the bits of its record`, () => {
    const operands = operandsOf(c, true);
    const out = arrayOf(c.result, new Array<number>(size).fill(0)) as HostArray;
    const text = emitJs(kernelOf(c), { rounding: "each-op" });
    runJs(text, [...operands.map((x, k) => arrayOf(c.dtypes[k]!, x)), out], []);
    const wanted = wantedOf(c, operands);
    const got = fromHost(c.result, out);
    for (let i = 0; i < size; i++)
      if (!Object.is(got[i], wanted[i]))
        assert.unreachable(
          `${operands.map((x) => x[i]).join(", ")} gives ${got[i]}, not ${wanted[i]}\n${text.text}`,
        );
  });

test.run();
