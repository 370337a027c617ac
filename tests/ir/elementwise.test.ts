/**
 * Every elementwise record, by iteration: it has a finite value in its domain, text, and a gradient that equals
 * differences of its value. A new op is tested by being registered.
 */
import * as ir from "@kiln-ml/ir";
import {
  allOps,
  evaluate,
  input,
  makeNode,
  makeValue,
  type OpRecord,
  opRecord,
  roundHalfEven,
  type Tensor,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

const elementwise = allOps().filter((r) => r.family === "elementwise");
const smooth = elementwise.filter((r) => r.smooth && r.name !== "convert");
const arity = (r: OpRecord): number => r.eval!.length || 1;

test("there are records of all the ops that the architecture lists", () => {
  const unary =
    "neg abs sign floor ceil round trunc exp expm1 log log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh asinh acosh atanh tanh sigmoid erf isNan isFinite not bitwiseNot";
  const binary =
    "add sub mul div rem pow atan2 maximum minimum and or xor shiftLeft shiftRight equal notEqual less lessEqual greater greaterEqual";
  for (const name of `${unary} ${binary} select convert bitcast`.split(" "))
    assert.is(opRecord(name).family, "elementwise", name);
});

test("a callable op is exported under the name of its record", () => {
  for (const [name, value] of Object.entries(ir))
    if (typeof value === "function" && "record" in value) {
      assert.is((value.record as OpRecord).name, name);
      assert.is(value.name, name);
    }
});

test("every elementwise record has text, a domain and a precision", () => {
  for (const r of elementwise) {
    assert.ok(r.infix !== undefined || r.spell !== undefined, `${r.name} has no text`);
    assert.type(r.ulp, "number", `${r.name} has no ulp`);
    if (r.name !== "bitcast") assert.ok(r.domain && r.eval, `${r.name} has no domain or value`);
  }
});

test("the text of an op keeps compound arguments and itself together", () => {
  for (const r of elementwise.filter((e) => e.spell)) {
    const names = ["a+b", "c+d", "e+f"].slice(0, r.name === "select" ? 3 : (r.eval?.length ?? 1));
    const text = r.spell!(...names);
    assert.match(text, /^(\w+)?\(.*\)$/s, r.name);
    for (const name of names) {
      const around = text.split(name)[0]!.at(-1)! + text.split(name)[1]![0]!;
      assert.match(around, /^[( ][),]$/, `${r.name}: ${text}`);
    }
  }
});

const points = (r: OpRecord, n: number): fc.Arbitrary<number[]> =>
  fc.array(fc.double({ min: r.domain![0], max: r.domain![1], noNaN: true }), {
    minLength: n,
    maxLength: n,
  });

for (const r of elementwise.filter((e) => e.eval))
  test(`${r.name} is finite in its domain`, () => {
    fc.assert(
      fc.property(points(r, arity(r)), (xs) => {
        assert.ok(Number.isFinite(r.eval!(...xs)), `${r.name}(${xs}) is ${r.eval!(...xs)}`);
      }),
      { numRuns: runs(50) },
    );
  });

/** The gradient that the record builds, at one point. */
function gradients(r: OpRecord, xs: readonly number[]): number[] {
  const operands = xs.map((_, i) => input(`x${i}`, "f64", []));
  const y = makeNode({ op: r.name, operands, attrs: {}, ...r.infer(operands, {}) });
  const seed = input("g", "f64", []);
  const roots = r.vjp!(seed, y, ...operands) as Tensor[];
  const inputs = new Map(operands.map((t, i) => [t, makeValue("f64", [], [xs[i]!])]));
  inputs.set(seed, makeValue("f64", [], [1]));
  return evaluate(roots, { inputs }).map((v) => v.data[0]!);
}

/** Central differences of fourth order. */
function difference(r: OpRecord, xs: readonly number[], axis: number): number {
  const h = 1e-3 * Math.max(1, Math.abs(xs[axis]!)) * 0.5;
  const at = (d: number): number => r.eval!(...xs.map((x, i) => (i === axis ? x + d : x)));
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

for (const r of smooth)
  test(`the gradient of ${r.name} is the slope of its value`, () => {
    const [low, high] = r.domain!;
    const inner = { ...r, domain: [low + 0.01, high - 0.01] as const };
    fc.assert(
      fc.property(points(inner, arity(r)), (xs) => {
        for (const [axis, slope] of gradients(r, xs).entries()) {
          const expected = difference(r, xs, axis);
          const error = Math.abs(slope - expected) / Math.max(1, Math.abs(expected));
          assert.ok(error < 1e-6, `${r.name}(${xs}) axis ${axis}: ${slope}, expected ${expected}`);
        }
      }),
      { numRuns: runs(30) },
    );
  });

const numbersOf = (t: Tensor): number[] => [...evaluate([t])[0]!.data];
const { tensor } = ir;

test("maximum and minimum give the gradient of a tie to the first operand", () => {
  for (const name of ["maximum", "minimum"])
    assert.equal(gradients(opRecord(name), [2, 2]), [1, 0], name);
  assert.equal(gradients(opRecord("maximum"), [3, 2]), [1, 0]);
  assert.equal(gradients(opRecord("minimum"), [3, 2]), [0, 1]);
});

test("steps have gradient 0 and comparisons have none", () => {
  for (const name of ["sign", "floor", "ceil", "round", "trunc"])
    assert.equal(gradients(opRecord(name), [1.5]), [0], name);
  const x = input("x", "f32", []);
  for (const name of ["equal", "less", "and"])
    assert.equal(opRecord(name).vjp!(x, x, x, x), [undefined, undefined], name);
  assert.is(opRecord("bitcast").vjp, undefined);
});

test("pow has finite gradients at exponent 0 and at base 0", () => {
  assert.equal(gradients(opRecord("pow"), [0, 0]), [0, 0]);
  assert.equal(gradients(opRecord("pow"), [0, 2]), [0, 0]);
  assert.equal(gradients(opRecord("pow"), [-2, 2]).slice(0, 1), [-4]);
});

test("NaN wins in maximum and minimum and equals nothing", () => {
  const x = tensor([Number.NaN, 1]);
  assert.equal(numbersOf(x.maximum(5)), [Number.NaN, 5]);
  assert.equal(numbersOf(x.minimum(0)), [Number.NaN, 0]);
  assert.equal(numbersOf(x.equal(x)), [0, 1]);
  assert.equal(numbersOf(x.notEqual(x)), [1, 0]);
  assert.equal(numbersOf(x.isNan()), [1, 0]);
});

test("minus zero survives a constant, a sign and a rounding", () => {
  assert.ok(Object.is(numbersOf(ir.constant(-0))[0], -0));
  assert.ok(Object.is(numbersOf(tensor([-0.2]).round())[0], -0));
  assert.ok(Object.is(numbersOf(tensor([-0]).sign())[0], -0));
  assert.ok(ir.constant(-0) !== ir.constant(0));
});

test("halves round to even", () => {
  const halves = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5];
  assert.equal(
    halves.map((x) => roundHalfEven(x) + 0),
    [-2, -2, 0, 0, 2, 2, 4],
  );
});

test("integers wrap, divide toward zero and keep the sign of the dividend", () => {
  const i32 = (x: number[]) => tensor(x, { dtype: "i32" });
  assert.equal(numbersOf(i32([2147483647]).add(1)), [-2147483648]);
  assert.equal(numbersOf(i32([123456789]).mul(987654321)), [Math.imul(123456789, 987654321)]);
  assert.equal(numbersOf(i32([7, -7]).div(2)), [3, -3]);
  assert.equal(numbersOf(i32([7, -7]).rem(3)), [1, -1]);
  assert.equal(numbersOf(i32([7]).div(0)), [0]);
  const u32 = tensor([4294967295], { dtype: "u32" });
  assert.equal(numbersOf(u32.mul(u32)), [1]);
  assert.equal(numbersOf(u32.shiftRight(4)), [268435455]);
  assert.equal(numbersOf(i32([-16]).shiftRight(2)), [-4]);
  assert.equal(numbersOf(u32.and(6).or(8).xor(1)), [15]);
  assert.equal(numbersOf(i32([5]).bitwiseNot()), [-6]);
});

test("erf agrees with values to 20 digits from Abramowitz and Stegun, table 7.1", () => {
  const table = { 0.5: 0.5204998778130465, 1: 0.8427007929497149, 2: 0.9953222650189527 };
  for (const [x, y] of Object.entries(table)) {
    assert.ok(Math.abs(ir.erfOf(Number(x)) - y) < 5e-16, x);
    assert.is(ir.erfOf(-Number(x)), -ir.erfOf(Number(x)));
  }
  // Both formulas meet at 3.
  assert.ok(Math.abs(ir.erfOf(3 - 1e-12) - ir.erfOf(3)) < 1e-15);
});

test("conversion rounds, truncates and keeps NaN true", () => {
  const x = tensor([1.5, -1.5, Number.NaN, 0]);
  assert.equal(numbersOf(x.convert("i32")), [1, -1, 0, 0]);
  assert.equal(numbersOf(x.convert("bool")), [1, 1, 1, 0]);
  assert.equal(numbersOf(tensor([1 / 3]).convert("bf16")), [0.333984375]);
  assert.equal(numbersOf(tensor([1]).bitcast("u32")), [0x3f800000]);
  assert.equal(numbersOf(tensor([0x3f800000], { dtype: "u32" }).bitcast("f32")), [1]);
});

test("every half-precision pattern survives decoding and encoding", () => {
  const all = Uint16Array.from({ length: 65536 }, (_, i) => i);
  for (const dtype of ["f16", "bf16"] as const) {
    const back = ir.toHost(dtype, ir.fromHost(dtype, all));
    const numbers = ir.fromHost(dtype, all);
    const lost = all.findIndex((b, i) => !Number.isNaN(numbers[i]!) && back[i] !== b);
    assert.is(lost, -1, `${dtype} ${lost}`);
  }
});

test.run();
