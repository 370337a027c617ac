/**
 * Random kernels: the emitted text does what the IR says statement by statement, however its parts were moved.
 */
import {
  addDim,
  type Condition,
  type Dim,
  dim,
  floorDiv,
  loopVar,
  maxDim,
  minDim,
  modDim,
  mulDim,
  subDim,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Expr, Kernel, Stmt } from "../../compiler/src/kernel/kernel.ts";
import { emitJs } from "../../compiler/src/targets/js/emit.ts";
import { emitWasm } from "../../compiler/src/targets/wasm/emit.ts";
import { emitWgsl } from "../../compiler/src/targets/wgsl/emit.ts";
import { runs } from "../support/setup.ts";
import { nullDevice } from "../support/webgpu.ts";
import { interpret } from "./interpret.ts";
import { acc, call, f32, kernel, load, loop, param, ref, store } from "./kernels.ts";
import { runJs } from "./run-js.ts";
import { runWasm } from "./run-wasm.ts";
import { problemsOf } from "./run-wgsl.ts";

const size = 16;
const N = dim("N");

/** What may be named at a point of the kernel being built, and a source of choices. */
interface Place {
  readonly pick: (below: number) => number;
  readonly symbols: readonly Dim[];
  readonly values: readonly Expr[];
  readonly accs: readonly string[];
  /** Expression objects made so far, to be used again where all their names are bound. */
  readonly pool: readonly Expr[];
  readonly depth: number;
  /** Whether loops may be vectors, whose iterations may run together. */
  readonly vectors: boolean;
}

let made = 0;
const name = (base: string): string => `${base}${made++}`;

function anyDim(p: Place, depth = 2): Dim {
  const leaf = (): Dim => {
    const k = p.pick(p.symbols.length + 1);
    return k < p.symbols.length ? p.symbols[k]! : p.pick(5) - 1;
  };
  if (depth === 0) return leaf();
  const [a, b] = [anyDim(p, depth - 1), anyDim(p, depth - 1)];
  switch (p.pick(7)) {
    case 0:
      return mulDim(a, p.pick(3) - 1);
    case 1:
      return floorDiv(a, 2 + p.pick(3));
    case 2:
      return modDim(a, 2 + p.pick(3));
    case 3:
      return minDim(a, b);
    case 4:
      return maxDim(a, b);
    case 5:
      return subDim(a, b);
    default:
      return addDim(a, b);
  }
}

const inRange = (p: Place): Dim => modDim(anyDim(p), size);
const anyTest = (p: Place): Condition => ({
  value: anyDim(p),
  test: p.pick(2) ? "nonnegative" : "zero",
});

function anyExpr(p: Place, depth = 3): Expr {
  if (p.pool.length && p.pick(3) === 0) return p.pool[p.pick(p.pool.length)]!;
  if (depth === 0 || p.pick(4) === 0) {
    const leaves: (() => Expr)[] = [
      () => f32(p.pick(9) - 4),
      () =>
        ({
          ...load(p.pick(2) ? "x" : "out", inRange(p)),
          guard: p.pick(2) ? [anyTest(p)] : [],
        }) as Expr,
      () => (p.values.length ? p.values[p.pick(p.values.length)]! : f32(2)),
      () => (p.accs.length ? ref(p.accs[p.pick(p.accs.length)]!) : f32(3)),
      () => call("convert", "f32", { kind: "index", value: anyDim(p), dtype: "i32" }),
    ];
    return leaves[p.pick(leaves.length)]!();
  }
  const [a, b] = [anyExpr(p, depth - 1), anyExpr(p, depth - 1)];
  const op = ["add", "sub", "mul", "maximum", "neg", "select"][p.pick(6)]!;
  if (op === "neg") return call("neg", "f32", a);
  if (op === "select")
    return call("select", "f32", { kind: "test", conditions: [anyTest(p)], dtype: "bool" }, a, b);
  return call(op, "f32", a, b);
}

const weight = (e: Expr): number =>
  e.kind === "call" ? e.args.reduce((n, a) => n + weight(a), 1) : 1;

function anyBody(p: Place): Stmt[] {
  const body: Stmt[] = [];
  let here = p;
  for (let n = 1 + p.pick(4); n > 0; n--) {
    const [stmt, next] = anyStmt(here);
    body.push(stmt);
    here = next;
  }
  return body;
}

function anyStmt(p: Place): [Stmt, Place] {
  const value = anyExpr(p);
  // The interpreter walks an expression as a tree, so only small ones are used again.
  const kept: Place = weight(value) < 30 ? { ...p, pool: [...p.pool, value] } : p;
  const choice = p.pick(p.depth > 0 ? 9 : 6);
  if (choice === 0) {
    const n = name("t");
    return [
      { kind: "let", name: n, value },
      { ...kept, values: [...p.values, ref(n)] },
    ];
  }
  if (choice === 1) {
    const n = name("n");
    return [
      { kind: "letIndex", name: n, value: inRange(p) },
      { ...p, symbols: [...p.symbols, loopVar(n, size)] },
    ];
  }
  if (choice === 2) {
    const n = name("s");
    return [acc(n, p.pick(3), false), { ...p, accs: [...p.accs, n] }];
  }
  if (choice <= 4 && p.accs.length) {
    const n = p.accs[p.pick(p.accs.length)]!;
    const stmt: Stmt =
      choice === 3
        ? { kind: "set", name: n, value }
        : { kind: "accumulate", name: n, reducer: "sum", value };
    return [stmt, kept];
  }
  if (choice <= 5) return [store("out", inRange(p), value), kept];
  const inner = { ...p, depth: p.depth - 1 };
  if (choice === 6) return [{ kind: "if", when: [anyTest(p)], then: anyBody(inner) }, p];
  const extent = p.pick(4) === 0 ? N : 1 + p.pick(4);
  const v = loopVar(name("i"), extent);
  const kind =
    typeof extent === "number"
      ? (["serial", "unrolled", "vector"] as const)[p.pick(p.vectors ? 3 : 2)]!
      : "serial";
  return [loop(v, extent, anyBody({ ...inner, symbols: [...p.symbols, v] }), kind), p];
}

function anyKernel(choices: readonly number[], vectors = true): Kernel {
  made = 0;
  let at = 0;
  const pick = (below: number): number => (choices[at++ % choices.length]! + at) % below;
  const place: Place = { pick, symbols: [N], values: [], accs: [], pool: [], depth: 3, vectors };
  const body = [...anyBody(place), ...anyBody(place)];
  return kernel("random", [param("x", size), param("out", size, "readwrite")], body, {
    dims: ["N"],
  });
}

const choices = fc.array(fc.nat(1000), { minLength: 20, maxLength: 120 });
const start = Array.from({ length: size }, (_, i) => (i % 5) - 2);

test("js: a random kernel does what its IR says", () => {
  fc.assert(
    fc.property(choices, (c) => {
      const k = anyKernel(c);
      const wanted = [...start];
      interpret(k, [start, wanted], { N: 3 });
      const out = Float32Array.from(start);
      const text = emitJs(k, { rounding: "each-op" });
      runJs(text, [Float32Array.from(start), out], [3]);
      assert.equal([...out], wanted, `${out}\n${wanted}\n${text.text}`);
    }),
    { numRuns: runs(300) },
  );
});

test("wasm: a random kernel without vectors does what its IR says", () => {
  fc.assert(
    fc.property(choices, (c) => {
      const k = anyKernel(c, false);
      const wanted = [...start];
      interpret(k, [start, wanted], { N: 3 });
      const out = Float32Array.from(start);
      const text = emitWasm(k);
      runWasm(text, [Float32Array.from(start), out], { N: 3 });
      assert.equal([...out], wanted, `${out}\n${wanted}\n${text.text}`);
    }),
    { numRuns: runs(200) },
  );
});

/** A store in two loops of vectors, whose place stops depending on the inner one when the outer one is unrolled. */
const cancelled = [
  [
    906, 173, 912, 467, 556, 130, 430, 639, 528, 400, 0, 974, 496, 508, 738, 305, 166, 344, 652,
    629, 29, 922, 622, 395, 211,
  ],
] as [number[]];

/** The same, of a value that still depends on the inner one. */
const cancelledOnly = [
  [
    190, 19, 204, 191, 8, 212, 0, 201, 471, 112, 488, 842, 0, 365, 143, 444, 932, 0, 0, 0, 437, 0,
    178, 93, 0, 513, 640, 468, 561, 470, 402, 791, 897, 615, 88, 468, 276, 452,
  ],
] as [number[]];

test("wgsl: a random kernel is valid", async () => {
  const device = await nullDevice();
  await fc.assert(
    fc.asyncProperty(choices, async (c) => {
      const text = emitWgsl(anyKernel(c));
      assert.equal(await problemsOf(device, text), [], text.text);
    }),
    { numRuns: runs(40), examples: [cancelled, cancelledOnly] },
  );
  device.destroy();
});

test.run();
