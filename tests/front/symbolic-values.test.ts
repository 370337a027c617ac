/**
 * JavaScript on what stands for values: operators and control flow of a script throw or are right, never quietly wrong. What is
 * static in a call, what a symbol may not hide, what is read when.
 */
import {
  asStatic,
  compile,
  DtypeError,
  dim,
  GraphError,
  nn,
  optim,
  setDefaultTarget,
  type Tensor,
  type TensorLike,
  tensor,
} from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { rejection } from "./net.ts";

const values = async (t: Tensor | Promise<Tensor>): Promise<number[]> => [
  ...(await (await t).data()),
];
const asNumber = (x: unknown): number => x as number;

/** Runs `body` and returns what was said with console.warn. */
async function said(body: () => Promise<void>): Promise<string[]> {
  const { warn } = console;
  const lines: string[] = [];
  console.warn = (line: string) => lines.push(line);
  try {
    await body();
  } finally {
    console.warn = warn;
  }
  return lines;
}

const misuses: readonly [string, (x: number) => unknown][] = [
  ["x * 2", (x) => x * 2],
  ["x + 1", (x) => x + 1],
  ["-x", (x) => -x],
  ["x > 0", (x) => x > 0],
  ["x <= 0", (x) => x <= 0],
  ["x ** 2", (x) => x ** 2],
  ["x | 0", (x) => x | 0],
  ["Math.max(x, 1)", (x) => Math.max(x, 1)],
  ["Math.sqrt(x)", (x) => Math.sqrt(x)],
  ["Number(x)", (x) => Number(x)],
  ["a loop up to x", (x) => Array.from({ length: x })],
];
for (const [text, use] of misuses)
  test(`${text} throws for a tensor and for a symbolic dim`, () => {
    for (const [x, hint] of [
      [tensor([1, 2]), /x\.mul\(y\).*where.*scan/],
      [tensor([1]).sum(), /x\.mul\(y\).*where.*scan/],
      [dim("N"), /x\.mul\(d\).*scan/],
    ] as const)
      try {
        use(asNumber(x));
        assert.unreachable(text);
      } catch (error) {
        assert.instance(error, GraphError);
        assert.match((error as Error).message, hint);
      }
  });

test("texts stay for messages", () => {
  assert.is(`${tensor([1, 2])} ${dim("N")} ${[dim("N")]}`, "Tensor f32[2] (data) N N");
});

test("the message for an argument says how to make it static", async () => {
  const f = compile((x: Tensor, d: number) => x.mul(Math.sqrt(d)));
  // Types refuse a bare number here; a script in JavaScript has none.
  const error = await rejection(f([1], 4 as never));
  assert.instance(error, GraphError);
  assert.is(
    error.message,
    "tensor: f32[] (input arg1) is used as a number of JavaScript, which it has none of here\n  use asStatic(n) in the call for a number, x.mul(y), x.greater(y), where(c, x, y), scan for loops, or await x.item() outside of functions",
  );
  assert.equal(await values(f([1], asStatic(4))), [2]);
  assert.equal(await values(f([1], asStatic(9))), [3]);
  assert.equal(await values(f([5], asStatic(4))), [10]);
  assert.is(f.compiles, 2);
});

test("booleans and strings are static, in lists and objects too", async () => {
  const f = compile((x: Tensor, on: boolean) => (on ? x : x.neg()));
  assert.equal(await values(f([1], false)), [-1]);
  assert.equal(await values(f([1], true)), [1]);
  assert.equal(await values(f([2], false)), [-2]);
  assert.equal(await values(f([2, 3], false)), [-2, -3]);
  assert.equal(await values(f([2, 3, 4], true)), [2, 3, 4]);
  assert.is(f.compiles, 4);
  type Mode = "double" | "negate";
  const g = compile((x: Tensor, how: { mode: Mode; all: boolean }) => {
    const y = how.mode === "double" ? x.mul(2) : x.neg();
    return how.all ? y.sum() : y;
  });
  assert.equal(await values(g([1, 2], { mode: "double", all: false })), [2, 4]);
  assert.equal(await values(g([1, 2], { mode: "negate", all: false })), [-1, -2]);
  assert.equal(await values(g([1, 2], { mode: "negate", all: true })), [-3]);
  assert.is(g.compiles, 3);
});

test("static lists, zeros of both signs, and values that asStatic does not take", async () => {
  const f = compile((x: Tensor, by: readonly number[]) => x.mul(by[0]!).add(by.length));
  assert.equal(await values(f([1], asStatic([3, 1]))), [5]);
  assert.equal(await values(f([1], asStatic([3]))), [4]);
  const g = compile((x: Tensor, z: number) => x.mul(1 / z));
  assert.equal(await values(g([1], asStatic(0))), [Infinity]);
  assert.equal(await values(g([1], asStatic(-0))), [-Infinity]);
  assert.throws(
    () => asStatic(new Map()),
    /^asStatic: takes numbers, strings, booleans, and lists and objects of them, got a Map$/,
  );
});

test("declared inputs have static values among them, and a declared bool is a tensor", async () => {
  const f = compile((x: Tensor, on: boolean) => (on ? x : x.neg()), { inputs: [["N"], false] });
  assert.equal(await values(f([1, 2], false)), [-1, -2]);
  const error = await rejection(f([1], true));
  assert.is(error.message, "run: argument 1 of program is declared as false");
  const artifact = await f.artifact();
  assert.is(artifact.signature.inputs.length, 1);
  const g = compile((on: Tensor) => on.not(), { inputs: [{ shape: [], dtype: "bool" }] });
  assert.equal(await values(g(tensor(true))), [0]);
  assert.equal(await values(g(true as unknown as TensorLike)), [0]);
});

test("item and data throw at once while a function is traced", async () => {
  for (const what of ["item", "data"] as const) {
    const f = compile((x: Tensor) => (asNumber(x.sum()[what]()) > 0 ? x.mul(100) : x.neg()));
    const error = await rejection(f([1, 2]));
    assert.instance(error, GraphError);
    assert.is(
      error.message,
      `${what}: Tensor f32[] (reduceSum) has no value while a function is traced\n  return it from the function and read it there`,
    );
  }
});

test("arithmetic on an extent compiles for the extents at hand, and says so once", async () => {
  const lines = await said(async () => {
    const f = compile(function attend(x: Tensor) {
      return x.mul(1 / Math.sqrt(asNumber(x.shape[0])));
    });
    for (const n of [4, 1, 9, 4])
      assert.equal(
        await values(f(new Float32Array(n).fill(6))),
        new Array(n).fill(6 / Math.sqrt(n)),
      );
    assert.is(f.compiles, 3);
  });
  assert.equal(lines, [
    "compile: attend is compiled for these extents alone: with symbols in their place dim: N0 is used as a number of JavaScript, which it is only at a run",
  ]);
});

test("a branch on an extent is right whatever came before", async () => {
  const branches: readonly ((n: unknown) => boolean)[] = [
    (n) => n === 3,
    (n) => n !== 3,
    (n) => [2, 3].includes(n as number),
    (n) => new Set<unknown>([5]).has(n),
    (n) => Number.isInteger(n),
    (n) => `${n}`.length === 1,
  ];
  for (const [i, holds] of branches.entries())
    for (const order of [
      [3, 4, 5, 3],
      [4, 3, 5],
      [5, 4, 3, 2, 1],
      [12, 4, 3],
    ]) {
      const lines = await said(async () => {
        const f = compile((x: Tensor) => (holds(x.shape[0]) ? x.neg() : x.add(1)));
        for (const n of order) {
          const want = holds(n) ? -1 : 2;
          const got = await values(f(new Float32Array(n).fill(1)));
          assert.equal(got, new Array(n).fill(want), `branch ${i}, ${order}, at ${n}`);
        }
      });
      assert.ok(lines.length <= 1, lines.join("\n"));
    }
});

test("a loop over an extent takes its turns", async () => {
  await said(async () => {
    const f = compile((x: Tensor) => {
      let y = x.sum();
      for (let i = 0; i < asNumber(x.shape[0]); i++) y = y.add(1);
      return y;
    });
    for (const n of [2, 3, 1]) assert.is(await (await f(new Float32Array(n))).item(), n);
  });
});

class Block extends nn.Module {
  norm = new nn.LayerNorm(4);
  attention = new nn.MultiHeadAttention(4, 2);
  drop = new nn.Dropout(0.1);
  override forward(x: Tensor): Tensor {
    return x.add(this.drop.forward(this.attention.forward(this.norm.forward(x), { causal: true })));
  }
}

test("layers and training steps have one program with symbols for all extents, and nothing is said", async () => {
  const lines = await said(async () => {
    const block = new Block();
    const opt = new optim.AdamW(block.parameters(), { lr: 0.01, clipNorm: 1 });
    const step = compile((x: Tensor) => {
      const loss = block.forward(x).square().mean();
      opt.step(loss);
      return loss;
    });
    for (const [b, t] of [
      [3, 5],
      [2, 7],
      [1, 4],
      [4, 1],
      [1, 1],
      [2, 2],
      [4, 4],
      [5, 6],
    ] as const)
      await step(tensor(new Float32Array(b * t * 4).fill(0.1), { shape: [b, t, 4] }));
    // One more where the length is 1.
    assert.is(step.compiles, 3);
    const image = new nn.Sequential([
      new nn.Conv2d(1, 2, 3, { padding: 1 }),
      new nn.BatchNorm2d(2),
      new nn.MaxPool2d(2),
      (x: Tensor) => x.mean([2, 3]),
      new nn.Linear(2, 3),
    ]);
    const classify = compile((x: Tensor, y: Tensor) =>
      nn.crossEntropy(image.forward(x), y, { labelSmoothing: 0.1 }),
    );
    for (const n of [4, 2, 1, 3])
      await classify(tensor(new Float32Array(n * 64), { shape: [n, 1, 8, 8] }), new Int32Array(n));
    assert.is(classify.compiles, 2);
    const lstm = new nn.LSTM(2, 3);
    const read = compile((x: Tensor) => lstm.forward(x).y);
    for (const [b, t] of [
      [2, 3],
      [3, 4],
      [1, 1],
      [1, 5],
    ] as const)
      await read(tensor(new Float32Array(b * t * 2), { shape: [b, t, 2] }));
    assert.is(read.compiles, 2);
  });
  assert.equal(lines, []);
});

test("Math.random in a function is said once, and does not keep it from symbols", async () => {
  const lines = await said(async () => {
    const f = compile((x: Tensor) => x.mul(0).add(Math.random()));
    const first = await values(f([1]));
    assert.equal(await values(f([2])), first);
    const wide = await values(f([1, 2]));
    assert.equal(await values(f([1, 2, 3])), [...wide, wide[0]]);
    assert.is(f.compiles, 2);
  });
  assert.ok(lines.length <= 1 && lines.every((line) => line.startsWith("compile: Math.random is")));
});

test("a feed may change as soon as the call is made", async () => {
  for (const target of ["js", "wasm"] as const) {
    const f = compile((x: Tensor) => x.mul(1), { target });
    const buffer = new Float32Array(1);
    const shaped = { data: new Float32Array(2), shape: [1, 2] };
    const list = [[0, 0]];
    const calls: Promise<Tensor>[] = [];
    for (let i = 0; i < 3; i++) {
      buffer[0] = i;
      shaped.data.fill(i);
      list[0]![1] = i;
      calls.push(f(buffer), f(shaped), f(list));
    }
    buffer[0] = 9;
    const got = await Promise.all(calls.map(values));
    assert.equal(got, [[0], [0, 0], [0, 0], [1], [1, 1], [0, 1], [2], [2, 2], [0, 2]]);
  }
});

test("clamped bytes, typed arrays in lists, and multiples of symbols are taken", async () => {
  const f = compile((x: Tensor) => x.add(1));
  const y = await f(Uint8ClampedArray.of(3, 4));
  assert.is(y.dtype, "u8");
  assert.equal(await values(y), [4, 5]);
  const rows = tensor([Float32Array.of(1, 2), Float32Array.of(3, 4)]);
  assert.equal(
    [rows.shape, await values(rows)],
    [
      [2, 2],
      [1, 2, 3, 4],
    ],
  );
  assert.is(tensor([[Int32Array.of(7)]]).dtype, "i32");
  assert.equal(await values(f([Float32Array.of(1, 2), Float32Array.of(3, 4)])), [2, 3, 4, 5]);
  const g = compile((x: Tensor) => x.reshape([2, -1]).sum(0), { inputs: [["2*H"]] });
  assert.equal(await values(g([1, 2, 3, 4])), [4, 6]);
  const h = compile((x: Tensor, y: Tensor) => x.sum().add(y.sum()), { inputs: [["2*H+1"], ["H"]] });
  assert.equal(await values(h([1, 2, 3], [1])), [7]);
  assert.is((await rejection(g([1, 2, 3]))).name, "ShapeError");
});

test("a list is not cut to integers", async () => {
  const f = compile((x: Tensor) => x.add(1), { inputs: [{ shape: ["N"], dtype: "i32" }] });
  const error = await rejection(f([1.5, 2]));
  assert.instance(error, DtypeError);
  assert.is(error.message, "run: input arg0 must be i32, got 1.5");
  assert.equal(await values(f([1, 2])), [2, 3]);
  for (const [list, dtype] of [
    [[1.5], "i32"],
    [[300], "u8"],
    [[-1], "u32"],
    [[Number.NaN], "i8"],
  ] as const)
    assert.throws(
      () => tensor(list, { dtype }),
      new RegExp(`^tensor: elements must be ${dtype}, got ${list[0]}$`),
    );
  assert.throws(() => tensor([1, "a"] as never), /^tensor: element \[1\] is "a", not a number/);
});

test("what auto placed follows a function whose target has a name", async () => {
  setDefaultTarget("wasm");
  try {
    const net = new Block();
    const opt = new optim.SGD(net.parameters(), { lr: 0.1, momentum: 0.9 });
    const step = compile((x: Tensor) => {
      const loss = net.forward(x).square().mean();
      opt.step(loss);
      return loss;
    });
    const x = tensor(new Float32Array(8).fill(0.1), { shape: [1, 2, 4] });
    await step(x);
    const named = compile((y: Tensor) => net.forward(y), { target: "js" });
    await named(x);
    await step(x);
    await named(x);
  } finally {
    setDefaultTarget("auto");
  }
});

test.run();
