/**
 * Linear algebra and the transforms on webgpu, values and gradients of batches, against the
 * reference in double precision. Small matrices on a software adapter; the laws themselves are
 * tried on the CPU.
 */
import {
  checkpoint,
  customVjp,
  evaluate,
  grad,
  hessian,
  input,
  jacobian,
  jvp,
  linalg,
  makeValue,
  type Tensor,
  tensor,
  type Value,
  vmap,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { runProgram } from "../support/run.ts";
import { gpuTest } from "../support/webgpu.ts";
import { type Nd, sample } from "../tensor/check.ts";
import { positive, sturdy } from "./oracle.ts";

type Results = (...xs: Tensor[]) => readonly Tensor[];

/** Results in f64 by the reference: what the device is measured by. */
function wanted(of: Results, inputs: readonly Nd[], float: "f32" | "f64") {
  const xs = inputs.map((x, i) => input(`x${i}`, float, x.shape));
  const feeds = new Map<Tensor, Value>(
    xs.map((t, i) => [t, makeValue(float, inputs[i]!.shape, [...inputs[i]!.data])]),
  );
  return { xs, feeds, ys: of(...xs) };
}

/** Throws unless the device gives what the reference gives, as near as sums of f32 allow. */
async function agrees(
  device: Awaited<ReturnType<typeof guardedGpuDevice>>,
  name: string,
  of: Results,
  inputs: readonly Nd[],
  tolerance = 2e-4,
): Promise<void> {
  // biome-ignore format: one line
  const exact = wanted(of, inputs, "f64");
  const want = evaluate([...exact.ys], { inputs: exact.feeds });
  const { xs, feeds, ys } = wanted(of, inputs, "f32");
  const outputs = ys.map((value, i) => ({ name: `y${i}`, value }));
  const options = { target: "webgpu", limits: device.limits } as const;
  const program = { inputs: xs, outputs, updates: [] };
  const { values } = await runProgram(program, feeds, {}, device, options);
  for (const [i, v] of values.entries()) {
    assert.equal([...v.shape], [...want[i]!.shape], `${name}, result ${i}`);
    for (const [k, w] of want[i]!.data.entries()) {
      const got = v.data[k]!;
      assert.ok(Math.abs(got - w) <= tolerance * (1 + Math.abs(w)), `${name}, result ${i}: element ${k} is ${got}, want ${w}`); // biome-ignore format: one line
    }
  }
}

/** A function of the matrices that signs and order do not change, and its gradients. */
const withGradients =
  (of: (...xs: Tensor[]) => Tensor): Results =>
  (...xs) => {
    const y = of(...xs);
    return [y, ...(grad(y.mul(y).sum(), xs) as Tensor[])];
  };

// Each kernel takes its time to compile on a software adapter: two rows, of which no loop is long.
const [general, definite, right] = [sturdy(2, 2), positive(2, 2), sample([2, 2, 1], 3)];
const turned = (x: Tensor) => x.swapAxes(-1, -2);

const decompositions: Readonly<Record<string, readonly [Results, readonly Nd[]]>> = {
  "lu, by solve": [withGradients((x, b) => linalg.solve(x, b)), [general, right]],
  cholesky: [withGradients((x) => linalg.cholesky(x)), [definite]],
  "qr, forward": [
    (x) => {
      const { q, r } = linalg.qr(x!);
      return [q.matmul(r), turned(q).matmul(q)];
    },
    [sample([2, 3, 2], 5)],
  ],
  "eigh, with the gradient of its values": [
    withGradients((x) => linalg.eigh(x).values),
    [definite],
  ],
  "svd, forward": [
    (x) => {
      const { u, s, vt } = linalg.svd(x!);
      return [u.mul(s.expandDims(-2)).matmul(vt), s];
    },
    [sample([2, 2, 3], 5)],
  ],
};

for (const [name, [of, inputs]] of Object.entries(decompositions))
  gpuTest(`${name} on webgpu: batches and gradients`, async () => {
    await agrees(await guardedGpuDevice(), name, of, inputs);
  });

const vector = sample([3], 2);
const cube = (v: Tensor): Tensor => v.mul(v).mul(v.sin()).sum();
const twice = customVjp(
  (a: Tensor) => a.mul(a),
  ([g], _ys, a) => [g!.mul(a!).mul(4)],
);

const transforms: Readonly<Record<string, readonly [Results, readonly Nd[]]>> = {
  jvp: [
    (x, t) => {
      const { value, tangent } = jvp((v: Tensor) => v.sin().mul(v.sum()), x!, t!);
      return [value, tangent, ...(grad(tangent.sum(), [x!]) as Tensor[])];
    },
    [vector, sample([3], 4)],
  ],
  "vmap of a product": [
    withGradients((a, b) => vmap((m: Tensor, v: Tensor) => m.matmul(v).sin())(a, b)),
    [general, sample([2, 2], 1)],
  ],
  "jacobian, either way, and hessian": [
    (x) => [
      jacobian((v) => v.mul(v.sum()), x!, { mode: "forward" }),
      jacobian((v) => v.sin().mul(v.sum()), x!, { mode: "reverse" }),
      hessian(cube, x!),
    ],
    [vector],
  ],
  customVjp: [withGradients((x) => twice(x)), [vector]],
  checkpoint: [withGradients((x) => checkpoint((v: Tensor) => v.sin().exp().mul(v))(x!)), [vector]],
};

for (const [name, [of, inputs]] of Object.entries(transforms))
  gpuTest(`${name} on webgpu`, async () => {
    await agrees(await guardedGpuDevice(), name, of, inputs);
  });

gpuTest(
  "what is singular is the same on webgpu: a pivot of 0, and NaN where it is not positive",
  async () => {
    const [flat, bad] = [tensor([[1, 2], [2, 4]]), tensor([[1, 0], [0, -1]])]; // biome-ignore format: matrices
    const outputs = [linalg.lu(flat).u, linalg.cholesky(bad), linalg.det(flat)].map((value, i) => ({ name: `y${i}`, value })); // biome-ignore format: one line
    const device = await guardedGpuDevice();
    const options = { target: "webgpu", limits: device.limits } as const;
    const { values } = await runProgram(
      { inputs: [], outputs, updates: [] },
      new Map(),
      {},
      device,
      options,
    );
    assert.is(values[0]!.data[3], 0);
    assert.is(values[2]!.data[0], 0);
    assert.ok(Number.isNaN(values[1]!.data[3]!));
  },
);

test.run();
