/**
 * A parameter that was assigned is read as the assigned value by every function there is: each is called in all ways that it takes,
 * and its graph must hold the new value and not the parameter.
 */
import * as ir from "@kiln-ml/ir";
import { assign, type Dtype, param, Tensor, tensor, topologicalOrder, trace } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

/** Those that speak of a parameter itself, run what is finished, or change what the package knows. */
const others = new Set(
  "defineOp unary binary setSiteDepth param assign hostDataOf initialValueOf isMovement printTensor evaluate currentValue withRegions inPlaceOf withOperands topologicalOrder makeNode makeUnique replaceNodes inlineCalls resultsOf".split(
    " ",
  ),
);

const functions: [string, (...args: unknown[]) => unknown][] = [
  ...Object.entries(ir),
  ...Object.entries(ir.random).map(([name, f]) => [`random.${name}`, f] as const),
].filter((entry): entry is [string, (...args: unknown[]) => unknown] => {
  const [name, f] = entry;
  return typeof f === "function" && !others.has(name) && !/^[A-Z]/.test(name);
});

/** Arguments after which the parameter may be asked for. */
function waysOf(p: Tensor, other: Tensor): unknown[][] {
  const rest: unknown[][] = [
    [],
    [0],
    [1],
    [-1],
    [[0]],
    [[1, 0]],
    [[2, 2]],
    [[2]],
    ["f32"],
    [
      [2, 2],
      [0, 1],
    ],
    [
      [0, 0],
      [1, 1],
    ],
    [{ size: 1 }],
    [{ size: 1, shape: [2] }],
    [{ lhsContract: [0], rhsContract: [0] }],
    [other],
    [other, other],
    [[tensor([0], { dtype: "i32" })], [0]],
    [2],
    [0, 0, 1],
    [0, 0, 0],
    [1, [2]],
    [0.5, [2]],
    [[2], 0, 5],
  ];
  return rest.flatMap((r) => [
    [p, ...r],
    [other, p, ...r],
    [[p, p], ...r],
  ]);
}

const types: [Dtype, readonly number[]][] = [
  ["f32", [2, 2]],
  ["f32", [2]],
  ["f32", [1, 1, 2, 2]],
  ["i32", [2, 2]],
  ["i32", [2]],
  ["bool", [2, 2]],
  ["u32", [2]],
  ["u32", []],
];

/** Calls `f` in all ways; throws if one reads the parameter, and says whether one read the value. */
function reads(name: string, f: (...args: unknown[]) => unknown): boolean {
  let met = false;
  for (const [dtype, shape] of types) {
    const size = shape.reduce((a, b) => a * b, 1);
    const fresh = () => tensor(new Array(size).fill(1), { dtype, shape });
    const p = param(fresh(), { trainable: false });
    const [value, other] = [fresh(), fresh()];
    for (const way of waysOf(p, other)) {
      const made = trace(() => {
        assign(p, value);
        try {
          return [f(...way)].flat();
        } catch {
          return [];
        }
      }).value.filter((t): t is Tensor => t instanceof Tensor && t !== p);
      const reached = new Set(topologicalOrder(made));
      met ||= reached.has(value);
      assert.not(reached.has(p), `${name} of ${dtype}[${shape}] reads the parameter itself`);
    }
  }
  return met;
}

let met = 0;
for (const [name, f] of functions)
  test(`${name} reads what was assigned`, () => {
    met += Number(reads(name, f));
  });

test("most functions were called in a way that they take", () => {
  assert.ok(met > 120, `${met} of ${functions.length}`);
});

test.run();
