/**
 * Every elementwise op on every dtype it takes, on extremes: the text has the record's values, and hands no op an operand of
 * which StableHLO says nothing.
 */
import { dtypes, input, makeNode, makeValue, opRecord, type Tensor, type Value } from "@kiln-ml/ir";
import { test } from "uvu";
import { casesOf, operandsOf, size, wantedOf } from "../printers/records.ts";
import { agree, byText } from "./law.ts";

for (const c of casesOf(dtypes))
  test(`the text of ${c.name} has the record's values on extremes`, () => {
    const inputs = c.dtypes.map((dtype, i) => input(`x${i}`, dtype, [size]));
    const numbers = operandsOf(c, true);
    const value = makeNode({
      op: c.record.name,
      operands: inputs,
      attrs: {},
      dtype: c.result,
      shape: [size],
    });
    const feeds = new Map<Tensor, Value>(
      inputs.map((t, i) => [t, makeValue(t.dtype, [size], numbers[i]!)]),
    );
    const program = { inputs, outputs: [{ name: "y", value }], updates: [] };
    const want = makeValue(c.result, [size], wantedOf(c, numbers));
    agree(byText(program, feeds), [want], () => opRecord(c.record.name).name);
  });

test.run();
