/**
 * Forward mode, of every op record: ⟨J·t, g⟩ = ⟨t, Jᵀ·g⟩ in f64, with directions that tell elements apart; of symbolic extents as well.
 */
import {
  evaluate,
  grad,
  input,
  isFloat,
  jvp,
  makeValue,
  ones,
  scan,
  type Tensor,
  tensor,
  topologicalOrder,
  type Value,
  verifyGraph,
} from "@kiln-ml/ir";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Builder, random } from "../ir-structural/cases.ts";
import { runs } from "../support/setup.ts";
import { everyOp, isDifferentiable, missing } from "./every-op.ts";

test("every op record is gone over", () => {
  assert.equal(missing(), []);
});

/** Eighths, which f32 holds. */
const noise = (i: number): number => ((i * 7 + 3) % 11) / 8 - 0.625;

const filledLike = ({ dtype, shape, data }: Value, shift: number): Value =>
  makeValue(
    dtype,
    shape,
    Array.from(data, (_, i) => noise(i + shift)),
  );

const dot = (a: Value, b: Value): number => a.data.reduce((s, v, i) => s + v * b.data[i]!, 0);

/** Both sides of the law, and how large their terms are. */
function sides(y: Tensor, b: Builder): readonly [number, number, number] {
  const xs = [...b.inputs.keys()].filter((x) => isFloat(x.dtype));
  const value = evaluate([y], { inputs: b.inputs, dims: b.dims })[0]!;
  const ts = xs.map((x, i) => input(`t${i}`, x.dtype, x.shape));
  const g = input("g", y.dtype, y.shape);
  const given = new Map(b.inputs);
  for (const [i, t] of ts.entries()) given.set(t, filledLike(b.inputs.get(xs[i]!)!, i));
  given.set(g, filledLike(value, 5));
  const tangent = jvp(y, xs, ts);
  const cotangents = grad(y, xs, { cotangent: g, unused: "zeros" });
  verifyGraph({ params: [...given.keys()], results: [tangent] });
  const all = evaluate([tangent, ...cotangents], { inputs: given, dims: b.dims });
  assert.is(all[0]!.dtype, y.dtype);
  const forward = dot(all[0]!, given.get(g)!);
  const backward = xs.reduce((s, _, i) => s + dot(all[i + 1]!, given.get(ts[i]!)!), 0);
  const size = all[0]!.data.reduce((s, v) => s + Math.abs(v), 1);
  return [forward, backward, size];
}

for (const [op, make] of Object.entries(everyOp)) {
  if (!isDifferentiable(op)) continue;
  for (const symbolic of [false, true])
    test(`jvp of ${op} agrees with its vjp${symbolic ? ", symbolic" : ""}`, () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => {
          const b = new Builder(random(seed), symbolic);
          const y = make(b);
          if (!isFloat(y.dtype) || op === "whileLoop") return;
          const [forward, backward, size] = sides(y, b);
          assert.ok(
            Math.abs(forward - backward) <= 1e-9 * size,
            `⟨J·t, g⟩ is ${forward}, ⟨t, Jᵀ·g⟩ ${backward}`,
          );
        }),
        { numRuns: runs(12), includeErrorInReport: true },
      );
    });
}

const near = (got: number, want: number): boolean =>
  Math.abs(got - want) <= 1e-7 * Math.max(1, Math.abs(want));

test("jvp of a loop without a bound, which has no vjp, agrees with differences", () => {
  const b = new Builder(random(7));
  const y = everyOp.whileLoop!(b);
  const [x] = [...b.inputs.keys()] as [Tensor];
  const t = input("t", "f64", [2]);
  const given = new Map([...b.inputs, [t, makeValue("f64", [2], [0.75, -0.5])]]);
  const got = evaluate([jvp(y, x, t)], { inputs: given })[0]!;
  const at = (h: number) => {
    const moved = b.inputs.get(x)!.data.map((v, i) => v + h * [0.75, -0.5][i]!);
    return evaluate([y], { inputs: new Map([[x, makeValue("f64", [2], moved)]]) })[0]!.data;
  };
  const [low, high] = [at(-1e-5), at(1e-5)];
  for (const [i, v] of got.data.entries())
    assert.ok(near(v, (high[i]! - low[i]!) / 2e-5), `element ${i} is ${v}`);
});

test("jvp of a function gives its value too, of a list a list", () => {
  const x = tensor([0.5, 2], { dtype: "f64" });
  const one = jvp((v: Tensor) => v.mul(v), x, tensor([1, 3], { dtype: "f64" }));
  const two = jvp((v: Tensor) => [v.mul(v), v.greater(1)], [x], [tensor([1, 3], { dtype: "f64" })]);
  const all = evaluate([one.value, one.tangent, ...two.value, ...two.tangent]);
  assert.equal(
    all.map((v) => [...v.data]),
    [[0.25, 4], [1, 12], [0.25, 4], [0, 1], [1, 12], [0, 0]], // biome-ignore format: by result
  );
});

test("jvp is jvp of what stands in its argument, not of what is equal to it", () => {
  const [v] = evaluate([jvp((x: Tensor) => x.mul(tensor([2])), ones([1]), ones([1])).tangent]);
  assert.equal([...v!.data], [2]);
});

test("a loop is run once for values and tangents", () => {
  const [h, xs] = [input("h", "f32", [2]), input("xs", "f32", ["T", 2])];
  const f = (a: Tensor) =>
    scan([a], [xs], ([c], [x]) => ({ carry: [c!.mul(x!)], ys: [] })).carry[0]!;
  const { value, tangent } = jvp(f, h, h.onesLike());
  const loops = topologicalOrder([value, tangent]).filter((t) => t.op === "scan");
  assert.is(loops.length, 1);
});

test("jvp says what is wrong with its arguments", () => {
  const x = input("x", "f32", [3]);
  const refuse = (call: () => unknown, text: string): void => {
    try {
      call();
    } catch (error) {
      assert.is((error as Error).message, text);
      return;
    }
    assert.unreachable("nothing was thrown");
  };
  refuse(
    () => jvp((a: Tensor) => a, [x], []),
    "jvp: there are 1 arguments and 0 tangents\n  give one tangent for each argument",
  );
  refuse(
    () => jvp((a: Tensor) => a, x, input("t", "f32", [2])),
    "jvp: tangent 0 is f32[2], the argument f32[3]\n  reshape or broadcastTo the tangent to the shape of the argument",
  );
  refuse(
    () => jvp((a: Tensor) => a, x, input("t", "f64", [3])),
    "jvp: tangent 0 is f64[3], the argument f32[3]\n  convert the tangent to the dtype of the argument",
  );
  refuse(
    () => jvp((a: Tensor) => a.convert("f32"), input("i", "i32", [3]), x),
    "jvp: argument 0 is i32, not a float\n  only floats have tangents: read it from outside of the function",
  );
});

test.run();
