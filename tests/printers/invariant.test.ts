/**
 * An index that only the run tells is found once where it is the same in all iterations of a loop,
 * and what is read there with it; not where the loop changes what it is read from, nor from under a
 * guard.
 */
import type { KernelText } from "@kiln-ml/artifact";
import { anyInteger, loopVar, subDim } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Kernel, Stmt } from "../../compiler/src/kernel/kernel.ts";
import { emitJs } from "../../compiler/src/targets/js/emit.ts";
import { emitWasm } from "../../compiler/src/targets/wasm/emit.ts";
import { emitWgsl } from "../../compiler/src/targets/wgsl/emit.ts";
import { call, kernel, load, loop, param, store } from "./kernels.ts";
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

/** out[i] = table[place[0]], and one place on: a loop that changes what its index is read from. */
const walk = (): Kernel => {
  const next = call("add", "i32", load("place", 0, "i32"), {
    kind: "const",
    dtype: "i32",
    value: 1,
  });
  return kernel(
    "walk",
    [param("place", 1, "readwrite", "i32"), param("table", 10), param("out", 4, "write")],
    [loop(i, 4, [dynamic, store("out", i, load("table", at)), store("place", 0, next)])],
  );
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

test("js and wasm: an index that the loop changes is found anew", () => {
  const runs = [
    (a: Arrays) => runJs(emitJs(walk(), { rounding: "on-store" }), a, []),
    (a: Arrays) => runWasm(emitWasm(walk()), a, {}),
  ];
  for (const run of runs) {
    const [place, out] = [Int32Array.of(3), new Float32Array(4)];
    run([place, table, out]);
    assert.equal([...out], [9, 16, 25, 36]);
    assert.is(place[0], 7);
  }
});

test.run();
