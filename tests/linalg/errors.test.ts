/** What linear algebra refuses, word for word. */
import { input, linalg } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

test("what is no system is refused in one line with the remedy", () => {
  const refuses = (call: () => unknown, text: string) =>
    assert.throws(call, (e: Error) => e.message === text);
  const [a, b] = [input("a", "f32", [2, 3]), input("b", "f32", [3, 3])];
  refuses(() => linalg.inv(a), "inv: x is [2,3], not square matrices");
  refuses(
    () => linalg.solve(b, input("c", "f32", [2, 1])),
    "solve: a is [3,3], b [2,1] has not as many rows\n  give b[..., n, m], or b[..., n] for one right side",
  );
  refuses(
    () => linalg.det(input("i", "i32", [2, 2])),
    'det: x is i32, not a float\n  convert it first: x.convert("f32")',
  );
  refuses(
    () => linalg.lu(input("v", "f32", [2])),
    "lu: x is [2], not matrices\n  give two axes at least: the last two are rows and columns",
  );
});

test("symbolic matrices are refused where sweeps count them", () => {
  const x = input("x", "f32", ["N", "N"]);
  for (const [name, call] of [
    ["eigh", () => linalg.eigh(x)],
    ["svd", () => linalg.svd(x)],
    ["pinv", () => linalg.pinv(x)],
  ] as const)
    assert.throws(
      call,
      (e: Error) =>
        e.message ===
        `${name}: the matrices have the symbolic extent N\n  give a number: the batch may be a symbol, the matrices may not`,
    );
});

test.run();
