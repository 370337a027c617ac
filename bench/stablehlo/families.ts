/** Programs of one family of ops each, with gradients where there are any: what an engine must agree on beside networks. */
import {
  argSort,
  avgPool,
  concat,
  cond,
  convolution,
  cumsum,
  type Dtype,
  dtypes,
  gather,
  grad,
  input,
  makeNode,
  maxPool,
  random,
  scan,
  scatter,
  sort,
  type Tensor,
  topK,
  trace,
  whileLoop,
} from "@kiln-ml/ir";
import type { Program } from "../../compiler/src/program.ts";
import { casesOf, operandsOf, size } from "../../tests/printers/records.ts";

export interface Family {
  readonly program: Program;
  /** Numbers of inputs by name, where noise will not do. */
  readonly numbers?: Readonly<Record<string, readonly number[]>>;
  readonly dims?: Readonly<Record<string, number>>;
}

const f32 = (name: string, ...shape: number[]): Tensor => input(name, "f32", shape);

function program(inputs: readonly Tensor[], define: () => readonly Tensor[]): Program {
  const { value, updates } = trace(define);
  const outputs = value.map((t, i) => ({ name: `y${i}`, value: t }));
  return { inputs, outputs, updates: [...updates] };
}

/** The values, and the gradients of the sum of their squares. */
function withGradients(inputs: readonly Tensor[], define: () => readonly Tensor[]): Program {
  return program(inputs, () => {
    const ys = define();
    const loss = ys.map((y) => y.mul(y).sum()).reduce((a, b) => a.add(b));
    const floats = inputs.filter((t) => t.dtype === "f32");
    return [...ys, ...grad(loss, floats)];
  });
}

/** Engines flush subnormal operands of f32 and bf16, as docs/stablehlo.md says: nothing is asked of them. */
const normal = (x: number): number => (Math.abs(x) < 2 ** -126 ? 0 : x);

/** Every elementwise op that takes `dtype`, on extremes. */
function elementwise(dtype: Dtype): Family {
  const numbers: Record<string, number[]> = {};
  const inputs: Tensor[] = [];
  const outputs = casesOf(dtypes)
    .filter((c) => c.dtypes.at(-1) === dtype)
    .map((c) => {
      const name = c.name.replaceAll(" ", "-");
      const operands = c.dtypes.map((d, k) => {
        const x = input(`${name}-${k}`, d, [size]);
        numbers[`${name}-${k}`] = operandsOf(c, true)[k]!.map(normal);
        inputs.push(x);
        return x;
      });
      const parts = { op: c.record.name, operands, attrs: {}, dtype: c.result, shape: [size] };
      return { name, value: makeNode(parts) };
    });
  return { program: { inputs, outputs, updates: [] }, numbers };
}

function draws(): Family {
  const key = input("key", "u32", [2]);
  const define = () => {
    const [a, b] = random.split(key) as [Tensor, Tensor];
    const mask = random.uniform(a, [33, 7]).less(0.25);
    return [random.bits(key, [2, 3, 5]), mask, random.normal(b, [64]), random.bits(key, [])];
  };
  return { program: program([key], define), numbers: { key: [123456789, 4294967295] } };
}

const index = (name: string, n: number): Tensor => input(name, "i32", [n]);

function scatters(): Family {
  const [x, u, i] = [f32("x", 5, 3), f32("u", 8, 3), index("i", 8)];
  const modes = ["add", "mul", "max", "min", "set"] as const;
  const define = () => modes.map((mode) => scatter(x, u, [i], [0], mode));
  return { program: withGradients([x, u, i], define), numbers: { i: [0, 4, 4, -1, 9, 2, 0, 4] } };
}

function gathers(): Family {
  const [x, i, j] = [f32("x", 5, 3, 4), index("i", 6), index("j", 6)];
  const define = () => [gather(x, [i, j], [2, 0]), x.take(i, 1)];
  return {
    program: withGradients([x, i, j], define),
    numbers: { i: [0, 2, -3, 7, 1, 1], j: [4, 0, 1, 2, 9, -1] },
  };
}

function sorting(): Family {
  const x = input("x", "f32", [2, 8]);
  const define = () => [
    argSort(x),
    argSort(x, 1, { descending: true }),
    sort(x, 0),
    topK(x, 3).indices,
    x.argMax(1),
    x.argMin(1),
    x.argMax(),
    x.max(1),
  ];
  const numbers = [1, NaN, -0, 0, 3, 3, -Infinity, NaN, 2, 2, 1, 1, 5, 5, -5, 0];
  return { program: program([x], define), numbers: { x: numbers } };
}

function cumulatives(): Family {
  const x = f32("x", 3, 13);
  const define = () =>
    [false, true].flatMap((reverse) =>
      [false, true].flatMap((exclusive) => [
        x.cumsum(1, { reverse, exclusive }),
        x.cumprod(0, { reverse, exclusive }),
        x.cummax(1, { reverse, exclusive }).maximum(-9),
        x.cummin(1, { reverse, exclusive }).minimum(9),
      ]),
    );
  return { program: withGradients([x], define) };
}

function reductions(): Family {
  const [x, k, b] = [f32("x", 3, 4, 5), input("k", "i8", [3, 5]), input("b", "bool", [3, 5])];
  const define = () => [
    ...withGradients([x], () => [
      x.sum([0, 2]),
      x.prod(1),
      x.max([1]),
      x.min([0, 1, 2]),
    ]).outputs.map((o) => o.value),
    k.sum(),
    k.prod(0),
    k.max(1),
    k.argMin(0),
    b.any(1),
    b.all(0),
    b.sum(),
  ];
  return { program: program([x, k, b], define) };
}

function windows(): Family {
  const x = f32("x", 2, 3, 7, 8);
  const define = () => [
    maxPool(x, { size: [2, 3], stride: [2, 1] }),
    avgPool(x, { size: 3, stride: 2, padding: 1 }),
    x.windows({ size: [2, 2], stride: [2, 1], dilation: [1, 2] }),
  ];
  return { program: withGradients([x], define) };
}

function convolutions(): Family {
  const [x, w, v] = [f32("x", 2, 4, 7, 6), f32("w", 6, 2, 3, 2), f32("v", 3, 4, 3, 3)];
  const define = () => [
    convolution(x, w, { stride: [2, 1], padding: 1, groups: 2 }),
    convolution(x, v, { dilation: [2, 1] }),
  ];
  return { program: withGradients([x, w, v], define) };
}

function products(): Family {
  const [a, b, k] = [f32("a", 3, 4, 5), f32("b", 3, 5, 2), input("k", "i32", [4, 4])];
  const define = () => {
    const halves = [
      a.convert("f16").matmul(b.convert("f16")),
      a.convert("bf16").matmul(b.convert("bf16")),
    ];
    return [
      ...withGradients([a, b], () => [a.matmul(b)]).outputs.map((o) => o.value),
      k.matmul(k),
      ...halves.map((t) => t.convert("f32")),
    ];
  };
  return { program: program([a, b, k], define) };
}

function movement(): Family {
  const x = f32("x", 3, 4, 5);
  const define = () => [
    x.transpose([2, 0, 1]),
    x.slice([1, 0, 1], [3, 4, 5], [1, 2, 3]),
    x.pad(1.5, [1, -1, 0], [-1, 2, 3], [0, 1, 2]),
    x.reverse([0, 2]).reshape([12, 5]),
    concat([x, x.mul(2)], 1),
  ];
  return { program: withGradients([x], define) };
}

function scans(): Family {
  const [h, xs, w] = [f32("h", 2, 3), f32("xs", 5, 2, 3), f32("w", 3, 3)];
  const define = () =>
    [false, true].flatMap((reverse) => {
      const out = scan(
        [h],
        [xs],
        ([c], [x], i) => {
          const next = c!.matmul(w).add(x!).tanh();
          return { carry: [next], ys: [next.mul(i.convert("f32"))] };
        },
        { reverse },
      );
      return [...out.carry, ...out.ys];
    });
  return { program: withGradients([h, xs, w], define) };
}

/** The numbers of steps of Collatz's sequences, one loop in another. */
function collatz(): Family {
  const n = input("n", "i32", [6]);
  const steps = (first: Tensor): Tensor =>
    whileLoop(
      [first, first.mul(0)],
      (x) => x!.greater(1),
      (x, count) => {
        const odd = x!.rem(2).equal(1);
        const [next] = cond(
          odd,
          () => [x!.mul(3).add(1)],
          () => [x!.div(2)],
        );
        return [next!, count!.add(1)];
      },
    )[1]!;
  const define = () => scan([], [n], (_c, [x]) => ({ carry: [], ys: [steps(x!)] })).ys;
  return { program: program([n], define), numbers: { n: [1, 2, 3, 7, 27, 97] } };
}

/** A loop of a bounded number of steps, which has a gradient, and a branch on a value. */
function loops(): Family {
  const [x, flag] = [f32("x", 4), input("flag", "bool", [])];
  const define = () => {
    const [doubled] = whileLoop(
      [x],
      (v) => v!.abs().sum().less(40),
      (v) => [v!.mul(1.5)],
      { maxTrips: 12 },
    );
    const [picked] = cond(
      flag,
      () => [x.exp()],
      () => [x.mul(x)],
    );
    return [doubled!, picked!];
  };
  return { program: withGradients([x, flag], define), numbers: { flag: [1] } };
}

function symbols(): Family {
  const x = input("x", "f32", ["N", 3]);
  const define = () => [x.mean(0), cumsum(x, 0), x.reshape([-1])];
  return { program: withGradients([x], define), dims: { N: 7 } };
}

const own: Readonly<Record<string, () => Family>> = {
  random: draws,
  scatter: scatters,
  gather: gathers,
  sort: sorting,
  cumulative: cumulatives,
  reduce: reductions,
  windows,
  convolution: convolutions,
  product: products,
  movement,
  scan: scans,
  collatz,
  loops,
  symbols,
};

export const families: Readonly<Record<string, () => Family>> = {
  ...Object.fromEntries(dtypes.map((d) => [`elementwise-${d}`, () => elementwise(d)])),
  ...own,
};
