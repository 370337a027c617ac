/**
 * Kernels of the user: what their text computes is what the program gets, whatever lies around them, on js, on webgpu and from an
 * artifact; a target without text is refused by name.
 */
import { packArtifact, unpackArtifact } from "@kiln-ml/artifact";
import {
  concat,
  customKernel,
  DtypeError,
  dim,
  GraphError,
  grad,
  input,
  jvp,
  makeValue,
  param,
  parseGraph,
  printGraph,
  scan,
  type Tensor,
  tensor,
  verifyGraph,
  vmap,
} from "@kiln-ml/ir";
import { createCpuDevice, initialStates, load } from "@kiln-ml/runtime";
import { assign, compile } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { gpuTest } from "../support/webgpu.ts";

const cube = customKernel({
  name: "cube",
  operands: ["x"],
  js: "for (let i = 0; i < y_size; i++) y[i] = x[i] ** 3;",
  wgsl: "y[i] = x[i] * x[i] * x[i];",
  vjp: ([g], _y, x) => [g!.mul(x!.square()).mul(3)],
});

/** Rows of a weighed by those of w, in the order of their sums: shapes of its own, and a shape read in the text. */
const outer = customKernel({
  name: "outer",
  operands: ["a", "w"],
  result: (a, w) => ({ shape: [a!.shape[0]!, w!.shape[0]!] }),
  js: `
    const n = w_shape[0];
    for (let r = 0; r < a_shape[0]; r++)
      for (let c = 0; c < n; c++) y[r * n + c] = a[r] * w[c];`,
  wgsl: "let n = w_shape[0]; y[i] = a[i / n] * w[i % n];",
});

const values = (size: number, k = 1): number[] =>
  Array.from({ length: size }, (_, i) => Math.fround(Math.sin(i * 1.3 + k)));

const programOf = (inputs: readonly Tensor[], ...outputs: readonly Tensor[]): Program => ({
  inputs,
  outputs: outputs.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});

/** Programs in which something lies around a kernel of the user. */
function programs(): Record<string, Program> {
  const n = dim("N", { min: 0 });
  const x = input("x", "f32", [n, 3]);
  const v = input("v", "f32", [n]);
  const m = input("m", "f32", [2, 3]);
  // biome-ignore format: a case a line
  return {
    "what is read is made before it, and what reads it after": programOf([x], cube(x.add(1).exp()).mul(2).sum(1)),
    "a transposed operand": programOf([x], cube(x.transpose([1, 0]))),
    "a reshaped operand and result": programOf([m], cube(m.reshape([6])).reshape([3, 2]).add(1)),
    "one tensor as both operands": programOf([v], outer(v, v)),
    "an iota and a constant": programOf([], cube(tensor([1, 2, 3]).add(1))),
    "results side by side": programOf([m], concat([cube(m), cube(m.neg()), m], 0)),
    "two of one kind, one after the other": programOf([x], cube(cube(x))),
    "several readers": programOf([x], cube(x), cube(x).add(x), cube(x).sum()),
    "its gradient": programOf([x], ...grad(cube(x.mul(2)).sum(), [x])),
    "the gradient of its gradient": programOf([m], ...grad(grad(cube(m).sum(), [m])[0]!.square().sum(), [m])),
    "a tangent": programOf([m], jvp(cube, [m], [m.cos()]).tangent as Tensor),
    "one place of a batch after the other": programOf([x, v], vmap(cube)(x), vmap(outer, { inAxes: [0, null] })(x, v).sum()),
    "in a scan": programOf([m], ...scan([m.get(0)], [m], ([h], [e]) => ({ carry: [cube(h!.add(e!))], ys: [cube(e!)] })).ys),
  };
}

const feedsOf = (program: Program, n: number) =>
  new Map(
    program.inputs.map((t, k) => {
      const shape = t.shape.map((d) => (typeof d === "number" ? d : n));
      return [
        t,
        makeValue(
          "f32",
          shape,
          values(
            shape.reduce((a, b) => a * b, 1),
            k,
          ),
        ),
      ] as const;
    }),
  );

const cpu = guardedCpuDevice();

for (const name of Object.keys(programs())) {
  test(`js: ${name}`, async () => {
    for (const n of [0, 1, 4]) {
      const program = programs()[name]!;
      const feeds = feedsOf(program, n);
      const want = evaluateProgram(program, feeds, { N: n });
      for (const fusion of [true, false]) {
        const options = { target: "js", fusion, rounding: "each-op" } as const;
        const got = await runProgram(program, feeds, { N: n }, cpu, options);
        for (const [i, v] of got.values.entries()) assert.equal([...v.data], [...want[i]!.data]);
      }
    }
  });

  gpuTest(`webgpu: ${name}`, async () => {
    const gpu = await guardedGpuDevice();
    const n = 4;
    const program = programs()[name]!;
    const feeds = feedsOf(program, n);
    const want = evaluateProgram(program, feeds, { N: n });
    const { values } = await runProgram(program, feeds, { N: n }, gpu, { target: "webgpu" });
    for (const [i, v] of values.entries())
      for (const [k, a] of v.data.entries())
        assert.ok(
          Math.abs(a - want[i]!.data[k]!) <= 1e-4 * (1 + Math.abs(want[i]!.data[k]!)),
          name,
        );
  });
}

test("an update by it is not made in place, and is there for the next run", async () => {
  const reversed = customKernel({
    name: "reversed",
    operands: ["x"],
    js: "for (let i = 0; i < x_size; i++) y[i] = x[x_size - 1 - i];",
  });
  const w = param([1, 2, 3, 4], { name: "w" });
  const step = compile(
    () => {
      assign(w, reversed(w));
    },
    { target: "js" },
  );
  await step();
  assert.equal(await w.toList(), [4, 3, 2, 1]);
  await step();
  assert.equal(await w.toList(), [1, 2, 3, 4]);
});

test("an artifact needs nothing but the runtime", async () => {
  const f = compile((x: Tensor) => cube(x.add(1)), { target: "js", inputs: [["N"]] });
  const artifact = unpackArtifact(packArtifact(await f.artifact()));
  const device = createCpuDevice();
  const run = await load(artifact, device, { states: initialStates(artifact, device) });
  const [y] = await run.run([{ data: Float32Array.of(0, 1, 2), shape: [3] }]);
  assert.equal([...(await y!.data())], [1, 8, 27]);
});

test("it is one kernel", () => {
  const x = input("x", "f32", [4]);
  const { artifact } = compileProgram(programOf([x], cube(x)), { target: "js" });
  assert.is(artifact.plan.steps.length, 1);
  assert.is(artifact.kernels[0]!.name, "cube");
});

test("its text is text of the graph", () => {
  const x = input("x", "f32", ["N", 2]);
  const graph = { params: [x], results: [cube(x)] };
  verifyGraph(graph);
  const text = printGraph(graph);
  assert.is(printGraph(parseGraph(text).graph), text);
});

const refused = (run: () => unknown, kind: new (...a: never[]) => Error, message: string): void => {
  try {
    run();
  } catch (error) {
    assert.instance(error, kind);
    assert.is((error as Error).message.replace(/ \(.*\)/, ""), message);
    return;
  }
  assert.unreachable(message);
};

test("a target without text is refused, with those that there is text for", () => {
  const x = input("x", "f32", [4]);
  const only = customKernel({ name: "only", operands: ["x"], js: "y[0] = x[0];" });
  const compiled = (y: Tensor, target: "wasm" | "webgpu") => () =>
    compileProgram(programOf([x], y), { target });
  refused(
    compiled(cube(x), "wasm"),
    GraphError,
    "compile: customKernel cube has no text for target wasm\n  compile for js or webgpu",
  );
  refused(
    compiled(only(x), "webgpu"),
    GraphError,
    "compile: customKernel only has no text for target webgpu\n  compile for js, or give it wgsl",
  );
});

test("what cannot be a kernel is refused where it is made", () => {
  const make = (options: object) => () =>
    customKernel({ name: "k", operands: ["x"], js: "y[0] = x[0];", ...options });
  refused(
    make({ js: undefined }),
    GraphError,
    'customKernel: "k" has no text\n  give it js, wgsl or both, as statements',
  );
  refused(
    make({ name: "a b" }),
    GraphError,
    'customKernel: the name must be an identifier, got "a b"\n  use letters, digits and _',
  );
  refused(
    make({ operands: [] }),
    GraphError,
    "customKernel: operands must be a list of names, got Array\n  name each operand as the texts do",
  );
  for (const name of ["y", "1x", "x_size"])
    refused(
      make({ operands: [name] }),
      GraphError,
      `customKernel: k cannot call an operand "${name}"\n  use identifiers, each once; y, i, threads, and names such as x_size and dim_n are taken`,
    );
  refused(
    make({ workgroupSize: 0 }),
    GraphError,
    "customKernel: workgroupSize of k is 0\n  it is a whole number from 1 to 256",
  );
});

test("calls that do not fit are refused", () => {
  const x = input("x", "f32", [4]);
  refused(
    () => cube(x, x),
    GraphError,
    "cube: the kernel has 1 operands, got 2\n  pass one for each: x",
  );
  refused(
    () => cube(x.convert("f16")),
    DtypeError,
    "cube: a kernel of the user takes and gives f32, i32, u32 or f64, got f16\n  convert it before and after",
  );
  refused(
    () => grad(outer(x, x).sum(), [x]),
    GraphError,
    "grad: customKernel outer has no vjp\n  give it one, or put stopGradient around it if it is to count as a constant",
  );
});

test.run();
