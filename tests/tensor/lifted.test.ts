/**
 * What the importer of ONNX and users share: einsum, triangles, images resized and sampled, places and distinct values, determinants.
 */
import * as ir from "@kiln-ml/ir";
import { evaluate, input, type Tensor, tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { agrees, at, build, coordinatesOf, type Nd, nd, sample, sizeOfNd } from "./check.ts";

const numbersOf = (t: Tensor): number[] => [...evaluate([t])[0]!.data].map(Number);

/** Einsum by its definition: a loop over all letters. */
function sums(equation: string, ...xs: Nd[]): Nd {
  const [left, output] = equation.split("->") as [string, string];
  const terms = left.split(",");
  const extents = new Map<string, number>();
  for (const [k, term] of terms.entries())
    for (const [i, c] of [...term].entries())
      extents.set(c, Math.max(extents.get(c) ?? 0, xs[k]!.shape[i]!));
  const inner = [...extents.keys()].filter((c) => !output.includes(c));
  const all = [...output, ...inner];
  return build(
    [...output].map((c) => extents.get(c)!),
    (...out) =>
      coordinatesOf(inner.map((c) => extents.get(c)!)).reduce((sum, rest) => {
        const place = (c: string) => [...out, ...rest][all.indexOf(c)]!;
        const value = terms.reduce((product, term, k) => {
          const own = [...term].map((c, i) => (xs[k]!.shape[i] === 1 ? 0 : place(c)));
          return product * at(xs[k]!, ...own);
        }, 1);
        return sum + value;
      }, 0),
  );
}

const equations: readonly [string, ...number[][]][] = [
  ["ij,jk->ik", [3, 4], [4, 2]],
  ["ij,kj->ki", [3, 4], [2, 4]],
  ["bqhd,bkhd->bhqk", [2, 3, 2, 4], [2, 5, 2, 4]],
  ["ii->i", [3, 3]],
  ["ii->", [3, 3]],
  ["ijk->ki", [2, 3, 4]],
  ["i,j->ij", [3], [2]],
  ["i,i,i->i", [3], [3], [3]],
  ["ij,jk,kl->il", [2, 3], [3, 4], [4, 2]],
  ["bi,ij,bj->b", [2, 3], [3, 4], [2, 4]],
  ["ij,jk->ik", [3, 1], [1, 2]],
  ["ij,jk->ik", [3, 0], [0, 2]],
];
for (const [equation, ...shapes] of equations)
  test(`einsum ${equation} of ${shapes.map((s) => `[${s}]`)} is its sum of products`, () =>
    agrees(equation, {
      of: (...xs) => ir.einsum(equation, ...xs),
      oracle: (...xs) => sums(equation, ...xs),
      inputs: shapes.map((s, k) => sample(s, k + 1)),
      symbols: equation
        .split("->")[0]!
        .split(",")
        .map((t) => [...t].map((c) => c.toUpperCase())),
      gradients: shapes.map((_, k) => k),
    }));

test("an ellipsis broadcasts, and letters that appear once are the output in order", () => {
  const [a, b] = [tensor([[[1, 2]], [[3, 4]]]), tensor([[1], [2]])];
  assert.equal(numbersOf(ir.einsum("...ij,jk", a, b)), [5, 11]);
  assert.equal(numbersOf(ir.einsum("ba", tensor([[1, 2], [3, 4]]))), [1, 3, 2, 4]); // biome-ignore format: one line
});

const kernelsOf = (...outputs: Tensor[]): number => {
  const inputs = new Set<Tensor>();
  const visit = (t: Tensor): void => {
    if (t.op === "input") inputs.add(t);
    for (const o of t.operands) visit(o);
  };
  outputs.forEach(visit);
  const program = {
    inputs: [...inputs],
    outputs: outputs.map((value, i) => ({ name: `y${i}`, value })),
    updates: [],
  };
  return compileProgram(program, { target: "js" }).artifact.plan.steps.length;
};

test("an einsum of two operands is one kernel, whichever side its axes come from", () => {
  const x = (name: string, ...shape: number[]) => input(name, "f32", shape);
  for (const equation of ["ij,jk->ik", "ij,kj->ki", "ij,jk->ki", "bij,bjk->bik", "bqhd,bkhd->bhqk", "i,i->", "i,j->ij"]) {
    const [a, b] = equation.split("->")[0]!.split(",") as [string, string];
    const operands = [x("a", ...[...a].map(() => 8)), x("b", ...[...b].map(() => 8))];
    assert.is(kernelsOf(ir.einsum(equation, ...operands)), 1, equation);
  } // biome-ignore format: a list
});

test("einsum says what does not fit", () => {
  const x = tensor([[1, 2], [3, 4]]); // biome-ignore format: one line
  const message = (run: () => unknown): string => {
    try {
      run();
    } catch (e) {
      return (e as Error).message;
    }
    return "nothing was thrown";
  };
  assert.is(
    message(() => ir.einsum("ij,jk->ik", x)),
    "einsum: the equation has 2 terms for 1 inputs\n  give a term for each input, commas between",
  );
  assert.is(
    message(() => ir.einsum("ijk->i", x)),
    'einsum: term "ijk" does not name the 2 axes of input 0',
  );
  assert.is(
    message(() => ir.einsum("ij->k", x)),
    'einsum: no input has "k" of the output',
  );
  assert.is(
    message(() => ir.einsum("ij,jk->ik", x, tensor([[1], [2], [3]]))),
    'einsum: the extents of "j" are [2] and [3]',
  );
});

for (const [n, m] of [[3, 4], [4, 2], [1, 1], [0, 3]] as const) // biome-ignore format: a list
  for (const k of [-1, 0, 2])
    test(`tril, triu and diagonal ${k} of [${n},${m}]`, async () => {
      const common = { inputs: [sample([n, m])], symbols: [["N", "M"]], gradients: [0] };
      const kept = (holds: (d: number) => boolean) => (x: Nd) =>
        build([n, m], (i, j) => (holds(j! - i!) ? at(x, i!, j!) : 0));
      await agrees("tril", { of: (x) => ir.tril(x, k), oracle: kept((d) => d <= k), ...common });
      await agrees("triu", { of: (x) => ir.triu(x, k), oracle: kept((d) => d >= k), ...common });
      const count = Math.max(0, k < 0 ? Math.min(n + k, m) : Math.min(n, m - k));
      await agrees("diagonal", {
        of: (x) => ir.diagonal(x, k),
        oracle: (x) => build([count], (i) => at(x, i! + Math.max(0, -k), i! + Math.max(0, k))),
        ...common,
      });
    });

test("diag makes a matrix of a vector, traceOf sums the diagonal", async () => {
  await agrees("diag", {
    of: (x) => ir.diag(x, 1),
    oracle: (x) => build([4, 4], (i, j) => (j === i! + 1 ? x.data[i!]! : 0)),
    inputs: [sample([3])],
    symbols: [["N"]],
    gradients: [0],
  });
  for (const m of [3, 2])
    await agrees("trace", {
      of: (x) => ir.traceOf(x),
      oracle: (x) =>
        nd([], [Array.from({ length: m }, (_, i) => at(x, i, i)).reduce((a, b) => a + b)]),
      inputs: [sample([3, m])],
      symbols: [["N", m]],
      gradients: [0],
    });
  assert.equal(numbersOf(ir.tri(2, 3)), [1, 0, 0, 1, 1, 0]);
});

test("nonzero gives the places in order, fills what is missing and leaves out the rest", async () => {
  const x = nd([2, 3], [0, 5, 0, 7, 0, 9]);
  for (const size of [0, 2, 3, 5])
    await agrees("nonzero", {
      of: (t) => ir.nonzero(t, { size }),
      oracle: (t) => {
        const places = coordinatesOf(t.shape).filter((c) => at(t, ...c) !== 0);
        return build([size, 2], (i, k) => places[i!]?.[k!] ?? -1);
      },
      inputs: [x],
      symbols: [["N", "M"]],
    });
  assert.equal(numbersOf(ir.nonzero(ir.zeros([0, 2]), { size: 1, fill: 7 })), [7, 7]);
});

for (const data of [[3, 1, 3, 2, 1], [5], []] as const)
  test(`unique of [${data}] sorts, counts and numbers`, () =>
    agrees("unique", {
      of: (x) => {
        const { values, indices, inverse, counts } = ir.unique(x, { size: 4 });
        return [values, indices, inverse, counts];
      },
      oracle: (x) => {
        const distinct = [...new Set(x.data)].sort((a, b) => a - b);
        return [
          build([4], (i) => distinct[i!] ?? 0),
          build([4], (i) => (i! < distinct.length ? x.data.indexOf(distinct[i!]!) : -1)),
          build(x.shape, (i) => distinct.indexOf(x.data[i!]!)),
          build([4], (i) => x.data.filter((v) => v === distinct[i!]).length),
        ];
      },
      inputs: [nd([data.length], data)],
      ...(data.length ? { symbols: [["N"]] } : {}),
    }));

test("unique of rows, and in the order of appearance", () => {
  const x = tensor([[2, 1], [0, 3], [2, 1]]); // biome-ignore format: one line
  const rows = ir.unique(x, { size: 2, axis: 0 });
  assert.equal(numbersOf(rows.values), [0, 3, 2, 1]);
  assert.equal(numbersOf(rows.counts), [1, 2]);
  assert.equal(numbersOf(ir.unique(tensor([3, 1, 3]), { size: 2, sorted: false }).values), [3, 1]);
});

/** By the first row. */
function minors(m: readonly (readonly number[])[]): number {
  if (!m.length) return 1;
  return m[0]!.reduce(
    (sum, v, j) =>
      sum + (j % 2 ? -v : v) * minors(m.slice(1).map((r) => r.filter((_, k) => k !== j))),
    0,
  );
}
for (const n of [0, 1, 2, 4])
  test(`det and slogdet of matrices of ${n} rows`, async () => {
    const rows = (x: Nd, b: number) =>
      Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => at(x, b, i, j)));
    const common = {
      inputs: [sample([2, n, n])],
      symbols: [["B", n, n]],
      gradients: n ? [0] : [],
      tolerance: 10,
    };
    await agrees("det", {
      of: ir.det,
      oracle: (x) => build([2], (b) => minors(rows(x, b!))),
      ...common,
    });
    await agrees("slogdet", {
      of: (x) => [ir.slogdet(x).logAbs, ir.slogdet(x).sign],
      oracle: (x) => [
        build([2], (b) => Math.log(Math.abs(minors(rows(x, b!))))),
        build([2], (b) => Math.sign(minors(rows(x, b!)))),
      ],
      ...common,
    });
  });

test("maxPoolWithIndices tells the place in the plane, and maxUnpool puts the values back", async () => {
  const inputs = [sample([2, 2, 5, 4])];
  const options = { size: 2, stride: 2, padding: 1 } as const;
  const pooled = (x: Nd): [Nd, Nd] => {
    const best = (n: number, c: number, i: number, j: number): [number, number] => {
      let found: [number, number] = [Number.NEGATIVE_INFINITY, -1];
      for (const p of [2 * i - 1, 2 * i])
        for (const q of [2 * j - 1, 2 * j])
          if (p >= 0 && q >= 0 && p < 5 && q < 4 && at(x, n, c, p, q) > found[0])
            found = [at(x, n, c, p, q), p * 4 + q];
      return found;
    };
    return [0, 1].map((k) => build([2, 2, 3, 3], (n, c, i, j) => best(n!, c!, i!, j!)[k]!)) as [
      Nd,
      Nd,
    ];
  };
  await agrees("maxPoolWithIndices", {
    of: (x) => Object.values(ir.maxPoolWithIndices(x, options)),
    oracle: pooled,
    inputs,
    symbols: [["N", "C", "H", "W"]],
    gradients: [0],
  });
  await agrees("maxUnpool", {
    of: (x) => {
      const { values, indices } = ir.maxPoolWithIndices(x, { size: 2 });
      return ir.maxUnpool(values, indices, { size: 2, outputSize: x.shape.slice(2) });
    },
    oracle: (x) =>
      build(x.shape, (n, c, i, j) => {
        const [p, q] = [i! - (i! % 2), j! - (j! % 2)];
        if (p + 1 >= 5) return 0;
        const window = [at(x, n!, c!, p, q), at(x, n!, c!, p, q + 1), at(x, n!, c!, p + 1, q), at(x, n!, c!, p + 1, q + 1)];
        return at(x, n!, c!, i!, j!) === Math.max(...window) ? Math.max(...window) : 0;
      }), // biome-ignore format: the window
    inputs,
    symbols: [["N", "C", "H", "W"]],
    gradients: [0],
  });
  assert.is(sizeOfNd([2, 3]), 6);
});

test.run();
