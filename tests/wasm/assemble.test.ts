/** The assembler of the wasm target against wabt, the engine and its own error messages. */

import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import loadWabt from "wabt";
import {
  assembleModule,
  assembleVariants,
  moduleText,
} from "../../compiler/src/targets/wasm/assemble.ts";
import { runs } from "../support/setup.ts";
import { arbitraryBody, functionsOf } from "./arbitrary-function.ts";
import { everyInstruction } from "./instructions.ts";

const features = { simd: true, relaxed_simd: true, threads: true };

let wabt: ReturnType<typeof loadWabt> | undefined;

/** wabt's bytes for the same module, which it has validated. */
async function wabtBytes(functions: readonly string[], relaxed: boolean): Promise<Uint8Array> {
  wabt ??= loadWabt();
  const module = (await wabt).parseWat("module.wat", moduleText(functions, { relaxed }), features);
  try {
    module.validate();
    return module.toBinary({ canonicalize_lebs: true }).buffer.slice();
  } finally {
    module.destroy();
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

async function agrees(functions: readonly string[]): Promise<void> {
  const { plain, relaxed } = assembleVariants(functions);
  assert.is(hex(plain), hex(await wabtBytes(functions, false)));
  assert.is(hex(relaxed), hex(await wabtBytes(functions, true)));
  assert.ok(WebAssembly.validate(plain as BufferSource));
}

test("every instruction of the table has wabt's bytes", async () => {
  await agrees(everyInstruction());
});

const control = `(func $power (export "power") (param $x f64) (param $n i32) (result f64) (local $y f64)
  (local.set $y (f64.const 1)) ;; x to the n-th
  (block $done
    (loop $again
      (br_if $done (i32.eqz (local.get $n))) (; leaves (; both ;) ;)
      (local.set $y (f64.mul (local.get $y) (local.get $x)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br $again)))
  (local.get $y))
(func $atan (export "atan") (param $y f64) (param $x f64) (result f64)
  (if (result f64) (f64.lt (local.get $y) (f64.const 0))
    (then (f64.neg (call $Math.atan2 (f64.neg (local.get $y)) (local.get $x))))
    (else (call $Math.atan2 (local.get $y) (call $Math.sqrt (call $power (local.get $x) (i32.const 2)))))))
(func $fused (export "fused") (param $at i32)
  (v128.store (local.get $at)
    (f32x4.nmadd
      (v128.load (local.get $at))
      (f32x4.madd (v128.load offset=16 (local.get $at)) (v128.const f32x4 2 2 2 2)
        (f32x4.splat (f32.demote_f64 (call $Math.exp (f64.const 0)))))
      (f32x4.nmadd (v128.const f32x4 1 1 1 1)
        (f32x4.splat (f32.demote_f64 (call $Math.cos (f64.const 0))))
        (f32x4.splat (f32.demote_f64 (call $power (f64.const 3) (i32.const 2))))))))`;

test("control, calls and fused operations have wabt's bytes", async () => {
  await agrees([control, "", "(func $empty)(func $labels (block)(loop $l (br $l)))"]);
});

test("random functions have wabt's bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryBody, { minLength: 1, maxLength: 4 }), (bodies) =>
      agrees(functionsOf(bodies)),
    ),
    { numRuns: runs(60) },
  );
});

test("assembled functions run", () => {
  const module = new WebAssembly.Module(
    assembleModule([control], { relaxed: false }) as BufferSource,
  );
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
  const { exports } = new WebAssembly.Instance(module, { env: { memory }, Math: mathOf() });
  const { power, atan, fused } = exports as Record<string, (...args: number[]) => number>;
  assert.is(power!(3, 5), 243);
  assert.is(atan!(-1, 2), Math.atan2(-1, 2));
  assert.is(atan!(1, -2), Math.atan2(1, 2));
  const floats = new Float32Array(memory.buffer, 0, 8);
  floats.set([1, 2, 3, 4, 5, 6, 7, 8]);
  fused!(0);
  // (9 − 1·1) − a·(2b + 1)
  assert.equal([...floats.subarray(0, 4)], [8 - 11, 8 - 26, 8 - 45, 8 - 68]);
});

function mathOf(): Record<string, WebAssembly.ImportValue> {
  return { exp: Math.exp, cos: Math.cos, atan2: Math.atan2, sqrt: Math.sqrt };
}

test("the module's text keeps everything but the pseudo instructions", () => {
  const text = `(func $f (param $a v128) (result v128) ;; exp, "quoted" (
  (f32x4.nmadd (local.get $a) (; · ;) (f32x4.madd (local.get $a)
    (local.get $a) (local.get $a)) (local.get $a)))`;
  const spelled = (relaxed: boolean) => moduleText([text], { relaxed }).split("\n").slice(2, -2);
  assert.equal(spelled(true), [
    `(func $f (param $a v128) (result v128) ;; exp, "quoted" (`,
    `  (f32x4.relaxed_nmadd (local.get $a) (; · ;) (f32x4.relaxed_madd (local.get $a)`,
    `    (local.get $a) (local.get $a)) (local.get $a)))`,
  ]);
  assert.equal(spelled(false), [
    `(func $f (param $a v128) (result v128) ;; exp, "quoted" (`,
    `  (f32x4.sub (local.get $a) (f32x4.mul (local.get $a) (; · ;) (f32x4.add (f32x4.mul (local.get $a)`,
    `    (local.get $a)) (local.get $a)))))`,
  ]);
});

test("the memory is the first import, with a maximum and unshared", () => {
  const bytes = assembleModule([control], { relaxed: true });
  // Four types before it; then the section, its size, four more imports than Math's.
  const memory = hex(
    new Uint8Array([3, ...Buffer.from("env"), 6, ...Buffer.from("memory"), 2, 1, 1]),
  );
  const at = hex(bytes).indexOf(`${memory}808004`) / 2;
  assert.is(bytes[at - 3], 2);
  assert.is(bytes[at - 1], 5);
});

/** Texts and what the assembler says of them. */
const faults: readonly (readonly [text: string, message: string])[] = [
  ["(func $f (f32x4.fma (nop)))", "$f: no instruction is called f32x4.fma"],
  ["(func $f (f32x4.relaxed_madd))", "$f: no instruction is called f32x4.relaxed_madd"],
  ["(func $f (local.get $x))", "$f: no local is called $x"],
  ["(func $g (param $x i32)) (func $f (local.get $x))", "$f: no local is called $x"],
  ["(func $f (param $x i32) (local $x i32))", "$f: $x declared twice"],
  ["(func $f) (func $f)", "$f: defined twice"],
  ["(func $f (i32.const 4294967296))", "$f: 4294967296 where an integer of 32 bits must stand"],
  ["(func $f (i32.const 1.5))", "$f: 1.5 where an integer of 32 bits must stand"],
  ["(func $f (i64.const 1n))", "$f: 1n where an integer of 64 bits must stand"],
  ["(func $f (f32.const Infinity))", "$f: Infinity where a number of 32 bits must stand"],
  ["(func $f (f64.const nan:0x0))", "$f: nan:0x0 where a number of 64 bits must stand"],
  ["(func $f (f64.const))", '$f: "))" where a word must stand'],
  ["(func $f (v128.const i8x16 256))", "$f: 256 where an integer of 8 bits must stand"],
  ["(func $f (v128.const f32 1))", "$f: f32 where a vector type must stand"],
  ["(func $f (v128.const i64x2 1 2 3))", '$f: "3))" where ) must stand'],
  ["(func $f (i32.add (i32.const 1)))", "$f: i32.add takes 2 operands, not 1"],
  [
    "(func $f (i32.load align=8 (i32.const 0)))",
    "$f: i32.load with align=8, not a power of two up to 4",
  ],
  [
    "(func $f (i32.load offset=x (i32.const 0)))",
    "$f: offset=x where offset= and a number may stand",
  ],
  ["(func $f (f32x4.extract_lane 4 (nop)))", "$f: 4 where a lane below 4 must stand"],
  ["(func $f (f32x4.madd (nop) (nop)))", "$f: f32x4.madd takes 3 operands, not 2"],
  ["(func $f (f32x4.madd (nop) (nop) (nop) (nop)))", "$f: f32x4.madd takes 3 operands, not more"],
  ["(func $f (block $a) (br $a))", "$f: no block around is called $a"],
  ["(func $f (if (i32.const 1) (nop)))", "$f: nop where then must stand"],
  ["(func $f (if))", "$f: if without a condition"],
  ["(func $f (then))", "$f: then where an instruction must stand"],
  ["(func $f (call $g))", "$f: no function is called $g"],
  ["(func $f (call $Math.random))", "$f: $Math.random takes 1 or 2 operands, not 0"],
  ["(func $f (param $x i32) (call $f))", "$f: $f takes 1 operands, not 0"],
  ["(func $f (call $g (nop)) (call $g))", "$f: $g called with 0 operands, elsewhere 1"],
  ["(func $f (param $x f16))", "$f: no instruction is called f16"],
  ["(func $f (param $x nop))", "$f: nop where a value type must stand"],
  ["(func $f (param i32))", '$f: "i32))" where a $name must stand'],
  ["(func $f (local $x i32) (param $y i32))", "$f: a param after a local"],
  ["(func $f (result i32) (result i32))", "$f: two results"],
  ["(func $f (func $g))", "$f: func inside a function"],
  ["(func $f (nop) (local $x i32))", "$f: local where an instruction must stand"],
  ["(func $f nop)", '$f: "nop)" where ( must stand'],
  ['(func $f (export "a)', "$f: a quoted name does not end"],
  ["(func $f (export a))", '$f: "a))" where a quoted name must stand'],
  ['(func $f (export "a")) (func $g (export "a"))', "$g: a exported twice"],
  ["(func $f (nop)", "$f: the text ends inside a parenthesis"],
  ["(func $f (; (nop)", "$f: a comment does not end"],
  ["(func $f ; nop)", "$f: a lone ;"],
  ["(func $f))", '$f: ")" where a function must stand'],
  ["(module)", "the module: no instruction is called module"],
  ["(nop)", "the module: nop where func must stand"],
  ["(func", "the module: the end of the text where a $name must stand"],
];

test("errors name the function and the atom", () => {
  for (const [text, message] of faults) {
    assert.throws(
      () => assembleVariants([text]),
      (error: Error) => {
        assert.is(error.message.split("\n")[0], `bug in assemble: ${message}`);
        return true;
      },
      text,
    );
  }
});

test.run();
