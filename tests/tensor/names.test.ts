/**
 * Names of PyTorch and NumPy that are compositions: their values and gradients against plain loops.
 */
import * as ir from "@kiln-ml/ir";
import { evaluate, type Tensor, tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { agrees, at, build, type Check, coordinatesOf, type Nd, nd, sample } from "./check.ts";

const numbersOf = (t: Tensor): number[] => [...evaluate([t])[0]!.data].map(Number);
const mod = (a: number, n: number): number => ((a % n) + n) % n;
const i32 = (shape: number[], data: number[]): Nd => nd(shape, data, "i32");
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

const cases: Record<string, Check> = {};

for (const shift of [0, 1, -2, 7])
  cases[`roll by ${shift}`] = {
    of: (x) => ir.roll(x, shift, 1),
    oracle: (x) => build([2, 3], (i, j) => at(x, i!, mod(j! - shift, 3))),
    inputs: [sample([2, 3])],
    symbols: [["N", "M"]],
    gradients: [0],
  };
cases["roll of all"] = {
  of: (x) => ir.roll(x, 2),
  oracle: (x) => build([2, 3], (i, j) => x.data[mod(i! * 3 + j! - 2, 6)]!),
  inputs: [sample([2, 3])],
  symbols: [["N", 3]],
  gradients: [0],
};
cases.tile = {
  of: (x) => ir.tile(x, [2, 1, 3]),
  oracle: (x) => build([2, 2, 9], (_r, i, j) => at(x, i!, j! % 3)),
  inputs: [sample([2, 3])],
  symbols: [["N", "M"]],
  gradients: [0],
};
cases.repeat = {
  of: (x) => ir.repeat(x, [2, 2]),
  oracle: (x) => build([4, 6], (i, j) => at(x, i! % 2, j! % 3)),
  inputs: [sample([2, 3])],
  symbols: [["N", 3]],
  gradients: [0],
};
cases.repeatInterleave = {
  of: (x) => ir.repeatInterleave(x, 3, 1),
  oracle: (x) => build([2, 9], (i, j) => at(x, i!, Math.floor(j! / 3))),
  inputs: [sample([2, 3])],
  symbols: [["N", "M"]],
  gradients: [0],
};
cases.movedim = {
  of: (x) => ir.movedim(x, [0, 2], [1, 0]),
  oracle: (x) => build([4, 2, 3], (k, i, j) => at(x, i!, j!, k!)),
  inputs: [sample([2, 3, 4])],
  symbols: [["A", "B", "C"]],
  gradients: [0],
};
cases.unfold = {
  of: (x) => ir.unfold(x, 0, 2, 2),
  oracle: (x) => build([2, 3, 2], (o, j, k) => at(x, o! * 2 + k!, j!)),
  inputs: [sample([5, 3])],
  symbols: [[5, "M"]],
  gradients: [0],
};
for (const times of [-1, 0, 1, 2])
  cases[`rot90 ${times}`] = {
    of: (x) => ir.rot90(x, times),
    oracle: (x) => {
      let y = x;
      for (let k = 0; k < mod(times, 4); k++) {
        const from = y;
        const [n, m] = y.shape as [number, number];
        y = build([m, n], (i, j) => at(from, j!, m - 1 - i!));
      }
      return y;
    },
    inputs: [sample([2, 3])],
    symbols: [["N", "M"]],
    gradients: [0],
  };
cases.diff = {
  of: (x) => ir.diff(x, 2),
  oracle: (x) => build([2, 2], (i, j) => at(x, i!, j! + 2) - 2 * at(x, i!, j! + 1) + at(x, i!, j!)),
  inputs: [sample([2, 4])],
  symbols: [["N", 4]],
  gradients: [0],
};
cases.meshgrid = {
  of: (x, y) => ir.meshgrid([x, y]),
  oracle: (x, y) => [build([2, 3], (i) => x.data[i!]!), build([2, 3], (_i, j) => y.data[j!]!)],
  inputs: [sample([2]), sample([3])],
  symbols: [["N"], ["M"]],
};
const signs = nd([6], [-7, 7, -7, 7, -6, 0.5]);
const divisors = nd([6], [2, -2, -2, 2, 3, 0.7]);
cases.remainder = {
  of: ir.remainder,
  oracle: (x, y) =>
    build([6], (i) => x.data[i!]! - y.data[i!]! * Math.floor(x.data[i!]! / y.data[i!]!)),
  inputs: [
    nd(
      [6],
      signs.data.map((v) => v + 0.1),
    ),
    divisors,
  ],
  symbols: [["N"], ["N"]],
  gradients: [0, 1],
};
cases.floorDivide = {
  of: (x, y) => ir.floorDivide(x, y),
  oracle: (x, y) => build([6], (i) => Math.floor(x.data[i!]! / y.data[i!]!)),
  inputs: [signs, divisors],
  symbols: [["N"], ["N"]],
};
cases["floorDivide of integers"] = {
  of: (x, y) => [ir.floorDivide(x, y), ir.remainder(x, y)],
  oracle: (x, y) => [
    build([4], (i) => Math.floor(x.data[i!]! / y.data[i!]!)),
    build([4], (i) => mod(x.data[i!]!, Math.abs(y.data[i!]!)) - (y.data[i!]! < 0 && x.data[i!]! % y.data[i!]! ? Math.abs(y.data[i!]!) : 0)),
  ], // biome-ignore format: a table
  inputs: [i32([4], [-7, 7, -7, 6]), i32([4], [2, -2, -2, 3])],
  symbols: [["N"], ["N"]],
};
cases.hypot = {
  of: ir.hypot,
  oracle: (x, y) => build([4], (i) => Math.hypot(x.data[i!]!, y.data[i!]!)),
  inputs: [sample([4], 1), sample([4], 2)],
  symbols: [["N"], ["N"]],
  gradients: [0, 1],
};
cases.logCumSumExp = {
  of: (x) => ir.logCumSumExp(x, 1),
  oracle: (x) =>
    build([2, 4], (i, j) => {
      const row = range(j! + 1).map((k) => at(x, i!, k));
      const m = Math.max(...row);
      return m + Math.log(row.reduce((s, v) => s + Math.exp(v - m), 0));
    }),
  inputs: [nd([2, 4], [1, -2, 3, 0.5, -90, 5, 80, 2])],
  symbols: [["N", "M"]],
  gradients: [0],
};
cases.maxWithIndices = {
  of: (x) => Object.values(ir.maxWithIndices(x, 1)),
  oracle: (x) => [0, 1].map((k) => build([2], (i) => {
    const row = range(3).map((j) => at(x, i!, j));
    return k ? row.indexOf(Math.max(...row)) : Math.max(...row);
  })), // biome-ignore format: short
  inputs: [sample([2, 3])],
  symbols: [["N", "M"]],
  gradients: [0],
};
cases.sortWithIndices = {
  of: (x) => Object.values(ir.sortWithIndices(x, 0, { descending: true })),
  oracle: (x) => {
    const order = range(5).sort((a, b) => x.data[b]! - x.data[a]!);
    return [build([5], (i) => x.data[order[i!]!]!), build([5], (i) => order[i!]!)];
  },
  inputs: [sample([5])],
  symbols: [["N"]],
  gradients: [0],
};
for (const n of [1, 4, 5])
  cases[`median of ${n}`] = {
    of: (x) => ir.median(x, 1),
    oracle: (x) => build([2], (i) => range(n).map((j) => at(x, i!, j)).sort((a, b) => a - b)[(n - 1) >> 1]!), // biome-ignore format: one line
    inputs: [sample([2, n])],
    symbols: [["N", "M"]],
    gradients: [0],
  };
for (const interpolation of ["linear", "lower", "higher", "midpoint", "nearest"] as const)
  cases[`quantile ${interpolation}`] = {
    of: (x) => ir.quantile(x, [0, 0.3, 0.9], 0, { interpolation }),
    oracle: (x) =>
      build([3, 2], (k, c) => {
        const sorted = range(6).map((i) => at(x, i, c!)).sort((a, b) => a - b);
        const place = [0, 0.3, 0.9][k!]! * 5;
        const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
        if (interpolation === "lower") return low;
        if (interpolation === "higher") return high;
        if (interpolation === "midpoint") return (low + high) / 2;
        // 1.5 and 4.5: a half goes to the even place.
        if (interpolation === "nearest") return sorted[[0, 2, 4][k!]!]!;
        return low + (high - low) * (place - Math.floor(place));
      }), // biome-ignore format: short
    inputs: [sample([6, 2])],
    ...(interpolation === "nearest" ? {} : { symbols: [["N", 2]] }),
    gradients: [0],
    tolerance: 100,
  };
cases.varMean = {
  of: (x) => Object.values(ir.varMean(x, 1, { correction: 1 })),
  oracle: (x) => {
    const means = range(2).map((i) => range(4).reduce((s, j) => s + at(x, i, j), 0) / 4);
    return [
      build([2], (i) => range(4).reduce((s, j) => s + (at(x, i!, j) - means[i!]!) ** 2, 0) / 3),
      nd([2], means),
    ];
  },
  inputs: [sample([2, 4])],
  symbols: [["N", "M"]],
  gradients: [0],
};
cases.cov = {
  of: (x) => ir.cov(x),
  oracle: (x) => {
    const d = build([2, 4], (i, j) => at(x, i!, j!) - range(4).reduce((s, k) => s + at(x, i!, k), 0) / 4); // biome-ignore format: one line
    return build(
      [2, 2],
      (i, j) => range(4).reduce((s, k) => s + at(d, i!, k) * at(d, j!, k), 0) / 3,
    );
  },
  inputs: [sample([2, 4])],
  symbols: [["V", "N"]],
  gradients: [0],
};
for (const right of [false, true]) {
  cases[`searchsorted ${right}`] = {
    of: (s, v) => ir.searchsorted(s, v, { right }),
    oracle: (s, v) => build([2, 3], (i, j) => s.data.filter((w) => (right ? w <= at(v, i!, j!) : w < at(v, i!, j!))).length), // biome-ignore format: one line
    inputs: [nd([4], [-1, 0, 0, 2]), nd([2, 3], [-2, -1, 0, 1, 2, 3])],
    symbols: [["N"], ["A", "B"]],
  };
  cases[`bucketize ${right}`] = {
    of: (v, s) => ir.bucketize(v, s, { right }),
    oracle: (v, s) => build([3], (i) => s.data.filter((w) => (right ? w <= v.data[i!]! : w < v.data[i!]!)).length), // biome-ignore format: one line
    inputs: [nd([3], [-1, 0, 5]), nd([2], [0, 1])],
    symbols: [["N"], [2]],
  };
}
cases.bincount = {
  of: (x, w) => [ir.bincount(x, 3, { weights: w }), ir.bincount(x, 3)],
  oracle: (x, w) => [0, 1].map((k) => build([3], (s) => x.data.reduce((sum, v, i) => sum + (v === s ? (k ? 1 : w.data[i]!) : 0), 0))), // biome-ignore format: one line
  inputs: [i32([5], [0, 2, 2, 7, -1]), sample([5])],
  symbols: [["N"], ["N"]],
  gradients: [1],
};
cases.histogram = {
  of: (x) => Object.values(ir.histogram(x, 4, { range: [0, 2] })),
  oracle: (x) => [
    build([4], (b) => x.data.filter((v) => v >= b! / 2 && (v < (b! + 1) / 2 || (b === 3 && v === 2))).length), // biome-ignore format: one line
    build([5], (b) => b! / 2),
  ],
  inputs: [nd([6], [0, 0.6, 1.1, 2, 2.1, -1])],
  symbols: [["N"]],
};
cases.isIn = {
  of: (x, v) => ir.isIn(x, v).convert("i32"),
  oracle: (x, v) => build([2, 2], (i, j) => (v.data.includes(at(x, i!, j!)) ? 1 : 0)),
  inputs: [nd([2, 2], [1, 2, 3, 4]), nd([2], [4, 1])],
  symbols: [["N", 2], ["M"]],
};
const ids = i32([5], [0, 2, 0, 9, 2]);
const rowsOf = (s: number): number[] => range(5).filter((i) => ids.data[i] === s);
const segments = (of: (rows: number[]) => number) => (x: Nd) =>
  build([4, 2], (s, c) => of(rowsOf(s!).map((i) => at(x, i, c!))));
const total = (rows: number[]): number => rows.reduce((a, b) => a + b, 0);
const folds = {
  segmentSum: [ir.segmentSum, total],
  segmentMean: [ir.segmentMean, (rows) => total(rows) / Math.max(1, rows.length)],
  segmentMax: [ir.segmentMax, (rows) => Math.max(...rows)],
  segmentMin: [ir.segmentMin, (rows) => Math.min(...rows)],
} satisfies Record<string, [typeof ir.segmentSum, (rows: number[]) => number]>;
for (const [name, [of, fold]] of Object.entries(folds))
  cases[name] = {
    // Segments without rows are infinite, and their differences no numbers.
    of: (x, i) => ir.nanToNum(of(x, i, 4), { posInf: 0, negInf: 0 }),
    oracle: (x) => {
      const y = segments(fold)(x);
      return { ...y, data: y.data.map((v) => (Number.isFinite(v) ? v : 0)) };
    },
    inputs: [sample([5, 2]), ids],
    symbols: [["N", 2], ["N"]],
    gradients: [0],
  };
cases.segmentSoftmax = {
  of: (x, i) => ir.segmentSoftmax(x, i, 3),
  oracle: (x) => build([4], (i) => Math.exp(x.data[i!]!) / total(range(4).filter((j) => [0, 2, 0, 2][j] === [0, 2, 0, 2][i!]).map((j) => Math.exp(x.data[j]!)))), // biome-ignore format: one line
  inputs: [sample([4]), i32([4], [0, 2, 0, 2])],
  symbols: [["N"], ["N"]],
  gradients: [0],
};
for (const mode of ["set", "add", "mul", "max", "min", "mean"] as const)
  cases[`scatterAlongAxis ${mode}`] = {
    of: (x, i, u) => ir.scatterAlongAxis(x, i, u, 1, mode),
    oracle: (x, i, u) => {
      const y = [...x.data];
      const counts = y.map(() => 1);
      for (const [r, c] of coordinatesOf([2, 3]) as [number, number][]) {
        const to = r * 4 + mod(at(i, r, c), 4);
        const [a, b] = [y[to]!, at(u, r, c)];
        counts[to]!++;
        y[to] = { set: b, add: a + b, mean: a + b, mul: a * b, max: Math.max(a, b), min: Math.min(a, b) }[mode];
      }
      return nd([2, 4], mode === "mean" ? y.map((v, k) => v / counts[k]!) : y);
    }, // biome-ignore format: a table
    inputs: [sample([2, 4]), i32([2, 3], [0, 3, 0, 1, -2, 1]), sample([2, 3], 4)],
    symbols: [
      ["N", 4],
      ["N", 3],
      ["N", 3],
    ],
    gradients: [0, 2],
  };
cases.cross = {
  of: (x, y) => ir.cross(x, y),
  oracle: (x, y) => build([2, 3], (n, i) => {
    const [a, b] = [(i! + 1) % 3, (i! + 2) % 3];
    return at(x, n!, a) * at(y, n!, b) - at(x, n!, b) * at(y, n!, a);
  }), // biome-ignore format: short
  inputs: [sample([2, 3]), sample([2, 3], 3)],
  symbols: [
    ["N", 3],
    ["N", 3],
  ],
  gradients: [0, 1],
};
cases.kron = {
  of: ir.kron,
  oracle: (a, b) =>
    build([4, 6], (i, j) => at(a, Math.floor(i! / 2), Math.floor(j! / 2)) * at(b, i! % 2, j! % 2)),
  inputs: [sample([2, 3]), sample([2, 2])],
  symbols: [
    ["N", "M"],
    [2, 2],
  ],
  gradients: [0, 1],
};
for (const p of [1, 2, 3, Number.POSITIVE_INFINITY])
  cases[`cdist ${p}`] = {
    of: (x, y) => ir.cdist(x, y, p),
    oracle: (x, y) => build([2, 3], (i, j) => {
      const d = range(2).map((k) => Math.abs(at(x, i!, k) - at(y, j!, k)));
      return p === Number.POSITIVE_INFINITY ? Math.max(...d) : total(d.map((v) => v ** p)) ** (1 / p);
    }), // biome-ignore format: short
    inputs: [sample([2, 2], 5), sample([3, 2], 2)],
    symbols: [
      ["N", 2],
      ["M", 2],
    ],
    gradients: [0, 1],
    tolerance: 10,
  };
cases.cosineSimilarity = {
  of: (x, y) => ir.cosineSimilarity(x, y),
  oracle: (x, y) => build([2], (i) => {
    const dot = (a: Nd, b: Nd) => total(range(3).map((k) => at(a, i!, k) * at(b, i!, k)));
    return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
  }), // biome-ignore format: short
  inputs: [sample([2, 3]), sample([2, 3], 4)],
  symbols: [
    ["N", "M"],
    ["N", "M"],
  ],
  gradients: [0, 1],
};

for (const [name, check] of Object.entries(cases))
  test(`${name} is its formula, and so is its gradient`, () => agrees(name, check));

test("arange and logspace count as PyTorch does", () => {
  assert.equal(numbersOf(ir.arange(3)), [0, 1, 2]);
  assert.equal(numbersOf(ir.arange(2, 5)), [2, 3, 4]);
  assert.equal(numbersOf(ir.arange(5, 0, -2)), [5, 3, 1]);
  assert.equal(numbersOf(ir.arange(0, 1, 0.25)), [0, 0.25, 0.5, 0.75]);
  assert.equal(numbersOf(ir.arange(5, 2)), []);
  assert.is(ir.arange(2, 5).dtype, "i32");
  assert.is(ir.arange(3, "f32").dtype, "f32");
  const n = ir.dim("N", { min: 0 });
  const y = ir.arange(1, n, 2);
  const x = ir.input("x", "f32", [n]);
  assert.equal([...evaluate([y.add(x.sum().convert("i32"))], { inputs: new Map([[x, ir.makeValue("f32", [6], [0, 0, 0, 0, 0, 0])]]) })[0]!.data], [1, 3, 5]); // biome-ignore format: one line
  assert.ok(numbersOf(ir.logspace(0, 2, 3)).every((v, i) => Math.abs(v - 10 ** i) < 1e-4));
});

test("isClose, isInf, nanToNum and countNonzero know infinities and NaN", () => {
  const x = tensor([1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
  assert.equal(numbersOf(ir.isInf(x)), [0, 0, 1, 1]);
  assert.equal(numbersOf(ir.isClose(x, x)), [1, 0, 1, 1]);
  assert.equal(numbersOf(ir.isClose(x, x, { equalNan: true })), [1, 1, 1, 1]);
  assert.equal(
    numbersOf(ir.isClose(tensor([1, 1]), tensor([1.000001, Number.POSITIVE_INFINITY]))),
    [1, 0],
  );
  assert.equal(numbersOf(ir.allClose(tensor([1, 2]), tensor([1, 2.1]))), [0]);
  assert.equal(numbersOf(ir.nanToNum(x, { nan: 5, posInf: 6, negInf: -6 })), [1, 5, 6, -6]);
  assert.equal(numbersOf(ir.countNonzero(tensor([[0, 2], [3, 4]]), 0)), [1, 2]); // biome-ignore format: one line
  assert.equal(numbersOf(ir.quantile(x, 0.5)), [Number.NaN]);
});

test.run();
