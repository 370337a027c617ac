/** The assembler of the wasm target against wabt, the engine and its own error messages. */

import { test } from "uvu";
import * as assert from "uvu/assert";
import loadWabt from "wabt";
import {
  assembleModule,
  assembleVariants,
  moduleText,
} from "../../compiler/src/targets/wasm/assemble.ts";
import { everyInstruction } from "./instructions.ts";

const features = { simd: true, relaxed_simd: true, threads: true };

/** wabt's bytes for the same module, which it has validated. */
async function wabtBytes(functions: readonly string[], relaxed: boolean): Promise<Uint8Array> {
  const wabt = await loadWabt();
  const module = wabt.parseWat("module.wat", moduleText(functions, { relaxed }), features);
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

test.run();
