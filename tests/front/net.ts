/** A small classifier and data for it, the same at every call. */
import { nn, setDefaultTarget, type TargetOption, type Tensor } from "kiln-ml";

export class Net extends nn.Module {
  fc1 = new nn.Linear(4, 6);
  fc2 = new nn.Linear(6, 3);

  override forward(x: Tensor): Tensor {
    return this.fc2.forward(this.fc1.forward(x).tanh());
  }
}

/** n rows of 4 numbers. */
export const rows = (n: number): number[][] =>
  Array.from({ length: n }, (_, i) =>
    Array.from({ length: 4 }, (_, j) => Math.fround(Math.sin(i * 4 + j))),
  );

/** n classes of 3. */
export const labels = (n: number): Int32Array => Int32Array.from({ length: n }, (_, i) => i % 3);

/** The test with the target as the default, which all files of tests share. */
export const onTarget = (target: TargetOption, body: () => Promise<void>) => async () => {
  setDefaultTarget(target);
  try {
    await body();
  } finally {
    setDefaultTarget("auto");
  }
};

/** The rejection of a promise; fails if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("expected a rejection");
}
