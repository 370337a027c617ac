/**
 * What happens to operands before an elementwise node is built: dtypes meet, plain numbers adapt, shapes stretch.
 */
import {
  add,
  broadcastShapes,
  type Dtype,
  dim,
  dtypes,
  evaluate,
  input,
  isFloat,
  makeValue,
  promote,
  roundTo,
  select,
  sub,
  type Tensor,
  tensor,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

const of = (dtype: Dtype): Tensor => input("x", dtype, [2]);
const anyDtype = fc.constantFrom(...dtypes);

test("promotion is commutative, idempotent and never narrows a float", () => {
  fc.assert(
    fc.property(anyDtype, anyDtype, (a, b) => {
      assert.is(promote(a, b), promote(b, a));
      assert.is(promote(a, a), a);
      assert.is(promote(promote(a, b), b), promote(a, b));
      assert.is(isFloat(promote(a, b)), isFloat(a) || isFloat(b));
    }),
  );
});

test("promotion widens pairs of which neither holds the other", () => {
  assert.is(promote("u8", "i8"), "i32");
  assert.is(promote("i8", "u32"), "i32");
  assert.is(promote("f16", "bf16"), "f32");
});

test("rounding to a dtype changes nothing the second time", () => {
  fc.assert(
    fc.property(anyDtype, fc.double(), (dtype, x) => {
      const once = roundTo(dtype, x);
      assert.ok(Object.is(roundTo(dtype, once), once), `${dtype} ${x} ${once}`);
    }),
    { numRuns: runs(500) },
  );
});

test("a number adopts the dtype of the tensor beside it, if that holds it", () => {
  assert.is(of("f16").mul(2.5).dtype, "f16");
  assert.is(of("i32").mul(2).dtype, "i32");
  assert.is(of("i32").mul(2.5).dtype, "f32");
  assert.is(of("u8").add(255).dtype, "u8");
  assert.is(of("u8").add(300).dtype, "i32");
  assert.is(of("u32").add(-1).dtype, "i32");
  assert.is(of("bool").add(1).dtype, "i32");
  assert.is(of("f32").add(true).dtype, "f32");
  assert.is(add(1, 2).dtype, "f32");
});

test("integers become f32 where only floats make sense, and bool counts as i32", () => {
  assert.is(of("i32").exp().dtype, "f32");
  assert.is(of("f16").exp().dtype, "f16");
  assert.is(of("bool").add(of("bool")).dtype, "i32");
  assert.is(of("i32").pow(2).dtype, "i32");
  assert.is(of("i32").pow(0.5).dtype, "f32");
  assert.is(of("i32").less(of("f32")).dtype, "bool");
});

const shapes = fc
  .array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 })
  .chain((out) => fc.tuple(fc.constant(out), shrunk(out), shrunk(out)));

/** A shape that broadcasts to `out`: leading axes dropped, some of the others 1. */
function shrunk(out: readonly number[]): fc.Arbitrary<number[]> {
  return fc
    .tuple(fc.nat(out.length), fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }))
    .map(([drop, ones]) => out.slice(drop).map((d, i) => (ones[i] ? 1 : d)));
}

/** Element `at` of the result, read from `numbers` of `shape` by the definition. */
function stretched(numbers: readonly number[], shape: readonly number[], at: readonly number[]) {
  const own = at.slice(at.length - shape.length);
  return numbers[own.reduce((sum, c, i) => sum * shape[i]! + (shape[i] === 1 ? 0 : c), 0)]!;
}

test("broadcasting reads the element that NumPy reads", () => {
  fc.assert(
    fc.property(shapes, ([, a, b]) => {
      const out = broadcastShapes("sub", a, b) as number[];
      const [x, y] = [a, b].map((s, k) =>
        Array.from({ length: s.reduce((p, d) => p * d, 1) }, (_, i) => 10 * i + k),
      ) as [number[], number[]];
      const made = sub(
        tensor(new Float32Array(x), { shape: a }),
        tensor(new Float32Array(y), { shape: b }),
      );
      const expected = [...coordinates(out)].map((at) => stretched(x, a, at) - stretched(y, b, at));
      assert.equal(made.shape, out);
      assert.equal([...evaluate([made])[0]!.data], expected);
    }),
  );
});

function* coordinates(shape: readonly number[]): Generator<number[]> {
  if (!shape.length) yield [];
  else
    for (let i = 0; i < shape[0]!; i++)
      for (const rest of coordinates(shape.slice(1))) yield [i, ...rest];
}

test("a symbolic extent stretches from 1 and meets itself", () => {
  const N = dim("N");
  const x = input("x", "f32", [N, 1]);
  const y = input("y", "f32", [1, 3]);
  assert.is(String(x.add(y)), "Tensor f32[N,3] (add)");
  const inputs = new Map([
    [x, makeValue("f32", [2, 1], [1, 2])],
    [y, makeValue("f32", [1, 3], [10, 20, 30])],
  ]);
  assert.equal([...evaluate([x.add(y)], { inputs })[0]!.data], [11, 21, 31, 12, 22, 32]);
});

test("select broadcasts its condition too", () => {
  const c = tensor([[true], [false]]);
  const t = select(c, tensor([1, 2]), 0);
  assert.equal([...evaluate([t])[0]!.data], [1, 2, 0, 0]);
});

test("equal calls give one node, and different constants do not", () => {
  const x = of("f32");
  const [one, nan] = [x.add(1), x.add(Number.NaN)];
  assert.ok(x.add(1) === one);
  assert.ok(x.add(2) !== one);
  assert.ok(x.add(Number.NaN) === nan);
});

test("methods are the functions, and misuse does not compile", () => {
  const x = of("f32");
  assert.ok(x.add(1) === add(x, 1));
  // @ts-expect-error: add takes an operand.
  assert.throws(() => x.add(), "add: operands must be tensors, numbers or booleans, got undefined");
  // @ts-expect-error: there is no such op.
  assert.throws(() => x.expp());
});

test.run();
