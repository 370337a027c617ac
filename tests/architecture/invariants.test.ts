/**
 * Invariants of docs/architecture.md that no other test holds: what the runtime may know, where
 * files and the network are touched, that nodes never change, and that js kernels stay inside their
 * arrays.
 */
import { type Artifact, type BufferRef, evaluateExtent } from "@kiln-ml/artifact";
import {
  compileProgram,
  graphPasses,
  nodesOf,
  type Program,
  targetNames,
} from "@kiln-ml/compiler/all";
import { allOps, grad, input, isFloat, makeNode, type Tensor } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { randomProgram } from "../support/graphs.ts";
import { runs } from "../support/setup.ts";
import { isCode, repositoryFiles, workspaceOf } from "./source-files.ts";

const sources = repositoryFiles().filter((file) => isCode(file) && workspaceOf(file.path));

test("the runtime knows no op names", () => {
  const computes = allOps().filter((r) => !["source", "control"].includes(r.family));
  // A driver copies, a layout has slices; what it may not do is compare a string with an op.
  const names = new Set(computes.map((r) => r.name));
  const found = sources
    .filter(({ path }) => path.startsWith("runtime/src/"))
    .flatMap(({ path, text }) =>
      Array.from(text.matchAll(/"(\w+)"/g), ([, word]) => `${path}: ${word}`).filter((line) =>
        names.has(line.split(": ")[1]!),
      ),
    );
  assert.equal(found, []);
});

test("the compiler reads no values of leaves, which are in no key of a kept program", () => {
  const reads = /\b(hostDataOf|hasHostData|initialValueOf)\b/;
  const found = sources
    .filter(({ path, text }) => path.startsWith("compiler/src/") && reads.test(text))
    .map(({ path }) => path);
  assert.equal(found, []);
});

/** Files, the network, the process: `node:` imports and the globals that reach outside. */
const outside = /from "node:|import\("node:|\bfetch\(|\bprocess\.|\bnavigator\b|\bXMLHttpRequest\b/;
const comment = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

test("nothing but devices, the command line, files, loaders and data sets touches the outside", () => {
  const allowed = [
    /^runtime\/src\/devices\//,
    /^packages\/kiln\/src\/cli/,
    /^packages\/kiln\/src\/(node|model-worker-node|cache\/(disk|store)|devices\/session|open\/(open-here|source)|tune\/table-file)\.ts$/,
    /^packages\/artifact\/src\/(files|folder-on-disk|entries-on-disk|open-file|replace-file|load-from-url|entries-from-url)\.ts$/,
    /^packages\/formats\/src\/(source|node)\.ts$/,
    /^packages\/inspector\/src\/node\.ts$/,
    /^packages\/data\/src\/(idx|mnist|serve|node\/\w+)\.ts$/,
    /^packages\/train\/src\/(checkpoint-files|lock)\.ts$/,
    /^packages\/train\/src\/callbacks\/(checkpoint|json-lines|report|tensor-board|terminal)\.ts$/,
    /^packages\/llm\/src\/(node|folder)\.ts$/,
    /^packages\/onnxruntime\/src\/model-file\.ts$/,
    /^packages\/serve\/src\/server\.ts$/,
    /^packages\/xla\/src\/(options|sidecar|shared-memory)\.ts$/,
    // A command line alone, and projects of users.
    /^packages\/create-kiln-app\/(src\/(cli|command|create)|templates\/.*)\.ts$/,
    // Pages of the site and what builds them.
    /^packages\/(tools|site)\//,
  ];
  const found = sources
    .filter(({ path }) => !allowed.some((pattern) => pattern.test(path)))
    .filter(({ text }) => outside.test(text.replace(comment, "")))
    .map(({ path }) => path);
  assert.equal(found, []);
});

test("a node with the same parts is the same object", () => {
  const x = input("x", "f32", ["N", 3]);
  const again = ({ op, operands, attrs, dtype, shape }: Tensor) =>
    makeNode({ op, operands, attrs, dtype, shape });
  for (const y of [x.mul(2).exp(), x.sum(0), x.transpose(), x.softmax()]) assert.is(again(y), y);
  assert.is(x.add(1).tanh(), x.add(1).tanh());
  assert.is.not(input("x", "f32", ["N", 3]), x);
});

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  if (ArrayBuffer.isView(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}

test("no pass, gradient or target changes a node", () => {
  fc.assert(
    fc.property(randomProgram(), ({ program }) => {
      for (const node of nodesOf(program)) freeze(node);
      // In strict mode a write to a frozen object throws.
      let current: Program = program;
      for (const pass of graphPasses) current = pass.run(current);
      for (const target of targetNames) compileProgram(program, { target, fusion: true });
      const y = program.outputs[0]!.value;
      const xs = program.inputs.filter((t) => isFloat(t.dtype));
      if (isFloat(y.dtype)) grad(y.sum(), xs, { unused: "zeros" });
    }),
    { numRuns: runs(60) },
  );
});

const arrays = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array } as const;
type Stored = Float64Array | Float32Array | Int32Array | Uint32Array | Int8Array | Uint8Array;

/**
 * An array of zeros that refuses every access outside it. A load may be moved out of a loop that
 * runs no times, and then reads an array of no elements; nothing uses the value.
 */
function fenced(dtype: string, size: number, what: string): Stored {
  const Kind = arrays[dtype as keyof typeof arrays] ?? (dtype === "i8" ? Int8Array : Uint8Array);
  const check = (key: string | symbol): void => {
    if (typeof key === "string" && !(Number(key) >= 0 && Number(key) < size))
      throw new Error(`${what}: element ${key} of ${size}`);
  };
  return new Proxy(new Kind(size), {
    get(array, key) {
      if (size > 0) check(key);
      return Reflect.get(array, key);
    },
    set(array, key, value) {
      check(key);
      return Reflect.set(array, key, value);
    },
  }) as Stored;
}

/** Runs every kernel of a js artifact with arrays that hold just what the plan gives them. */
function runFenced({ signature, plan, kernels }: Artifact, dims: Record<string, number>): void {
  const sizeOf = (shape: readonly Parameters<typeof evaluateExtent>[0][]): number =>
    shape.reduce<number>((n, d) => n * evaluateExtent(d, dims), 1);
  const elements = (place: BufferRef, bytes: number): number => {
    if (place.in === "slot")
      return (
        Math.max(...plan.slots[place.index]!.sizes.map((s) => evaluateExtent(s, dims))) / bytes
      );
    const { inputs, outputs, states } = signature;
    const list = { input: inputs, output: outputs, state: states, constant: [] }[place.in];
    return sizeOf(list[place.index]!.shape);
  };
  const widths: Readonly<Record<string, number>> = { f64: 8, f32: 4, i32: 4, u32: 4 };
  for (const { kernel, args } of plan.steps) {
    const { name, text, bindings, dims: names } = kernels[kernel]!;
    const held = args.map((place, i) => {
      const { dtype } = bindings[i]!;
      const what = `${name}: ${bindings[i]!.name}`;
      return fenced(dtype, elements(place, widths[dtype] ?? 1), what);
    });
    const run = new Function(`${text}\nreturn ${name};`)() as (...x: unknown[]) => void;
    run(...held, ...names.map((n) => dims[n]));
  }
}

test("no js kernel reads or writes outside its arrays", () => {
  for (const fusion of [true, false])
    fc.assert(
      fc.property(randomProgram({ symbolic: true }), ({ program }) => {
        const inputs = [...program.inputs, input("sized", "i32", ["N"])];
        const { artifact } = compileProgram({ ...program, inputs }, { target: "js", fusion });
        for (const N of [1, 3]) runFenced(artifact, { N });
      }),
      { numRuns: runs(100) },
    );
});

test("the fence holds", () => {
  const x = fenced("f32", 2, "x");
  x[1] = 3;
  assert.is(x[1], 3);
  assert.throws(() => x[2], /x: element 2 of 2/);
  assert.throws(() => {
    x[-1] = 0;
  }, /element -1/);
});

test("the text of a program does not depend on what was compiled before", () => {
  const build = (): Program => {
    const x = input("x", "f32", ["N", 8]);
    return {
      inputs: [x],
      outputs: [{ name: "y", value: x.softmax().mul(x) }],
      updates: [],
    };
  };
  for (const target of targetNames) {
    const first = compileProgram(build(), { target }).artifact;
    compileProgram({ ...build(), outputs: [] }, { target });
    assert.equal(compileProgram(build(), { target }).artifact, first);
  }
});

test.run();
