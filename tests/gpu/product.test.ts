/**
 * Products on webgpu: awkward shapes, operands that lie either way, what is fused before and after, sums beside, few lines, and
 * long sums.
 */
import { type Dim, dotGeneral } from "@kiln-ml/ir";
import { test } from "uvu";
import type { Program } from "../../compiler/src/program.ts";
import { gpuTest } from "../support/webgpu.ts";
import { agrees, open, programOf, x } from "./agree.ts";

/** a·b with each operand lying either way. */
function product(m: Dim, n: Dim, k: Dim, aTurned: boolean, bTurned: boolean): Program {
  const a = x("a", aTurned ? [k, m] : [m, k]);
  const b = x("b", bTurned ? [n, k] : [k, n]);
  const lhsContract = [aTurned ? 0 : 1];
  const rhsContract = [bTurned ? 1 : 0];
  return programOf([a, b], dotGeneral(a, b, { lhsContract, rhsContract }));
}

const sizes: readonly [number, number, number][] = [
  [1, 33, 17],
  [33, 1, 5],
  [12, 8, 20],
  [65, 36, 33],
  [128, 128, 40],
];
for (const [m, n, k] of sizes)
  gpuTest(
    `a product of ${m} by ${n} over ${k} is right, whichever way its operands lie`,
    async () => {
      const device = await open();
      for (const [s, t] of [
        [false, false],
        [false, true],
        [true, false],
        [true, true],
      ] as const)
        await agrees(device, `${s} ${t}`, product(m, n, k, s, t));
      device.destroy();
    },
  );

gpuTest("a product of symbolic extents is right in large tiles", async () => {
  const device = await open();
  for (const turned of [false, true]) {
    const all = product("M" as never, "N" as never, "K" as never, turned, !turned);
    await agrees(device, "all", all, { M: 5, N: 131, K: 18 });
    await agrees(device, "rows", product("M" as never, 512, 20, turned, turned), { M: 130 });
  }
  device.destroy();
});

gpuTest("what is fused into a product, before, after and beside, is right", async () => {
  const device = await open();
  const [a, b, bias] = [x("a", [2, 35, 24]), x("b", [24, 40]), x("bias", [40])];
  const y = a.add(1).matmul(b.mul(0.5)).add(bias);
  await agrees(device, "bias", programOf([a, b, bias], y.maximum(0), y));
  await agrees(device, "sums", programOf([a, b], a.matmul(b), a.sum(2), b.sum(0)));
  const turned = dotGeneral(b, a, { lhsContract: [0], rhsContract: [2] });
  await agrees(device, "turned", programOf([a, b, bias], turned.transpose([1, 2, 0]).add(bias)));
  const [p, q] = [x("p", [3, 20, 16]), x("q", [3, 16, 12])];
  await agrees(device, "batched", programOf([p, q], p.matmul(q)));
  const [i, j] = [x("i", [19, 20], "i32"), x("j", [20, 24], "i32")];
  await agrees(device, "integers", programOf([i, j], i.matmul(j)));
  device.destroy();
});

gpuTest("products with few lines are right", async () => {
  const device = await open();
  for (const turned of [false, true]) {
    await agrees(device, "one", product(1, 68, 100, turned, turned));
    await agrees(device, "three", product(70, 3, turned ? 300 : 20, turned, !turned));
    await agrees(device, "one by many", product("N" as never, 1, "K" as never, false, turned), {
      N: 37,
      K: 129,
    });
  }
  const [p, q, bias] = [x("p", [3, 2, 96]), x("q", [3, 96, 40]), x("bias", [40])];
  await agrees(device, "batched", programOf([p, q, bias], p.matmul(q).add(bias).maximum(1)));
  device.destroy();
});

gpuTest("long sums in parts are right", async () => {
  const device = await open();
  await agrees(device, "product", product(7, 12, 2048, false, false));
  const [a, b] = [x("a", [2, 3, 8, 130]), x("b", [8, 130, 3, 2])];
  const both = dotGeneral(a, b, {
    lhsBatch: [0],
    rhsBatch: [3],
    lhsContract: [2, 3],
    rhsContract: [0, 1],
  });
  await agrees(device, "two axes and a batch", programOf([a, b], both));
  device.destroy();
});

test.run();
