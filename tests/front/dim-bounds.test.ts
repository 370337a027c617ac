/**
 * Symbolic extents for which a program is not defined: a run with one is refused, as the function is where the extent is a
 * number. What it must not do is read beside a tensor.
 */
import {
  type CompiledFunction,
  compile,
  dim,
  dimValue,
  type InputSpec,
  pad,
  ShapeError,
  sliceAxis,
  subDim,
  type Tensor,
  tensor,
} from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const table = tensor(
  Float32Array.from({ length: 10 }, (_, i) => 100 + i),
  { shape: [5, 2] },
);

/** x: [N, 2]. */
const functions: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  "the last three": (x) => sliceAxis(x, 0, -3),
  "all but the last two": (x) => sliceAxis(x, 0, 0, -2),
  "a sum of all but two": (x) => sliceAxis(x, 0, 1, -1).sum(),
  "as many of a table": (x) => sliceAxis(table, 0, 0, x.shape[0]!).add(x),
  "a table without the first": (x) => sliceAxis(table, 0, subDim(x.shape[0]!, 1)).sum(0),
  "cut at both ends": (x) => pad(x, 0, [-2, 0], [-1, 0]).mul(2),
  "a table cut to its rest": (x) => sliceAxis(table, 0, x.shape[0]!).sum(),
  "every other, from the third": (x) => sliceAxis(x, 0, 2, undefined, 2).mul(3),
};

const rows = (n: number) => ({
  data: Float32Array.from({ length: 2 * n }, (_, i) => i + 1),
  shape: [n, 2],
});

/** Shape and values, or the class of the error. */
async function meaning(f: CompiledFunction<[Tensor], Tensor>, n: number) {
  try {
    const y = await f(rows(n));
    return [y.shape, [...(await y.data())]];
  } catch (error) {
    assert.instance(error, ShapeError);
    return "refused";
  }
}

for (const [name, fn] of Object.entries(functions))
  for (const target of ["js", "wasm"] as const)
    test(`${target}: ${name}: a symbol allows what a number does`, async () => {
      const f = compile(fn, { target, inputs: [["N", 2]] as readonly InputSpec[] });
      for (let n = 1; n <= 7; n++) {
        const once = compile(fn, { target, inputs: [[n, 2]] });
        assert.equal(await meaning(f, n), await meaning(once, n), `N = ${n}`);
      }
    });

test("the message names the dim and what it must be", async () => {
  const f = compile((x: Tensor) => sliceAxis(x, 0, -3), { inputs: [["N", 2]], target: "js" });
  try {
    await f(rows(2));
    assert.unreachable("nothing was thrown");
  } catch (error) {
    assert.is(
      (error as Error).message,
      "run: dim N must be at least 3, is 2 in input arg0 [N,2]\n  slice: N-3:N is outside axis 0 of [N,2]",
    );
  }
});

test("an extent's value may be negative: it is held nowhere", async () => {
  const f = compile(
    (x: Tensor) =>
      dimValue(subDim(dim("N"), 3))
        .maximum(0)
        .add(x.sum()),
    {
      inputs: [["N", 2]],
      target: "js",
    },
  );
  assert.is(await (await f(rows(1))).item(), 3);
  assert.is(await (await f(rows(4))).item(), 37);
});

test.run();
