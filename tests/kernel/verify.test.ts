/**
 * What `verify` finds: no fault in any kernel of golden and random programs on each target, as schedules make them and as
 * they are printed; and each kind of fault, planted.
 */
import { readFileSync } from "node:fs";
import type { TargetName } from "@kiln-ml/artifact";
import { input } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { parseKernel } from "../../compiler/src/kernel/parse.ts";
import { faultsOf, verifyKernel } from "../../compiler/src/kernel/verify.ts";
import type { Program } from "../../compiler/src/program.ts";
import { programs } from "../stages/programs.ts";
import { randomProgram } from "../support/graphs.ts";
import { sized, startedOf } from "../support/kernels-of.ts";
import { runs } from "../support/setup.ts";

function isSound(program: Program, target: TargetName, fusion: boolean): void {
  for (const { kernel, starts } of startedOf(program, { target, fusion, verify: verifyKernel }))
    if (starts.every((n) => n === 0)) verifyKernel(kernel, target);
}

for (const target of ["js", "wasm", "webgpu"] as const) {
  test(`${target}: the kernels of golden programs have no fault`, () => {
    for (const make of Object.values(programs))
      for (const fusion of [true, false]) isSound(make(), target, fusion);
  });

  test(`${target}: the kernels of random programs have no fault`, () => {
    const dtypes = ["f32", "f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool"] as const;
    fc.assert(
      fc.property(randomProgram({ symbolic: true, dtypes }), fc.boolean(), (p, fusion) =>
        isSound(sized(p.program), target, fusion),
      ),
      { numRuns: runs(40) },
    );
  });
}

test("wasm: long sums of halves are kept, cut in blocks and read in one dtype", () => {
  for (const dtype of ["f16", "bf16"] as const)
    for (const axis of [0, 1]) {
      const x = input("x", dtype, ["M", "N"]);
      const sums = [
        x.sum(axis),
        x.mul(x).sum(axis).add(1),
        x.sum(),
        x.sub(x.sum(axis, { keepDims: true })),
      ];
      const outputs = sums.map((value, i) => ({ name: `y${i}`, value }));
      isSound({ inputs: [x], outputs, updates: [] }, "wasm", true);
    }
});

test("the compiler says what is wrong with a kernel, and shows it", () => {
  const verify = (kernel: Parameters<typeof verifyKernel>[0], target: TargetName) =>
    verifyKernel(
      { ...kernel, params: kernel.params.map((p) => ({ ...p, access: "read" })) },
      target,
    );
  assert.throws(
    () => compileProgram(programs.chain!(), { target: "js", verify }),
    /^bug in verify: js: mul: mul@ is only read \(store mul@\[i0'\] = .*\)/,
  );
});

test("the example of the decision is a kernel of webgpu", () => {
  const page = readFileSync("docs/decisions/kernel-ir.md", "utf8");
  const [text] = /^kernel [^`]*/m.exec(page)!;
  assert.equal(faultsOf(parseKernel(text), "webgpu"), []);
});

/** A kernel of one array in and one out, and of a workgroup of 64 on webgpu. */
const faults = (body: string, target: TargetName = "js", head = ""): string[] =>
  faultsOf(
    parseKernel(`kernel k
  dim N
  read x@: f32[N]
  read n@: i32[N]
  write y@: f32[N]
${head}${target === "webgpu" ? "  workgroup 64\n" : ""}{
${body}
}
`),
    target,
  );

const row = "loop i' < N serial {";

test("values have the dtype that their places ask for", () => {
  const fault = (line: string) => faults(`${row}\n${line}\n}`)[0]!;
  assert.is(fault("store y@[i'] = n@[i']"), "y@ is f32 and gets i32 (store y@[i'] = n@[i'])");
  assert.is(
    fault("store y@[i'] = x@[i']:f64"),
    "x@ is f32 and is loaded as f64 (store y@[i'] = x@[i']:f64)",
  );
  assert.match(fault("store y@[i'] = add(x@[i'], n@[i'])"), /^add of f32 and i32/);
  assert.match(fault("store y@[i'] = select(x@[i'], 1, 2)"), /^select asks a f32/);
  assert.match(fault("store y@[i'] = less(x@[i'], 1):f32"), /^less gives bool, not f32/);
  assert.match(fault("acc a: i32 = 0"), /^accumulator a is i32 and gets f32/);
  assert.match(fault("acc a: i32 = 0:i32\nset a = x@[i']"), /^accumulator a is i32 and gets f32/);
  assert.match(fault("acc a: f32 = 0\nfma a += x@[i'] * n@[i']"), /^a factor of a is f32 and gets/);
  assert.match(fault("acc a: i32 = 0:i32\naccumulate a by argMax x@[i']"), /has no position/);
  assert.match(fault("dynamic j' = x@[i']"), /^index j' is i32 and gets f32/);
});

test("names are bound before they are used, and once in a block", () => {
  assert.match(faults("store y@[0] = t:f32")[0]!, /^t is not bound/);
  assert.match(faults("let t = 1\nlet t = 2")[0]!, /^t is bound twice in one block/);
  const inner = `${row}\nindex i' = 2*i'\n}`;
  assert.match(faults(inner)[0]!, /^i' is bound where it is in force/);
  assert.match(faults("store z@[0] = 1")[0]!, /^z@ is not bound/);
  assert.match(faults(`${row}\nlet t = 1\n}\nstore y@[0] = t`)[0]!, /^t is not bound/);
  assert.match(faults("let t = 1\nset t = 2")[0]!, /^t is no accumulator/);
  assert.match(faults("let t = 1\nstore y@[0] = t[0]:f32")[0]!, /^t is no array/);
  assert.equal(faults(`let t = 1\n${row}\nlet t = 2\nstore y@[i'] = t\n}`), []);
});

test("parameters are read and written as they say", () => {
  assert.match(faults("store x@[0] = 1")[0]!, /^x@ is only read/);
  assert.match(faults("store y@[0] = y@[0]")[0]!, /^y@ is only written/);
  assert.equal(faults("store z@[0] = z@[0]", "js", "  readwrite z@: f32[1]\n"), []);
});

test("what a target has not is no part of its kernels", () => {
  const gpu = ["array t: shared f32[4]", "invocation l'", "loop i' < N workgroup {\n}"];
  for (const line of gpu) {
    assert.match(faults(line)[0]!, /^js has no workgroups/);
    assert.equal(faults(line, "webgpu"), []);
  }
  assert.match(faults("prefetch x@[0]", "webgpu")[0]!, /^webgpu has no prefetch/);
  assert.match(faults(`${row}\nbarrier\n}`, "wasm")[0]!, /^phases are parted at the top/);
});

test("the invocations of a workgroup meet where all of them are", () => {
  const apart = (body: string) => faults(body, "webgpu")[0] ?? "none";
  const each = (body: string) => `invocation l'\n${body}`;
  const message = /^not all invocations of the workgroup arrive here \(barrier\)/;
  assert.is(apart("barrier"), "none");
  assert.match(apart(each("if -l'+3 >= 0 {\nbarrier\n}")), message);
  assert.is(apart(each("if N-3 >= 0 {\nbarrier\n}")), "none");
  assert.match(apart("loop i' < N local {\nbarrier\n}"), message);
  assert.is(apart("loop i' < N workgroup {\nbarrier\n}"), "none");
  assert.match(apart(each("index j' = 2*l'\nloop i' < j' serial {\nbarrier\n}")), message);
  // An accumulator differs that was changed where not all arrive, until it is combined.
  const sum = "acc a: i32 = 0:i32\nloop i' < N local {\naccumulate a by sum 1:i32\n}\n";
  const far = "dynamic n' = a\nif n' >= 0 {\nbarrier\n}";
  assert.match(apart(`${sum}${far}`), message);
  assert.is(apart(`${sum}combine a by sum\n${far}`), "none");
});

test("places lie inside of parameters and arrays", () => {
  assert.match(faults(`${row}\nstore y@[i'+1] = 0\n}`)[0]!, /^store to y@\[i'\+1\]/);
  assert.match(faults("array t: private f32[4]\nstore t[4] = 0")[0]!, /^store to t\[4\]: 4 of 4/);
});

test.run();
