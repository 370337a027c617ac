/**
 * What the tests of training share: a small problem that is learnt in a moment, and folders that are gone afterwards.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { data, nn, optim, type Tensor } from "kiln-ml";
import type { FitOptions } from "kiln-ml/train";

/** `count` points of the plane, in class 1 where x + y > 0. */
export function points(count: number) {
  const x = Float32Array.from({ length: 2 * count }, (_, i) => Math.sin(i * 1.7));
  const y = Int32Array.from({ length: count }, (_, i) => Number(x[2 * i]! + x[2 * i + 1]! > 0));
  return data.fromArrays([x, y], [[2], []]);
}

export function classifier(seed = 1) {
  nn.seed(seed);
  return new nn.Sequential(new nn.Linear(2, 8), (x: Tensor) => x.relu(), new nn.Linear(8, 2));
}

export const adam =
  (lr = 0.05) =>
  (params: Tensor[]) =>
    new optim.Adam(params, { lr });

export const quiet = {
  optimizer: adam(),
  loss: nn.crossEntropy,
  renderer: false,
} satisfies FitOptions;

export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-train-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function messageOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("nothing was thrown");
}
