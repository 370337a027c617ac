/**
 * Dropout and key streams in the bodies of loops and branches: every step, every draw of a step and every run has numbers of its own, on
 * all targets of the CPU; a loop whose steps nobody counts is refused.
 */
import {
  concat,
  cond,
  GraphError,
  grad,
  scan,
  type Tensor,
  tensor,
  trace,
  whileLoop,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { compile, loadState, stateBytes } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const steps = tensor([0, 1, 2]);
const one = (key: Tensor): Tensor => key.expandDims(0);

/** Keys of two draws a step, and before and after the loop: u32[…, 2]. */
function keysOfLoop(stream: nn.KeyStream): Tensor {
  const first = one(stream.next());
  const { ys } = scan([], [steps], () => ({ carry: [], ys: [stream.next(), stream.next()] }));
  return concat([first, ...ys, one(stream.next())]);
}

/** A loop in a loop, with a draw in each, and one more after it. */
function keysOfLoops(stream: nn.KeyStream): Tensor {
  const { ys } = scan([], [steps], () => {
    const own = one(stream.next());
    const inner = scan([], [steps], () => ({ carry: [], ys: [stream.next()] })).ys[0]!;
    return { carry: [], ys: [concat([own, inner, one(stream.next())])] };
  });
  return concat([ys[0]!.reshape([-1, 2]), one(stream.next())]);
}

/** Branches that draw one and two keys, and what is drawn after them. */
function keysOfBranches(stream: nn.KeyStream, flag: Tensor): Tensor {
  const [taken] = cond(
    flag,
    () => [concat([one(stream.next()), one(stream.next())])],
    () => [concat([one(stream.next()), tensor([[7, 7]], { dtype: "u32" })])],
  );
  return concat([taken!, one(stream.next())]);
}

for (const device of ["js", "wasm"] as const) {
  const runsOf = async (build: (stream: nn.KeyStream) => Tensor, seed = 3): Promise<string[]> => {
    const stream = new nn.KeyStream({ seed });
    const run = compile(() => build(stream), { target: device });
    const keys: string[] = [];
    for (const _ of [1, 2, 3]) {
      const data = await (await run()).data();
      for (let i = 0; i < data.length; i += 2) keys.push(`${data[i]},${data[i + 1]}`);
    }
    return keys;
  };

  for (const [name, build, each] of [
    ["a loop", keysOfLoop, 8],
    ["a loop in a loop", keysOfLoops, 16],
  ] as const)
    test(`${device}: every draw of ${name}, at every run, is another, and a seed gives them again`, async () => {
      const keys = await runsOf(build);
      assert.is(keys.length, 3 * each);
      assert.is(new Set(keys).size, keys.length);
      assert.equal(await runsOf(build), keys);
    });

  test(`${device}: a branch moves the counter by what either draws`, async () => {
    for (const flag of [true, false]) {
      const keys = await runsOf((stream) => keysOfBranches(stream, tensor(flag)));
      const own = keys.filter((key) => key !== "7,7");
      assert.is(own.length, flag ? 9 : 6);
      assert.is(new Set(own).size, own.length);
    }
  });

  test(`${device}: dropout in a scan has a mask for each step and run, and its gradient has the same`, async () => {
    const drop = new nn.Dropout(0.5, { seed: 1 });
    const run = compile(
      (x: Tensor) => {
        const { ys } = scan([], [x], (_, [t]) => ({ carry: [], ys: [drop.forward(t!)] }));
        return { y: ys[0]!, dx: grad(ys[0]!.sum(), [x])[0]! };
      },
      { target: device },
    );
    const rows = new Set<string>();
    const ones = tensor(new Float32Array(3 * 64).fill(1), { shape: [3, 64] });
    for (const _ of [1, 2]) {
      const { y, dx } = await run(ones);
      const data = [...(await y.data())];
      assert.equal([...(await dx.data())], data);
      assert.ok(data.every((v) => v === 0 || v === 2) && data.includes(0) && data.includes(2));
      for (let i = 0; i < 3; i++) rows.add(data.slice(64 * i, 64 * (i + 1)).join());
    }
    assert.is(rows.size, 6);
    drop.eval();
    assert.equal([...(await (await run(ones)).y.data())], new Array(192).fill(1));
  });
}

test("the number of steps may be a symbol", async () => {
  const stream = new nn.KeyStream({ seed: 2 });
  const run = compile((x: Tensor) => {
    const { ys } = scan([], [x], () => ({ carry: [], ys: [stream.next(), stream.next()] }));
    return concat(ys);
  });
  const keys: string[] = [];
  for (const length of [2, 5, 3, 1]) {
    const data = await (await run(tensor(new Float32Array(length)))).data();
    for (let i = 0; i < data.length; i += 2) keys.push(`${data[i]},${data[i + 1]}`);
  }
  assert.is(new Set(keys).size, 22);
});

test("a loop whose steps nobody counts says so, and other assignments in a body are still refused", () => {
  const stream = new nn.KeyStream({ seed: 2 });
  assert.throws(
    () =>
      trace(() =>
        whileLoop(
          [tensor(0)],
          (n) => n.less(3),
          (n) => [n.add(stream.next().sum().convert("f32"))],
        ),
      ),
    (e: Error) =>
      e instanceof GraphError &&
      e.message ===
        "whileLoop: the body draws random numbers from key, but how often it runs is not known\n  use scan, or carry a key",
  );
  const norm = new nn.BatchNorm1d(1);
  assert.throws(
    () =>
      trace(() =>
        scan([], [tensor([[[1], [2]]])], (_, [t]) => ({ carry: [], ys: [norm.forward(t!)] })),
      ),
    /scan: the body assigns runningMean, which a region may not/,
  );
});

test("a checkpoint resumes draws of a loop", async () => {
  const [whole, other] = [new nn.KeyStream({ seed: 4 }), new nn.KeyStream({ seed: 0 })];
  const draw = async (stream: nn.KeyStream) => [
    ...(await (await compile(() => keysOfLoop(stream))()).data()),
  ];
  await draw(whole);
  await loadState(other, await stateBytes(whole));
  assert.equal(await draw(other), await draw(whole));
});

test.run();
