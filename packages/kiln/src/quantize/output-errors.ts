/** How far the results of one function are from those of another, on the same arguments. */
import { GraphError, isFloat, Tensor } from "@kiln-ml/ir";
import { compile } from "../compile/compile.ts";
import type { Feed } from "../compile/feed.ts";
import { mapTree } from "../compile/tree.ts";
import type { PlainFunction } from "./quantize-functions.ts";
import type { TensorErrors } from "./tensor-errors.ts";

export interface OutputError extends TensorErrors {
  /** `result`, or the path in what the function returns. */
  readonly name: string;
  /** Rows along the last axis, and those of them whose largest element is at the same place. */
  readonly rows: number;
  readonly sameLargest: number;
}

/**
 * Runs two functions on the same arguments and compares their results of floats, each with its
 * largest error and the root of the mean of its square; of rows, how many have their largest
 * element at the same place, as classes and next tokens are told. Rejects with GraphError for
 * results that have not the same names and sizes. No counterpart in PyTorch.
 *
 * @param before What is compared with.
 * @param after The other function.
 * @param args Arguments that both take.
 * @example
 *   const net = new nn.Linear(64, 8);
 *   const model = { fn: (x) => net.forward(x), inputs: [[2, 64]] };
 *   const { functions } = await quantizeFunctions({ model }, { weights: "int8" });
 *   const [y] = await outputErrors(model, functions.model, [ones([2, 64])]);
 *   y.rows // 2
 */
export async function outputErrors(
  before: PlainFunction,
  after: PlainFunction,
  args: readonly unknown[],
): Promise<OutputError[]> {
  const [wanted, found] = [await resultsOf(before, args), await resultsOf(after, args)];
  const out: OutputError[] = [];
  for (const [name, w] of wanted) {
    const f = found.get(name);
    if (f?.data.length !== w.data.length || found.size !== wanted.size)
      throw new GraphError(
        `outputErrors: the functions return ${[...wanted.keys()].join(", ")} and ${[...found.keys()].join(", ")}, of other sizes\n  compare a function with what quantizeFunctions made of it`,
      );
    out.push(compared(name, w, f.data));
  }
  return out;
}

interface Result {
  readonly data: ArrayLike<number>;
  /** The extent of the last axis. */
  readonly last: number;
}

async function resultsOf(
  { fn, inputs }: PlainFunction,
  args: readonly unknown[],
): Promise<Map<string, Result>> {
  const run = compile(fn as (...given: readonly unknown[]) => unknown, { inputs });
  const results: [string, Tensor][] = [];
  const isTensor = (x: unknown): boolean => x instanceof Tensor;
  mapTree(await run(...(args as Feed<unknown>[])), isTensor, (leaf, path) => {
    if (leaf instanceof Tensor) results.push([path || "result", leaf]);
    return leaf;
  });
  const read = new Map<string, Result>();
  for (const [name, t] of results) {
    const last = (t.shape.at(-1) ?? 1) as number;
    if (isFloat(t.dtype)) read.set(name, { data: (await t.data()) as ArrayLike<number>, last });
    t.dispose();
  }
  await run.dispose();
  return read;
}

/** As argMax orders: nothing is larger than NaN. */
const isLarger = (x: number, than: number): boolean =>
  x > than || (Number.isNaN(x) && !Number.isNaN(than));

function compared(name: string, { data, last }: Result, found: ArrayLike<number>): OutputError {
  let [most, errors, squares, same] = [0, 0, 0, 0];
  const rows = last === 0 ? 0 : data.length / last;
  for (let r = 0; r < rows; r++) {
    let [a, b] = [r * last, r * last];
    for (let i = r * last; i < (r + 1) * last; i++) {
      // Equal infinities have no difference that is a number.
      const isEqual = found[i] === data[i];
      const error = isEqual ? 0 : Math.abs(Number(found[i]) - Number(data[i]));
      most = Number.isNaN(error) ? Number.NaN : Math.max(most, error);
      errors += error ** 2;
      squares += Number(data[i]) ** 2;
      if (isLarger(data[i]!, data[a]!)) a = i;
      if (isLarger(found[i]!, found[b]!)) b = i;
    }
    if (a === b) same++;
  }
  const mean = (sum: number): number => Math.sqrt(sum / Math.max(1, data.length));
  return {
    name,
    maxError: most,
    rmsError: mean(errors),
    rms: mean(squares),
    rows,
    sameLargest: same,
  };
}
