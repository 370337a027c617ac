/**
 * Kernel IR as text: what is read back is the kernel that was printed, of golden programs on each target and of random
 * ones, and the targets print it as they print the one before.
 */
import type { TargetName } from "@kiln-ml/artifact";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Kernel } from "../../compiler/src/kernel/kernel.ts";
import { parseKernel } from "../../compiler/src/kernel/parse.ts";
import { keyOfKernel, printKernel } from "../../compiler/src/kernel/print.ts";
import { emitJs } from "../../compiler/src/targets/js/emit.ts";
import { emitWasm } from "../../compiler/src/targets/wasm/emit.ts";
import { emitWgsl } from "../../compiler/src/targets/wgsl/emit.ts";
import { anyKernel, choices } from "../printers/any-kernel.ts";
import { programs } from "../stages/programs.ts";
import { randomProgram } from "../support/graphs.ts";
import { sized, startedOf } from "../support/kernels-of.ts";
import { parseProgram } from "../support/reference.ts";
import { runs } from "../support/setup.ts";

const emitted = (k: Kernel, target: TargetName): string => {
  if (target === "js") return emitJs(k, { rounding: "on-store" }).text;
  return (target === "wasm" ? emitWasm(k) : emitWgsl(k)).text;
};

/** Reads the text of a kernel; its own text, key and printed forms must be those of the kernel. */
function readsBack(kernel: Kernel, target?: TargetName): void {
  const text = printKernel(kernel);
  const again = parseKernel(text);
  assert.fixture(printKernel(again), text);
  assert.is(keyOfKernel(again), keyOfKernel(kernel));
  assert.equal(again.dims, kernel.dims);
  if (target) assert.fixture(emitted(again, target), emitted(kernel, target));
}

for (const target of ["js", "wasm", "webgpu"] as const) {
  test(`${target}: the kernels of golden programs read back`, () => {
    for (const make of Object.values(programs))
      for (const fusion of [true, false])
        for (const { kernel } of startedOf(make(), { target, fusion })) readsBack(kernel, target);
  });

  test(`${target}: the kernels of random programs read back`, () => {
    fc.assert(
      fc.property(randomProgram({ symbolic: true }), fc.boolean(), ({ program }, fusion) => {
        for (const { kernel } of startedOf(sized(program), { target, fusion }))
          readsBack(kernel, target);
      }),
      { numRuns: runs(30) },
    );
  });
}

test("wasm: a guard that a load and a test share reads back as two, and bounds the loop once", () => {
  const program = parseProgram(`graph f() {
    %1: f32[] = constant {value=0}
    %2: f32[2,N] = broadcastInDim %1 {dims=[]}
    %3: f32[] = constant {value=2}
    %4: f32[3,N+1] = pad %2 %3 {low=[0, 1], high=[1, 0], interior=[0, 0]}
    return %4, %2
  }`);
  const options = { target: "wasm", fusion: false } as const;
  for (const { kernel } of startedOf(sized(program), options)) readsBack(kernel, "wasm");
});

test("random kernels read back", () => {
  fc.assert(
    fc.property(choices, (c) => readsBack(anyKernel(c))),
    { numRuns: runs(200) },
  );
});

const sums = `kernel rowSums
  costs 0 bytes, 0 operations
  dim N in [1, 8]
  read x@: f32[4*N]
  scratch kept@: f32[4] widened
  write y@: i32[N]
  workgroup 64
{
  # read by nobody
  comment "one row a workgroup"
  loop i' < N workgroup {
    acc sum: f32 = 0 widened
    index at' = 4*i' where at' in [0, 31]
    loop j' < 4 local {
      %1 = x@[at'+j' if at'+j'-1 >= 0]
      accumulate sum by sum mul(%1, %1)
    }
    combine sum by sum
    if -i'+3 >= 0 and i' == 0 {
      store y@[i'] = convert.stored(select(less(sum, -inf), sum, 1.5)):i32
    }
  }
}
`;

test("a text of all sorts is read, and printed again but for comments", () => {
  const text = printKernel(parseKernel(sums));
  assert.fixture(text, sums.replace(/ *# .*\n/, ""));
});

test("a text out of order is refused with line and column", () => {
  const fails = (from: string | RegExp, to: string, message: string) =>
    assert.throws(
      () => parseKernel(sums.replace(from, to)),
      (e: Error) => {
        assert.is(e.message, message);
        return true;
      },
    );
  fails("combine sum", "join sum", "parse: there is no statement join (line 18, column 5)");
  fails("< 4 local", "<= 4 local", 'parse: expected a dim, got "=" (line 14, column 14)');
  fails("mul(%1, %1)", "mul(%1, %2)", "parse: %2 is not defined (line 16, column 37)");
  fails("[at'+j' if", "[at'+k' if", "parse: k' is not bound (line 15, column 19)");
  fails("y@: i32", "y@: i33", 'parse: there is no dtype "i33" (line 6, column 13)');
  fails(/\}\n$/, "", "parse: expected a statement, got the end (line 23, column 1)");
});

test.run();
