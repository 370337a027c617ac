/**
 * An index that only the run tells is found once where it is the same in all iterations of a loop,
 * and what is read there with it; not where the loop changes what it is read from, nor from under a
 * guard.
 */
import type { KernelText } from "@kiln-ml/artifact";
import { addDim, anyInteger, loopVar, mulDim, subDim } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Expr, Kernel, Stmt } from "../../compiler/src/kernel/kernel.ts";
import { emitJs } from "../../compiler/src/targets/js/emit.ts";
import { emitWasm } from "../../compiler/src/targets/wasm/emit.ts";
import { emitWgsl } from "../../compiler/src/targets/wgsl/emit.ts";
import { call, f32, kernel, load, loop, param, ref, store } from "./kernels.ts";
import { runJs } from "./run-js.ts";
import { runWasm } from "./run-wasm.ts";

const [i, j] = [loopVar("i", 4), loopVar("j", 64)];
const at = anyInteger("at", 0, 9);
const dynamic: Stmt = { kind: "letDynamic", name: "at", value: load("place", 0, "i32") };
const scaled = call("mul", "f32", load("x", j), load("table", at));
const params = [
  param("place", 1, "read", "i32"),
  param("table", 10),
  param("x", 64),
  param("out", 64, "write"),
];

/** out[j] = x[j] · table[place[0]], found anew for each j as the kernel has it; where i ≥ 2. */
const scale = (guarded = false): Kernel => {
  const own = loop(j, 64, [dynamic, store("out", j, scaled)], "simd");
  const when = [{ value: subDim(i, 2), test: "nonnegative" as const }];
  const body = guarded ? loop(i, 4, [{ kind: "if", when, then: [own] }]) : own;
  return kernel("scale", params, [body]);
};

const one: Expr = { kind: "const", dtype: "i32", value: 1 };
const onward = store("place", 0, call("add", "i32", load("place", 0, "i32"), one));
const walked = [
  param("place", 1, "readwrite", "i32"),
  param("table", 10),
  param("out", 4, "write"),
  param("more", 4, "write"),
];

/** out[i] = table[place[0]], and one place on: a loop that changes what its index is read from. */
const walk = (): Kernel =>
  kernel("walk", walked, [
    loop(i, 4, [dynamic, store("out", i, load("table", at)), onward]),
    loop(i, 4, [store("more", i, f32(0))]),
  ]);

/** The same for two loops side by side: all of one at a place, all of the other one place on. */
const step = (): Kernel => {
  const value = load("table", addDim(mulDim(at, 2), mulDim(i, -1)));
  return kernel("step", walked, [
    loop(i, 4, [dynamic, store("out", i, value)]),
    onward,
    loop(i, 4, [dynamic, store("more", i, value)]),
  ]);
};

/** Two loops side by side in which one name is another element, and what is made of it one text. */
const renamed = (kind: "serial" | "simd"): Kernel => {
  const value = call("add", "f32", call("mul", "f32", ref("v"), ref("v")), load("table", i));
  const own = (n: number): Stmt => ({ kind: "let", name: "v", value: load("table", n) });
  return kernel("renamed", walked, [
    loop(i, 4, [own(2), store("out", i, value)], kind),
    loop(i, 4, [own(3), store("more", i, value)], kind),
  ]);
};

const printers: Readonly<Record<string, readonly [(k: Kernel) => KernelText, RegExp]>> = {
  js: [(k) => emitJs(k, { rounding: "on-store" }), /for \(/],
  wasm: [emitWasm, /\(loop /],
  wgsl: [(k) => emitWgsl(k), /for \(/],
};

for (const [target, [emit, opening]] of Object.entries(printers)) {
  test(`${target}: what does not differ between iterations stands before the loop`, () => {
    const { text } = emit(scale());
    const [before, ...loops] = text.split(opening) as [string, ...string[]];
    assert.ok(loops.length > 0, text);
    for (const name of ["place", "table"]) {
      assert.ok(new RegExp(`\\b${name}\\b`).test(before), text);
      assert.not.ok(new RegExp(`\\b${name}\\b`).test(loops.join("")), text);
    }
  });
  test(`${target}: it stays under its guard`, () => {
    const { text } = emit(scale(true));
    const [before, ...loops] = text.split(opening) as [string, ...string[]];
    const reads = /place\[|load.*\bplace\b/;
    assert.not.ok(reads.test(before), text);
    assert.ok(reads.test(loops[0]!.slice(loops[0]!.search(/\bif\b/))), text);
  });
}

const table = Float32Array.from({ length: 10 }, (_, k) => k * k);

type Arrays = readonly (Float32Array | Int32Array)[];

/** What js and wasm make of `out` and `more`, and the place where it ends. */
function ran(k: () => Kernel): [out: number[], more: number[], place: number][] {
  const runs = [
    (a: Arrays) => runJs(emitJs(k(), { rounding: "on-store" }), a, []),
    (a: Arrays) => runWasm(emitWasm(k()), a, {}),
  ];
  return runs.map((run) => {
    const [place, out, more] = [Int32Array.of(3), new Float32Array(4), new Float32Array(4)];
    run([place, table, out, more]);
    return [[...out], [...more], place[0]!];
  });
}

test("js and wasm: an index that the loop changes is found anew", () => {
  for (const found of ran(walk)) assert.equal(found, [[9, 16, 25, 36], [0, 0, 0, 0], 7]);
});

test("js and wasm: an index that changes between two loops is found anew, with what it leads to", () => {
  for (const found of ran(step)) assert.equal(found, [[36, 25, 16, 9], [64, 49, 36, 25], 4]);
});

test("js and wasm: a name of two values stands for its own in each of two loops", () => {
  for (const kind of ["serial", "simd"] as const)
    for (const found of ran(() => renamed(kind)))
      assert.equal(found, [[16, 17, 20, 25], [81, 82, 85, 90], 3]);
});

test.run();
