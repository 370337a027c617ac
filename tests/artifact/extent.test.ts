/** Extents evaluate with floor division, and sizes are checked where dims get their values. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  dimsOf,
  type Extent,
  evaluateExtent,
  evaluateSize,
} from "../../packages/artifact/src/index.ts";
import { refusal } from "./sample.ts";

test("each operator has its value, division and remainder rounding down", () => {
  const at = (e: Extent) => evaluateExtent(e, { N: -7, M: 2 });
  assert.equal(
    [at(["+", "N", "M"]), at(["*", "N", "M"]), at(["/", "N", "M"]), at(["%", "N", "M"])],
    [-5, -14, -4, 1],
  );
  assert.equal([at(["min", "N", "M"]), at(["max", "N", "M"]), at("M"), at(3)], [-7, 2, 2, 3]);
});

test("a dim without a value is refused, also one that every object has", () => {
  for (const name of ["N", "toString", "__proto__"])
    assert.is(
      refusal(() => evaluateExtent(["+", name, 1], {})),
      `extent: dim ${name} has no value`,
    );
});

test("a size is refused when it is negative, no number or beyond 2^53", () => {
  const message = (e: Extent, N: number) => refusal(() => evaluateSize(e, { N }));
  const what = "not an integer from 0 to 2^53 - 1";
  assert.is(message(["+", "N", -3], 1), `extent: ["+","N",-3] is -2 for {"N":1}, ${what}`);
  assert.is(message(["/", 4, "N"], 0), `extent: ["/",4,"N"] is Infinity for {"N":0}, ${what}`);
  assert.is(
    message(["*", "N", "N"], 2 ** 27),
    `extent: ["*","N","N"] is 18014398509481984 for {"N":134217728}, ${what}`,
  );
  assert.is(evaluateSize(["+", "N", -3], { N: 3 }), 0);
});

test("dimsOf lists each dim once", () => {
  assert.equal([...dimsOf(["+", ["*", "N", 2], ["max", "M", "N"]])], ["N", "M"]);
});

test.run();
