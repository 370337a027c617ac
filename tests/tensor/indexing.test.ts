/**
 * Parts of tensors by one index an axis: what is read, what is changed, gradients of both, and what is refused.
 */
import { type Index, input, type Tensor, tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { agrees, build, coordinatesOf, type Nd, nd, sample } from "./check.ts";

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Python's slice of 0 … n − 1, by counting. */
function places(index: string, n: number): number[] {
  const [a = "", b = "", c = ""] = index.split(":");
  const step = c === "" ? 1 : Number(c);
  const cut = (v: string, otherwise: number, low: number, high: number) =>
    v === "" ? otherwise : Math.min(high, Math.max(low, Number(v) < 0 ? Number(v) + n : Number(v)));
  const [low, high] = step > 0 ? [0, n] : [-1, n - 1];
  const start = cut(a, step > 0 ? 0 : n - 1, low, high);
  const limit = cut(b, step > 0 ? n : -1, low, high);
  const found: number[] = [];
  for (let i = start; step > 0 ? i < limit : i > limit; i += step) found.push(i);
  return found;
}

/** The places of each axis; at most one axis is a list, so that axes stay in order. */
const axesOf = (indices: readonly Index[], shape: readonly number[]): number[][] =>
  shape.map((n, i) => {
    const index = indices[i] ?? ":";
    if (typeof index === "number") return [index < 0 ? index + n : index];
    if (typeof index === "string") return places(index, n);
    return (index as number[]).map((v) => (v < 0 ? v + n : v));
  });

const kept = (indices: readonly Index[], axes: readonly number[][]): number[] =>
  axes.flatMap((a, i) => (typeof indices[i] === "number" ? [] : [a.length]));

const flatOf = (shape: readonly number[], at: readonly number[]): number =>
  at.reduce((f, c, i) => f * shape[i]! + c, 0);

/** The flat places that are named, in the order of the result. */
function named(indices: readonly Index[], shape: readonly number[]): number[] {
  const axes = axesOf(indices, shape);
  return coordinatesOf(axes.map((a) => a.length)).map((c) =>
    flatOf(shape, c.map((v, i) => axes[i]![v]!)),
  ); // biome-ignore format: short
}

const forms: readonly (readonly Index[])[] = [
  [":", [0, 4], -1, "::2"],
  [1],
  ["::-1", "1:4"],
  [":", "-3:", ":", "::-2"],
  ["0:0"],
  [":", "3:1"],
  [":", "1:100:2", 0],
  [-1, "4:0:-3", [1, 0, 1]],
  [":", ":", ":", [-1]],
  [],
];
const shape = [2, 5, 3, 4];

for (const indices of forms) {
  const text = JSON.stringify(indices).slice(1, -1);
  test(`x.get(${text}) reads what NumPy's x[...] does`, () =>
    agrees("get", {
      of: (x) => x.get(...indices),
      oracle: (x) => nd(kept(indices, axesOf(indices, shape)), named(indices, shape).map((p) => x.data[p]!)), // biome-ignore format: one line
      inputs: [sample(shape)],
      symbols: [["A", "B", "C", "D"]],
      gradients: named(indices, shape).length ? [0] : [],
    }));
  for (const mode of ["set", "add", "mul", "max", "min"] as const)
    test(`x.at(${text}).${mode}(value) changes those places alone`, () => {
      const part = kept(indices, axesOf(indices, shape));
      return agrees(mode, {
        of: (x, v) => x.at(...indices)[mode](v),
        oracle: (x, v) => {
          const y = [...x.data];
          for (const [k, p] of named(indices, shape).entries()) {
            const [a, b] = [y[p]!, v.data[k]!];
            y[p] = { set: b, add: a + b, mul: a * b, max: Math.max(a, b), min: Math.min(a, b) }[mode]; // biome-ignore format: one line
          }
          return nd(shape, y);
        },
        inputs: [sample(shape), sample(part, 5)],
        gradients: mode === "set" && !indices.length ? [1] : part.includes(0) ? [0] : [0, 1],
      });
    });
  // A value of a fixed shape fits no part of a symbolic one, one that is the part of another does.
  for (const mode of ["set", "add"] as const)
    test(`x.at(${text}).${mode}(w.get(${text})) is the same under symbols`, () => {
      const places = new Set(named(indices, shape));
      const count = (p: number) => named(indices, shape).filter((q) => q === p).length;
      return agrees(`${mode} of symbols`, {
        of: (x, w) => x.at(...indices)[mode](w.get(...indices)),
        oracle: (x, w) =>
          nd(
            shape,
            x.data.map((v, p) => {
              if (!places.has(p)) return v;
              return mode === "set" ? w.data[p]! : v + count(p) * w.data[p]!;
            }),
          ),
        inputs: [sample(shape), sample(shape, 5)],
        symbols: [
          ["A", "B", "C", "D"],
          ["A", "B", "C", "D"],
        ],
        gradients: [],
      });
    });
}

test("a value of a fixed shape is refused where the part has symbols", () => {
  const x = input("x", "f32", ["N", 3]);
  assert.throws(
    () =>
      x.at("::2").set(
        tensor([
          [1, 2, 3],
          [4, 5, 6],
        ]),
      ),
    (e: Error) => e.message.startsWith("at.set: shapes do not broadcast: [2,3] and [((N+1)/2),3]"),
  );
});

test("lists go together; a slice between them puts their axis in front", () =>
  agrees("lists", {
    of: (x) => [x.get([0, 1], [4, 2]), x.get([0, 1], ":", [2, 0])],
    oracle: (x) => {
      const read = (...c: number[]) => x.data[flatOf(shape, c)]!;
      return [
        build([2, 3, 4], (k, c, d) => read(k!, [4, 2][k!]!, c!, d!)),
        build([2, 5, 4], (k, b, d) => read(k!, b!, [2, 0][k!]!, d!)),
      ];
    },
    inputs: [sample(shape)],
    symbols: [["A", "B", "C", "D"]],
    gradients: [0],
  }));

test("a tensor of indices, a mask, and a number for a value", async () => {
  const at = nd([2, 2], [0, -1, 2, 0], "i32");
  await agrees("tensor", {
    of: (x, i) => x.get("...", i),
    oracle: (x) =>
      build([2, 2, 2], (r, j, k) => x.data[r! * 3 + ([0, 2, 2, 0][j! * 2 + k!] as number)]!),
    inputs: [sample([2, 3]), at],
    symbols: [
      ["N", 3],
      [2, 2],
    ],
    gradients: [0],
  });
  const negatives = (x: Nd) => nd(x.shape, x.data.map((v) => (v < 0 ? 9 : v))); // biome-ignore format: one line
  await agrees("mask", {
    of: (x) => x.at(x.less(0)).set(9),
    oracle: negatives,
    inputs: [sample([2, 3])],
    symbols: [["N", "M"]],
    gradients: [0],
  });
  await agrees("repeated", {
    of: (x) => x.at([0, 0, 2]).add(1),
    oracle: (x) => nd([3], [x.data[0]! + 2, x.data[1]!, x.data[2]! + 1]),
    inputs: [sample([3])],
    gradients: [0],
  });
});

const kernelsOf = (x: Tensor, y: Tensor): number =>
  compileProgram({ inputs: [x], outputs: [{ name: "y", value: y }], updates: [] }, { target: "js" })
    .artifact.plan.steps.length;

test("slices are read and changed in the kernel of what follows", () => {
  const x = input("x", "f32", [8, 8]);
  assert.is(kernelsOf(x, x.get("::-1", "::2").exp()), 1);
  assert.is(kernelsOf(x, x.at("1:3", "::-2").add(1).exp()), 1);
  assert.is(kernelsOf(x, x.at(x.less(0)).set(0).exp()), 1);
});

test("what no axis has is refused", () => {
  const x = tensor([[1, 2, 3], [4, 5, 6]]); // biome-ignore format: one line
  const message = (run: () => unknown): string => {
    try {
      run();
    } catch (e) {
      return (e as Error).message;
    }
    return "nothing was thrown";
  };
  assert.is(
    message(() => x.get(2)),
    "get: 2 is not a place on axis 0 of [2,3]\n  places count from 0, or from the end: -1 is the last",
  );
  assert.is(
    message(() => x.get(0, [0, 3])),
    "get: 3 is not a place on axis 1 of [2,3]\n  places count from 0, or from the end: -1 is the last",
  );
  assert.is(
    message(() => x.get("1;2")),
    'get: "1;2" is not a slice\n  write start:limit:step of whole numbers, each of which may be left out; the step is not 0',
  );
  assert.is(
    message(() => x.at(0, 0, 0).set(1)),
    'at: 3 indices for [2,3]\n  one for each axis at most, and "..." once',
  );
  assert.is(
    message(() => x.get(x.less(2))),
    "get: the index of axis 0 is bool, not an integer\n  a mask gives as many as it has: nonzero(mask, { size }), or where(mask, x, 0)",
  );
  assert.is(
    message(() => x.at(0).set(tensor([1, 2]))),
    "at.set: shapes do not broadcast: [2] and [3] differ at axis -1: 2 and 3\n  shapes are lined up from the right, and extents must be equal or 1: reshape or expandDims one",
  );
  assert.equal(range(2), [0, 1]);
});

test.run();
