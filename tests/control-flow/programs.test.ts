/**
 * Programs of users with regions, through the front door: an LSTM by `scan` against the unrolled
 * one, training included, lengths that change, parameters that a body reads, loops that do nothing.
 */

import { decodeArtifact, encodeArtifact } from "@kiln-ml/artifact";
import {
  compile,
  cond,
  dim,
  grad,
  input,
  optim,
  param,
  scan,
  stack,
  type Tensor,
  tensor,
  whileLoop,
} from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { printPlan } from "../../compiler/src/plan/print-plan.ts";

const targets = ["js", "wasm"] as const;
const wave = (n: number, from = 0): Float32Array =>
  Float32Array.from({ length: n }, (_, i) => Math.sin(1.7 * (i + from)));

const [units, width] = [4, 3];

/** One step of an LSTM: gates of x and h through one matrix. */
function step(w: Tensor, b: Tensor, [h, c]: readonly Tensor[], x: Tensor): Tensor[] {
  const gates = x
    .reshape([1, width])
    .matmul(w.slice([0, 0], [width, 4 * units]))
    .add(h!.reshape([1, units]).matmul(w.slice([width, 0], [width + units, 4 * units])))
    .add(b)
    .reshape([4, units]);
  const gate = (i: number) => gates.slice([i, 0], [i + 1, units]).reshape([units]);
  const next = gate(0)
    .sigmoid()
    .mul(c!)
    .add(gate(1).sigmoid().mul(gate(2).tanh()));
  return [gate(3).sigmoid().mul(next.tanh()), next];
}

function model() {
  const w = param(
    tensor(wave((width + units) * 4 * units), { shape: [width + units, 4 * units] }),
    { name: "w" },
  );
  const b = param(tensor(wave(4 * units, 9)), { name: "b" });
  const zeros = tensor(new Float32Array(units));
  return {
    w,
    b,
    byScan(xs: Tensor): Tensor {
      const { carry, ys } = scan([zeros, zeros], [xs], (state, [x]) => {
        const next = step(w, b, state, x!);
        return { carry: next, ys: [next[0]!] };
      });
      return ys[0]!.mul(ys[0]!).mean().add(carry[1]!.sum());
    },
    unrolled(xs: Tensor): Tensor {
      let state = [zeros, zeros];
      const ys: Tensor[] = [];
      for (let t = 0; t < (xs.shape[0] as number); t++) {
        state = step(w, b, state, xs.slice([t, 0], [t + 1, width]).reshape([width]));
        ys.push(state[0]!);
      }
      const all = stack(ys);
      return all.mul(all).mean().add(state[1]!.sum());
    },
  };
}

const sequence = (length: number) => ({ data: wave(length * width, 3), shape: [length, width] });

for (const target of targets)
  test(`an LSTM by scan trains as the unrolled one does, on ${target}`, async () => {
    const losses: number[][] = [];
    for (const kind of ["byScan", "unrolled"] as const) {
      const net = model();
      const opt = new optim.SGD([net.w, net.b], { lr: 0.05, momentum: 0.9 });
      const train = compile(
        (xs: Tensor) => {
          const loss = net[kind](xs);
          opt.step(loss);
          return loss;
        },
        { target },
      );
      const row: number[] = [];
      for (let i = 0; i < 6; i++) row.push(await (await train(sequence(5))).item());
      losses.push(row);
    }
    const [scanned, unrolled] = losses as [number[], number[]];
    assert.ok(scanned[5]! < scanned[0]!, `${scanned}`);
    for (const [i, loss] of scanned.entries())
      assert.ok(Math.abs(loss - unrolled[i]!) <= 1e-4 * Math.abs(loss), `${scanned}\n${unrolled}`);
  });

for (const target of targets)
  test(`a scan over another length compiles once more, and then no other does, on ${target}`, async () => {
    const net = model();
    const f = compile((xs: Tensor) => net.byScan(xs), { target });
    const g = compile((xs: Tensor) => net.unrolled(xs), { target });
    for (const length of [4, 7, 2, 1, 9]) {
      const got = await (await f(sequence(length))).item();
      const want = await (await g(sequence(length))).item().catch(() => got);
      if (length === 4) assert.ok(Math.abs(got - want) <= 1e-5 * Math.abs(want), `${got} ${want}`);
    }
    assert.is(f.compiles, 2);
  });

test("lengths of a symbol, none included, need no more than one artifact", () => {
  const xs = input("xs", "f32", [dim("T", { min: 0 }), 2]);
  const { carry, ys } = scan([tensor([1, 2])], [xs], ([c], [x]) => {
    const next = c!.mul(0.5).add(x!);
    return { carry: [next], ys: [next] };
  });
  const outputs = [...carry, ...ys].map((value, i) => ({ name: `y${i}`, value }));
  const { plan } = compileProgram(
    { inputs: [xs], outputs, updates: [] },
    { target: "js" },
  ).artifact;
  assert.equal(plan.flow, [0, { loop: { dim: "step0", trips: "T" }, body: [1] }]);
});

test("a node with regions is a step of the plan, and no kernel that is empty", () => {
  const [x, flag] = [input("x", "f32", [2]), input("flag", "bool", [])];
  const [y] = cond(
    flag,
    () => [x.exp()],
    () => [x.sin()],
  );
  const seen: number[] = [];
  const { plan } = compileProgram(
    { inputs: [x, flag], outputs: [{ name: "y", value: y!.add(1) }], updates: [] },
    {
      target: "js",
      observe: (_stage, { kernels = [] }) =>
        void seen.push(...kernels.map((k) => k.kernel.body.length)),
    },
  ).artifact;
  assert.is(plan.steps.length, 3);
  assert.ok(seen.length > 0 && seen.every((n) => n > 0), seen.join());
});

test("what is only carried for a result that nobody reads is not computed", () => {
  const x = input("x", "f32", [6, 2]);
  const start = input("start", "f32", [2]);
  const build = (all: boolean) => {
    const { carry, ys } = scan([start, start], [x], ([a, b], [e]) => ({
      carry: [a!.add(e!).sin(), b!.mul(e!).exp()],
      ys: [b!.mul(2)],
    }));
    const outputs = (all ? [...carry, ...ys] : carry.slice(0, 1)).map((value, i) => ({
      name: `y${i}`,
      value,
    }));
    const program = { inputs: [x, start], outputs, updates: [] };
    return compileProgram(program, { target: "js" }).artifact;
  };
  assert.ok(build(true).kernels.some((k) => k.text.includes("exp(")));
  assert.not(build(false).kernels.some((k) => k.text.includes("exp(")));
});

test("the forward scan is run once for a loss and its gradient", () => {
  const x = input("x", "f32", [6, 2]);
  const { carry } = scan([tensor([1, 2])], [x], ([a], [e]) => ({
    carry: [a!.mul(e!).sin()],
    ys: [],
  }));
  const loss = carry[0]!.sum();
  const outputs = [loss, ...grad(loss, [x])].map((value, i) => ({ name: `y${i}`, value }));
  const { flow } = compileProgram({ inputs: [x], outputs, updates: [] }, { target: "js" }).artifact
    .plan;
  assert.is(flow!.filter((f) => typeof f === "object" && "loop" in f).length, 2);
});

test("a parameter that a body reads is the one that was assigned last", async () => {
  const w = param([2, 3], { name: "w" });
  const opt = new optim.SGD([w], { lr: 0.5 });
  const run = () =>
    whileLoop(
      [tensor([1, 1])],
      (a) => a.sum().less(50),
      (a) => [a.mul(w)],
    )[0]!;
  const f = compile((x: Tensor) => {
    const before = run();
    opt.step(w.mul(x).sum());
    return [before, run()];
  });
  const [before, after] = await f([1, 1]);
  assert.equal([...(await before!.data())], [16, 81]);
  const later = [1.5, 2.5].map((v) => v);
  let [a, b] = [1, 1];
  while (a + b < 50) [a, b] = [a * later[0]!, b * later[1]!];
  assert.equal([...(await after!.data())], [Math.fround(a), Math.fround(b)]);
});

for (const target of targets)
  test(`a loop that counts to what is given, and a branch in it, on ${target}`, async () => {
    // The number of steps of the Collatz sequence.
    const f = compile(
      (n: Tensor) =>
        whileLoop(
          [n, tensor(0, { dtype: "i32" })],
          (v) => v.greater(1),
          (v, steps) => [
            ...cond(
              v.rem(2).equal(0),
              () => [v.div(2)],
              () => [v.mul(3).add(1)],
            ),
            steps.add(1),
          ],
        )[1]!,
      { target },
    );
    for (const [n, steps] of [
      [1, 0],
      [2, 1],
      [7, 16],
      [27, 111],
    ] as const)
      assert.is(await (await f(tensor(n, { dtype: "i32" }))).item(), steps, `${n}`);
  });

for (const target of ["js", "wasm", "webgpu"] as const)
  test(`an artifact with loops and branches is read as it was written, for ${target}`, () => {
    const x = input("x", "f32", [dim("T"), 2]);
    const [y] = scan([tensor([1, 2])], [x], ([c], [e]) => ({
      carry: cond(
        e!.sum().less(1),
        () => [c!.mul(e!)],
        () =>
          whileLoop(
            [c!],
            (v) => v.sum().less(9),
            (v) => [v.mul(2).add(1)],
            { maxTrips: 4 },
          ),
      ),
      ys: [],
    })).carry;
    const program = { inputs: [x], outputs: [{ name: "y", value: y! }], updates: [] };
    const { artifact } = compileProgram(program, { target });
    assert.equal(decodeArtifact(encodeArtifact(artifact)).plan, artifact.plan);
    const lines = printPlan(artifact)
      .split("\n")
      .map((line) => line.trim().split(/[ (]/)[0]);
    for (const word of ["for", "if", "else", "while", "do"]) assert.ok(lines.includes(word), word);
  });

test("without compile, a value that comes from a loop is there when it is asked for", async () => {
  const [a, b] = scan(
    [tensor(1), tensor(1)],
    [],
    ([x, y]) => ({ carry: [y!, x!.add(y!)], ys: [] }),
    { length: 10 },
  ).carry;
  assert.is(await a!.item(), 89);
  assert.is(await b!.item(), 144);
});

test.run();
