/**
 * Vectorisation: of every op record a batch has the values of a loop over its places, whichever operands have one; what it costs; and what
 * is refused.
 */
import {
  assign,
  checkpoint,
  convolution,
  customVjp,
  dim,
  random as draws,
  evaluate,
  GraphError,
  grad,
  input,
  jvp,
  makeValue,
  param,
  replaceNodes,
  ShapeError,
  type Tensor,
  tensor,
  topologicalOrder,
  type Value,
  verifyGraph,
  vmap,
} from "@kiln-ml/ir";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Builder, random } from "../ir-structural/cases.ts";
import { runs } from "../support/setup.ts";
import { everyOp } from "./every-op.ts";

/** What each place of the batch has of a leaf: the same numbers in another order, so that indices stay in their axes. */
function placesOf(b: Builder, { dtype, shape, data }: Value, count: number): Value[] {
  return Array.from({ length: count }, (_, k) => {
    const moved = k === 0 ? [...data] : b.r.shuffle([...data]);
    return makeValue(dtype, shape, moved);
  });
}

function stackValues(values: readonly Value[], { dtype, shape }: Value): Value {
  return makeValue(
    dtype,
    [values.length, ...shape],
    values.flatMap((v) => [...v.data]),
  );
}

/** Throws unless the batch of y, over leaves drawn by the builder, has what each place has alone. */
function checkBatch(b: Builder, y: Tensor, count: number, symbolic: boolean): void {
  const leaves = [...b.inputs.keys()].filter((x) => topologicalOrder([y]).includes(x));
  if (!leaves.length) return;
  const batched = leaves.map(() => b.r.int(0, 1) === 1);
  if (!batched.includes(true)) batched[b.r.int(0, leaves.length - 1)] = true;
  const size = symbolic ? dim("B", { min: 0 }) : count;
  const xs = leaves.map((x, i) => (batched[i] ? input(`b${i}`, x.dtype, [size, ...x.shape]) : x));
  const f = (...args: Tensor[]): Tensor =>
    replaceNodes([y], new Map(leaves.map((x, i) => [x, args[i]!] as const)))[0]!;
  const whole = vmap(f, { inAxes: batched.map((is) => (is ? 0 : null)) })(...xs);
  const own = leaves.map((x) => placesOf(b, b.inputs.get(x)!, count));
  const given = new Map<Tensor, Value>();
  for (const [i, x] of xs.entries())
    given.set(
      x,
      batched[i] ? stackValues(own[i]!, b.inputs.get(leaves[i]!)!) : b.inputs.get(leaves[i]!)!,
    );
  verifyGraph({ params: xs, results: [whole] });
  const dims = { ...b.dims, ...(symbolic ? { B: count } : {}) };
  const got = evaluate([whole], { inputs: given, dims })[0]!;
  const want = Array.from({ length: count }, (_, k) => {
    const one = new Map(
      leaves.map((x, i) => [x, batched[i] ? own[i]![k]! : b.inputs.get(x)!] as const),
    );
    return evaluate([y], { inputs: one, dims: b.dims })[0]!;
  });
  assert.is(got.dtype, y.dtype);
  if (count) assert.equal([...got.shape], [count, ...want[0]!.shape]);
  const flat = want.flatMap((v) => [...v.data]);
  for (const [i, w] of flat.entries()) {
    const g = got.data[i]!;
    const near = Object.is(g, w) || Math.abs(g - w) <= 1e-12 * Math.max(1, Math.abs(w));
    assert.ok(near, `element ${i} is ${g}, a loop gives ${w}`);
  }
}

for (const [op, make] of Object.entries(everyOp))
  for (const symbolic of [false, true])
    test(`vmap of ${op} agrees with a loop${symbolic ? ", symbolic" : ""}`, () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => {
          const b = new Builder(random(seed), symbolic);
          checkBatch(b, make(b), b.r.int(symbolic ? 0 : 1, 3), symbolic);
        }),
        { numRuns: runs(12), includeErrorInReport: true },
      );
    });

const count = (roots: readonly Tensor[], op: string): number =>
  topologicalOrder(roots).filter((t) => t.op === op).length;

test("vmap of a product with a vector is one product with a matrix, and moves nothing", () => {
  const [w, v] = [input("w", "f32", [4, 3]), input("v", "f32", ["N", 3])];
  for (const f of [(x: Tensor) => w.matmul(x), (x: Tensor) => x.matmul(w.transpose())]) {
    const y = vmap(f)(v);
    assert.equal(String(y.shape), String([dim("N"), 4]));
    assert.is(count([y], "dotGeneral"), 1);
    assert.is(count([y], "transpose"), count([f(input("x", "f32", [3]))], "transpose"));
  }
});

test("what no argument with a batch reaches is computed once", () => {
  const [w, v] = [input("w", "f32", [3, 3]), input("v", "f32", [5, 3])];
  const y = vmap((x) => w.exp().matmul(x))(v);
  const exps = topologicalOrder([y]).filter((t) => t.op === "exp");
  assert.equal(
    exps.map((t) => t.shape),
    [[3, 3]],
  );
});

test("a convolution over a batch of images and of kernels is one convolution", () => {
  const x = input("x", "f32", [2, 1, 4, 6]);
  const w = input("w", "f32", [2, 6, 2, 3]);
  const both = vmap((a, k) => convolution(a, k, { groups: 2 }))(x, w);
  assert.equal([count([both], "convolution"), count([both], "scan")], [1, 0]);
});

test("a batch may be any axis, of arguments and of results", () => {
  const x = tensor([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  const y = tensor([10, 20]);
  const f = vmap((a, b) => [a!.mul(b!), a!.sum()] as const, { inAxes: [1, null], outAxes: [1, 0] });
  const [p, s] = f(x, y) as readonly Tensor[];
  const [product, sum] = evaluate([p!, s!]);
  assert.equal(
    [product!.shape, [...product!.data]],
    [
      [2, 3],
      [10, 20, 30, 80, 100, 120],
    ],
  );
  assert.equal([...sum!.data], [5, 7, 9]);
});

test("transforms compose: a batch of gradients, a gradient of a batch, a tangent of a batch", () => {
  const x = input("x", "f64", [3, 2]);
  const given = new Map([[x, makeValue("f64", [3, 2], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])]]);
  const each = vmap((v) => grad(v.mul(v).mul(v).sum(), [v])[0]!)(x);
  const [whole] = grad(vmap((v) => v.mul(v).mul(v).sum())(x).sum(), [x]);
  const pushed = jvp(
    vmap((v: Tensor) => v.mul(v).mul(v)),
    [x],
    [x.onesLike()],
  ).tangent as Tensor;
  for (const [i, v] of evaluate([each, whole!, pushed], { inputs: given }).entries())
    for (const [k, g] of v.data.entries())
      assert.ok(Math.abs(g - 3 * ((k + 1) / 10) ** 2) < 1e-12, `way ${i}, element ${k}: ${g}`);
});

test("a batch keeps what is computed again, and the rules of the user's", () => {
  const x = input("x", "f32", [3, 2]);
  const again = vmap(checkpoint((v: Tensor) => v.sin()))(x);
  assert.is(
    topologicalOrder([again as Tensor]).find((t) => t.op === "call")?.attrs.gradient,
    "recompute",
  );
  const ruled = vmap(
    customVjp(
      (v: Tensor) => v.sin(),
      ([g]) => [g!.mul(7)],
    ),
  )(x) as Tensor;
  const [g] = grad(ruled.sum(), [x]);
  const value = makeValue("f32", [3, 2], [1, 2, 3, 4, 5, 6]);
  assert.equal([...evaluate([g!], { inputs: new Map([[x, value]]) })[0]!.data], [7, 7, 7, 7, 7, 7]);
});

test("random numbers are the same in each place, and the state moves on once", () => {
  const x = input("x", "f32", [3, 2]);
  const key = draws.key(3);
  const y = vmap((v) => v.add(draws.uniform(key, [2])))(x.mul(0));
  const value = makeValue("f32", [3, 2], [1, 2, 3, 4, 5, 6]);
  const [v] = evaluate([y], { inputs: new Map([[x, value]]) });
  assert.equal([...v!.data.slice(0, 2)], [...v!.data.slice(4, 6)]);
});

const refused = (call: () => unknown, type: new (text: string) => Error, text: string): void => {
  try {
    call();
  } catch (error) {
    assert.instance(error, type);
    assert.is((error as Error).message, text);
    return;
  }
  assert.unreachable("nothing was thrown");
};

test("vmap refuses what has no batch", () => {
  const [x, y] = [input("x", "f32", [2, 3]), input("y", "f32", [4, 3])];
  refused(
    () => vmap((a, b) => a!.add(b!))(x, y),
    ShapeError,
    "vmap: batches differ: axis 0 of argument 1, [4,3], has 4, another has 2\n  name the axes of one extent, or null for an argument without a batch",
  );
  refused(
    () => vmap((a) => a, { inAxes: null })(x),
    GraphError,
    "vmap: no argument has a batch\n  name an axis of one argument at least in inAxes",
  );
  refused(
    () => vmap((a) => a, { inAxes: [0, 0] })(x),
    GraphError,
    "vmap: inAxes has 2 entries for 1\n  give one number for all, or one for each",
  );
  const w = param([1, 2], { name: "w" });
  refused(
    () =>
      vmap((a) => {
        assign(w, w.add(1));
        return a;
      })(x),
    GraphError,
    "vmap: the body assigns w, which a region may not\n  carry the value, and assign the result outside",
  );
});

test.run();
