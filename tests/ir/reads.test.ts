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
    [{ size: 2, extent: [3] }],
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
  const ways = rest.flatMap((r) => [
    [p, ...r],
    [other, p, ...r],
    [[p, p], ...r],
  ]);
  // A key and what is drawn by.
  return [...ways, [ir.random.key(0), p], [ir.random.key(0), p, 1], [p, ir.ones([2, 2])]];
}

/** Also in lists and records. */
function tensorsIn(value: unknown): Tensor[] {
  if (value instanceof Tensor) return [value];
  const plain =
    Array.isArray(value) || (value && Object.getPrototypeOf(value) === Object.prototype);
  return plain ? Object.values(value as object).flatMap(tensorsIn) : [];
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

/** Calls `f` in a trace in which `p` was assigned; throws if it reads `p`, and says whether it reads the value. */
function readsValue(what: string, p: Tensor, value: Tensor, f: () => unknown): boolean {
  const { value: made } = trace(() => {
    assign(p, value);
    return tensorsIn(f()).filter((t) => t !== p);
  });
  const reached = new Set(topologicalOrder(made));
  assert.not(reached.has(p), `${what} reads the parameter itself`);
  return reached.has(value);
}

/** Calls `f` in all ways; says whether one read the value. */
function reads(name: string, f: (...args: unknown[]) => unknown): boolean {
  let met = false;
  for (const [dtype, shape] of types) {
    const size = shape.reduce((a, b) => a * b, 1);
    const fresh = () => tensor(new Array(size).fill(1), { dtype, shape });
    const p = param(fresh(), { trainable: false });
    const [value, other] = [fresh(), fresh()];
    for (const way of waysOf(p, other)) {
      const call = () => {
        try {
          return f(...way);
        } catch {
          return [];
        }
      };
      if (readsValue(`${name} of ${dtype}[${shape}]`, p, value, call)) met = true;
    }
  }
  return met;
}

const met = new Set<string>();
for (const [name, f] of functions)
  test(`${name} reads what was assigned`, () => {
    if (reads(name, f)) met.add(name);
  });

/** They read a shape and no values; `at` only names places, and the method `trace` is the function `traceOf`. */
const ofShapes = new Set(["fullLike", "onesLike", "zerosLike", "at", "trace"]);

test("every function that is a method or draws numbers was called in a way that it takes", () => {
  const all = functions.map(([name]) => name);
  const due = all.filter((name) => name in Tensor.prototype || name.startsWith("random."));
  assert.ok(due.length > 120, `${due.length}`);
  assert.equal(
    due.filter((name) => !met.has(name) && !ofShapes.has(name)),
    [],
  );
});

const one = tensor([1, 1]);
const rows = tensor([[1, 1]]);
const control: Readonly<Record<string, (p: Tensor) => unknown>> = {
  "a carry of scan": (p) => ir.scan([p], [rows], ([c], [x]) => ({ carry: [c!.add(x!)], ys: [] })),
  "a sequence of scan": (p) =>
    ir.scan([p.sum()], [p], ([c], [x]) => ({ carry: [c!.add(x!)], ys: [] })),
  "a body of scan": (p) => ir.scan([one], [rows], () => ({ carry: [p], ys: [p.neg()] })),
  "a branch": (p) =>
    ir.cond(
      one.sum().less(1),
      () => [one],
      () => [p],
    ),
  "a carry of whileLoop": (p) =>
    ir.whileLoop(
      [p],
      (c) => c.sum().less(9),
      (c) => [c.add(1)],
    ),
  "a test": (p) =>
    ir.whileLoop(
      [one],
      (c) => c.less(p).all(),
      (c) => [c.add(1)],
    ),
  "a body of whileLoop": (p) =>
    ir.whileLoop(
      [one],
      (c) => c.sum().less(9),
      (c) => [c.add(p)],
    ),
};

for (const [what, f] of Object.entries(control))
  test(`${what} reads what was assigned`, () => {
    const [p, value] = [param(tensor([1, 1])), tensor([1, 1])];
    assert.ok(readsValue(what, p, value, () => f(p)));
  });

test("a predicate reads what was assigned", () => {
  const flag = () => tensor([1], { dtype: "bool", shape: [] });
  const [p, value] = [param(flag(), { trainable: false }), flag()];
  const f = () =>
    ir.cond(
      p,
      () => [one],
      () => [one.neg()],
    );
  assert.ok(readsValue("cond", p, value, f));
});

test.run();
