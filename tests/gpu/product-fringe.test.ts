/**
 * Products a little larger than whole tiles, whose last lines have tiles of their own in the same kernel: right for one line and for
 * many beyond, on either side, with what is fused before and after; and within the limits that every device has.
 */
import { type Dim, dotGeneral, makeValue, param, zeros } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { type Dims, runProgram } from "../support/run.ts";
import { gpuTest, nullDevice } from "../support/webgpu.ts";
import { agrees, open, programOf, x } from "./agree.ts";

/** The choice of one kernel, and its options that have tiles for the rest. */
function choiceOf(program: Program, limits: Readonly<Record<string, number>> = {}) {
  const [decision] = compileProgram(program, { target: "webgpu", tuning: {}, limits }).decisions;
  const { key, options, chosen } = decision!;
  return { key, chosen, mixed: options.filter((o) => o.endsWith("and rest")) };
}

/** a·b with each operand lying either way. */
function product(m: Dim, n: number, k: Dim, turned: Turned): Program {
  const a = x("a", turned[0] ? [k, m] : [m, k]);
  const b = x("b", turned[1] ? [n, k] : [k, n]);
  const lhsContract = [turned[0] ? 0 : 1];
  const rhsContract = [turned[1] ? 1 : 0];
  return programOf([a, b], dotGeneral(a, b, { lhsContract, rhsContract }));
}

type Turned = readonly [boolean, boolean];
const [nn, nt, tn, tt]: readonly Turned[] = [
  [false, false],
  [false, true],
  [true, false],
  [true, true],
];

// Shaders of larger blocks take a software adapter seconds to compile, and differ from this one in numbers alone.
const small = "32x32 4x4 16 and rest";

async function check(programs: readonly Program[], dims: Dims = {}): Promise<void> {
  const device = await open();
  for (const program of programs) {
    const { key, mixed } = choiceOf(program, device.limits);
    assert.ok(mixed.includes(small), key);
    await agrees(device, key, program, dims, { [key]: small });
  }
  device.destroy();
}

const sizes: readonly [string, number, number, number, readonly Turned[]][] = [
  ["a line and a column", 65, 129, 17, [nn!, tt!]],
  ["a line", 65, 64, 20, [nt!]],
  ["a column", 64, 97, 33, [tn!]],
  ["eight of each", 40, 72, 40, [nn!]],
  ["nine and three", 41, 67, 64, [tn!]],
  ["sixteen and four", 48, 68, 5, [nt!]],
];
for (const [name, m, n, k, turned] of sizes)
  gpuTest(`${name} beyond whole tiles are right`, () =>
    check(turned.map((t) => product(m, n, k, t))),
  );

gpuTest("so they are with a batch, and with sums of a length that is known later", async () => {
  const [p, q] = [x("p", ["B" as never, 37, 10]), x("q", ["B" as never, 10, 35])];
  await check([programOf([p, q], p.matmul(q)), product(65, 35, "K" as never, nn!)], {
    B: 3,
    K: 21,
  });
});

gpuTest("what is fused before and after reaches the lines beyond as well", async () => {
  const [a, b, bias] = [x("a", [65, 24]), x("b", [24, 68]), x("bias", [68])];
  const y = a.add(1).matmul(b.mul(0.5)).add(bias);
  const [i, j] = [x("i", [33, 7], "i32"), x("j", [7, 35], "i32")];
  await check([programOf([a, b, bias], y.maximum(0), y), programOf([i, j], i.matmul(j))]);
});

test("where sums run beside a product, all tiles are alike", () => {
  const [a, b] = [x("a", [1025, 64]), x("b", [64, 1025])];
  const { mixed } = choiceOf(programOf([a, b], a.matmul(b), a.sum(1)));
  assert.equal(mixed, []);
});

gpuTest("a parameter that a product updates in place is updated once everywhere", async () => {
  const [a, b] = [x("a", [12, 33]), x("b", [12, 35])];
  const w = param(zeros([33, 35]));
  const next = w.sub(a.transpose([1, 0]).matmul(b).mul(0.5));
  const program: Program = { inputs: [a, b], outputs: [], updates: [[w, next]] };
  await check([program]);
  const tuning = { [choiceOf(program).key]: small };
  const { kernels, plan } = compileProgram(program, { target: "webgpu", tuning }).artifact;
  assert.is(kernels[0]!.bindings.length, 3);
  assert.is(plan.steps.length, 1);
});

/** Sums of 0 whose terms cancel in runs of so many: what an invocation has of them alone is more than the greatest f16. */
async function checkCancelling(m: number, n: number, run: number, tuned: boolean): Promise<void> {
  const device = await open();
  const [a, b] = [x("a", [m, 256], "f16"), x("b", [256, n], "f16")];
  const program = programOf([a, b], a.matmul(b));
  const sign = (k: number): number => (Math.floor(k / run) % 2 ? -250 : 250);
  const feeds = new Map([
    [a, makeValue("f16", [m, 256], new Array(m * 256).fill(250))],
    [
      b,
      makeValue(
        "f16",
        [256, n],
        Array.from({ length: 256 * n }, (_, i) => sign(i / n)),
      ),
    ],
  ]);
  const tuning = tuned ? { [choiceOf(program, device.limits).key]: small } : {};
  const { limits } = device;
  const { values } = await runProgram(program, feeds, {}, device, {
    target: "webgpu",
    limits,
    tuning,
  });
  assert.ok(
    values[0]!.data.every((v) => v === 0),
    `${m}x${n}: ${values[0]!.data.find((v) => v !== 0)}`,
  );
  device.destroy();
}

gpuTest("parts of a half's sum are joined before they are rounded, beyond tiles", () =>
  checkCancelling(33, 36, 4, true),
);

gpuTest("parts of a half's sum are joined before they are rounded, of few lines", () =>
  checkCancelling(3, 64, 1, false),
);

test("a product takes them of its own accord where that saves tiles, and only there", () => {
  const chosen = (m: Dim, n: number) => choiceOf(product(m, n, 512, nn!)).chosen;
  for (const n of [1025, 1032, 2049]) assert.match(chosen(n, n), /and rest$/);
  for (const n of [1024, 1000, 1023, 96]) assert.not.match(chosen(n, n), /rest/);
  assert.not.match(chosen("M" as never, 1025), /rest/);
});

test("every size of tiles has room for them where a device has what every device has", async () => {
  const device = await nullDevice();
  for (const [m, n] of [
    [1025, 1032],
    [1040, 1025],
  ] as const)
    for (const turned of [nn!, nt!, tn!]) {
      const program = product(m, n, 33, turned);
      const { key, mixed } = choiceOf(program);
      assert.ok(mixed.length > 5, `${mixed}`);
      for (const option of mixed) {
        const tuning = { [key]: option };
        const { artifact } = compileProgram(program, { target: "webgpu", tuning });
        for (const k of artifact.kernels) assert.equal(await problemsOf(device, k), [], option);
      }
    }
  device.destroy();
});

test.run();
