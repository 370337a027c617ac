/**
 * Touches of rows to come on the wasm target: they change no bit, stay within the buffer, and are there where rows are
 * long and many.
 */
import { input, param, type Tensor, type Value, zeros } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram, loadTarget, type Program } from "../../compiler/src/index.ts";
import { Code, type WasmFunction } from "../../compiler/src/targets/wasm/code.ts";
import { functionsOf } from "../../compiler/src/targets/wasm/emit.ts";
import { encodeModules } from "../../compiler/src/targets/wasm/module.ts";
import { guardedWasmDevice } from "../support/guarded-wasm.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";

await loadTarget("wasm");
const device = guardedWasmDevice({ threads: 2, relaxed: false });

type Function = (x: Tensor) => Tensor;

function programOf(shape: readonly (number | string)[], f: Function): Program {
  const x = input("x", "f32", shape as never);
  return { inputs: [x], outputs: [{ name: "y", value: f(x) }], updates: [] };
}

const printed = (program: Program): WasmFunction[] =>
  compileProgram(program, { target: "wasm" }).artifact.kernels.flatMap(functionsOf);

const isTouch = (c: Code): boolean => c.op.name === "drop";
const touchesIn = (code: readonly Code[]): number =>
  code.reduce((n, c) => n + (isTouch(c) ? 1 : touchesIn(c.args)), 0);
const touches = (functions: readonly WasmFunction[]): number =>
  functions.reduce((n, f) => n + touchesIn(f.body), 0);

const withoutTouches = (code: readonly Code[]): Code[] =>
  code
    .filter((c) => !isTouch(c))
    .map((c) => new Code(c.op, withoutTouches(c.args), c.immediate, c.detail));

const normalized: Function = (x) => {
  const centred = x.sub(x.mean(-1, { keepDims: true }));
  const variance = centred.square().mean(-1, { keepDims: true });
  return centred.mul(variance.add(1e-5).rsqrt());
};

const functions: Readonly<Record<string, Function>> = {
  sum: (x) => x.sum(1),
  argMax: (x) => x.argMax(1),
  softmax: (x) => x.softmax(),
  "normalized rows": normalized,
  "the sum of exponentials": (x) => x.exp().sum(1),
};

const page = 65536;

/** What a kernel of one input and one output computes from an input that ends where the memory does. */
function outputOf(
  functions: readonly WasmFunction[],
  rows: number,
  columns: number,
  size: number,
): Buffer {
  const bytes = rows * columns * 4;
  const stack = 1 << 16;
  const begin = stack + Math.ceil(size / page) * page;
  const end = Math.ceil((begin + page + bytes) / page) * page;
  const memory = new WebAssembly.Memory({ initial: end / page, maximum: 65536 });
  const x = new Float32Array(memory.buffer, end - bytes);
  for (let i = 0; i < x.length; i++) x[i] = Math.fround(Math.sin(i * 12.9898) * 4);
  const module = new WebAssembly.Module(encodeModules(functions).plain as BufferSource);
  const { exports } = new WebAssembly.Instance(module, { env: { memory }, Math } as never);
  const run = Object.values(exports)[0] as (...x: number[]) => void;
  run(end - bytes, stack, 0, rows, begin);
  return Buffer.from(memory.buffer, stack, size);
}

for (const [name, f] of Object.entries(functions))
  test(`${name}: a row to come is touched, the last one by itself, and no bit changes`, () => {
    for (const [rows, columns] of [
      [300, 1024],
      [261, 1029],
      [530, 512],
    ] as const) {
      const touching = printed(programOf([rows, columns], f));
      assert.ok(touches(touching) > 0, `${rows}×${columns}`);
      const size = (f(input("x", "f32", [rows, columns])).shape as number[]).reduce(
        (p, q) => p * q,
      );
      const plain = touching.map((f) => ({ ...f, body: withoutTouches(f.body) }));
      assert.is(touches(plain), 0);
      const [a, b] = [touching, plain].map((t) => outputOf(t, rows, columns, size * 4));
      assert.ok(a!.equals(b!), `${rows}×${columns}`);
    }
  });

test("short rows, few, and those whose length only the run tells are not touched", () => {
  for (const f of Object.values(functions)) {
    assert.is(touches(printed(programOf([2000, 256], f))), 0);
    assert.is(touches(printed(programOf([100, 1024], f))), 0);
    assert.is(touches(printed(programOf(["n", "m"], f))), 0);
  }
});

test("rows that are overwritten where they lie", async () => {
  const shape = [260, 1024];
  const w = param(zeros(shape), { name: "w" });
  const program: Program = { inputs: [], outputs: [], updates: [[w, w.softmax()]] };
  const { kernels } = compileProgram(program, { target: "wasm" }).artifact;
  assert.equal(
    kernels.map((k) => [k.bindings.map((b) => b.access), touches(functionsOf(k))]),
    [[["readwrite"], 2]],
  );
  const data = Float64Array.from({ length: 260 * 1024 }, (_, i) => Math.fround(Math.sin(i)));
  const feeds = new Map<Tensor, Value>([[w, { dtype: "f32", shape, data }]]);
  const want = evaluateProgram(program, feeds, {})[0]!;
  const { values } = await runProgram(program, feeds, {}, device, { target: "wasm" });
  const at = values[0]!.data.findIndex((v, i) => !(Math.abs(v - want.data[i]!) < 1e-8));
  assert.is(at, -1, `element ${at}: ${values[0]!.data[at]}, want ${want.data[at]}`);
});

test.run();
