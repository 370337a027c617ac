/**
 * Depth and breadth: whatever the number of steps, every stage of the compiler takes a bounded stack, kernels compute and bind a
 * bounded number of nodes and tensors, and their number grows no faster than that of the nodes. Counts, not times.
 */
import { spawnSync } from "node:child_process";
import {
  addDim,
  type Dim,
  dim,
  evaluate,
  floorDiv,
  GraphError,
  input,
  printDim,
  ShapeError,
  scan,
  type Tensor,
} from "@kiln-ml/ir";
import { createCpuDevice } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  broadCases,
  chainWithGradients,
  deepCases,
  ladder,
  sumOfInputs,
} from "../../bench/deep-cases.ts";
import { compileProgram } from "../../compiler/src/all.ts";
import { nodesOf, type Program, rootsOf } from "../../compiler/src/program.ts";
import { runProgram } from "../support/run.ts";
import { variants, wasmDevice } from "../support/wasm.ts";

/** KiB; a recursion over a graph of thousands of nodes is sure to end in a RangeError. */
const smallStack = 300;
const depth = Number(process.env.KILN_DEPTH ?? 2000);
const targets = ["js", "wasm", "webgpu"] as const;

interface Said {
  readonly name: string;
  readonly error?: string;
  readonly target: string;
  readonly fusion: boolean;
  readonly nodes: number;
  readonly steps: number;
  readonly bindings: number;
}

/** What a child said of each program, on each target, fused and not, and of its text. */
function inSmallStack(count: number): Said[] {
  const source = ["--conditions=@kiln-ml/source", "--import", "tsx", "tests/support/deep-child.ts"];
  const args = [`--stack-size=${smallStack}`, ...source, String(count), targets.join()];
  const options = { encoding: "utf8", maxBuffer: 1 << 26 } as const;
  const { stdout, stderr, status } = spawnSync(process.execPath, args, options);
  assert.is(status, 0, stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Said);
}

test(`${depth} steps compile, and go through text, in a small stack`, () => {
  const said = inSmallStack(depth);
  assert.is(said.length, 7 * Object.keys(deepCases).length);
  for (const s of said) {
    const where = `${s.name} ${s.target} ${s.fusion}`;
    assert.is(s.error, undefined, `${where}: ${s.error}`);
    assert.ok(s.nodes > depth / 2, `${where}: ${s.nodes} nodes`);
    if (s.target === "text") continue;
    assert.ok(s.bindings <= (s.target === "webgpu" ? 8 : 512), `${where}: ${s.bindings} tensors`);
    assert.ok(s.steps <= s.nodes, `${where}: ${s.steps} kernels of ${s.nodes} nodes`);
  }
});

const stepsOf = (program: Program, target: (typeof targets)[number]): number =>
  compileProgram(program, { target }).artifact.plan.steps.length;

// More than one kernel has room for: what fits into one grows by leaps until it does not.
for (const target of targets)
  for (const [name, least] of Object.entries({
    activations: 1200,
    diamonds: 1200,
    ladder: 1200,
    chainWithGradients: 6000,
  }))
    test(`${target}: ${name} takes few kernels, and about twice as many for twice the steps`, () => {
      const [one, two] = [least, 2 * least].map((n) => stepsOf(deepCases[name]!(n), target));
      assert.ok(one! <= 60, `${one} kernels`);
      assert.ok(two! <= 2.2 * one! + 2, `${one} kernels, then ${two}`);
    });

for (const target of targets)
  for (const [name, make] of Object.entries(broadCases))
    test(`${target}: 1000 of ${name} bind no more tensors than a kernel may`, () => {
      const { artifact } = compileProgram(make(1000), { target });
      const most = Math.max(...artifact.kernels.map((k) => k.bindings.length));
      assert.ok(most <= (target === "webgpu" ? 8 : 512), `${most} tensors`);
    });

const feedsOf = (program: Program) =>
  new Map(
    program.inputs.map((t, i) => {
      const shape = t.shape as readonly number[];
      const size = shape.reduce((a, b) => a * b, 1);
      const data = Float64Array.from({ length: size }, (_, k) => Math.fround(Math.sin(i + k + 1)));
      return [t, { dtype: t.dtype, shape, data }] as const;
    }),
  );

const cpu = createCpuDevice({ poison: true });

/** What is deep runs: js as the reference bit for bit, wasm near it. */
for (const [name, program] of [
  ["chain with gradients", chainWithGradients(2400)],
  ["ladder", ladder(2400)],
  ["sum of inputs", sumOfInputs(1200)],
  ["movements", deepCases.movements!(600)],
  ["reductions", deepCases.reductions!(1200)],
  ["concats", deepCases.concats!(600)],
] as const)
  test(`a deep ${name} gives what the reference gives`, async () => {
    const feeds = feedsOf(program);
    const want = evaluate(rootsOf(program), { inputs: feeds });
    const each = { target: "js", rounding: "each-op" } as const;
    const js = await runProgram(program, feeds, {}, cpu, each);
    for (const [i, v] of js.values.entries())
      for (const [k, x] of v.data.entries())
        assert.ok(Object.is(x, want[i]!.data[k]), `js: ${x}, want ${want[i]!.data[k]}`);
    const on = wasmDevice(variants[0]!);
    const wasm = await runProgram(program, feeds, {}, on, { target: "wasm" });
    for (const [i, v] of wasm.values.entries())
      for (const [k, x] of v.data.entries()) {
        const w = want[i]!.data[k]!;
        assert.ok(
          Object.is(x, w) || Math.abs(x - w) <= 1e-3 * (1 + Math.abs(w)),
          `${x}, want ${w}`,
        );
      }
  });

test("bodies that are nested too deep are refused where they are written", () => {
  const nest = (x: Tensor, left: number): Tensor =>
    left === 0
      ? x.add(1)
      : scan([x], [], ([c]) => ({ carry: [nest(c!, left - 1)], ys: [] }), { length: 2 }).carry[0]!;
  const x = input("x", "f32", [2]);
  assert.is(nest(x, 16).shape.length, 1);
  assert.throws(
    () => nest(x, 17),
    (e: Error) =>
      e instanceof GraphError &&
      e.message ===
        "scan: bodies are nested 17 deep, at most 16 may be\n  compute part of it outside of the body",
  );
  assert.is(nest(x, 1).op, "result");
});

test("extents that are nested too deep are refused where they are made", () => {
  const halved = (n: number): Dim => {
    let d: Dim = dim("N");
    for (let i = 0; i < n; i++) d = floorDiv(addDim(d, 1), 3);
    return d;
  };
  assert.is(printDim(halved(256)).startsWith("(("), true);
  assert.throws(
    () => halved(257),
    (e: Error) =>
      e instanceof ShapeError &&
      e.message ===
        "floorDiv: 257 quotients, remainders, minima and maxima inside of each other, a symbolic extent has 256 at most\n  give N as a number",
  );
});

test("webgpu: a chain with gradients is cut where it is long, whatever its length", () => {
  // At 2,500 a kernel once bound three tensors too many, and lost them one member at a time.
  for (const n of [500, 1500, 2000, 2500, 3000]) {
    const program = chainWithGradients(n);
    const [nodes, steps] = [nodesOf(program).length, stepsOf(program, "webgpu")];
    assert.ok(steps * 80 <= nodes + 80, `${n}: ${steps} kernels of ${nodes} nodes`);
  }
});

test.run();
