/** What a user may get wrong, each with the message they read. */
import {
  compile,
  DeviceError,
  DtypeError,
  dim,
  GraphError,
  grad,
  input,
  type KilnError,
  optim,
  param,
  ShapeError,
  setDefaultTarget,
  type Tensor,
  tensor,
  zeros,
} from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { rejection } from "./net.ts";

type ErrorClass = new (message: string) => KilnError;

async function refuses(action: () => unknown, kind: ErrorClass, message: string): Promise<void> {
  const error = await rejection((async () => action())());
  assert.instance(error, kind);
  assert.is(error.message, message);
}

const declared = compile((x: Tensor) => x.add(1), {
  target: "js",
  inputs: [{ shape: ["N", 3], name: "x" }],
});

test("a fed shape that does not fit", () =>
  refuses(
    () => declared([[1, 2]]),
    ShapeError,
    "run: input x must have shape [N,3] = [1,3], got [1,2]\n  reshape it, or declare that axis as a symbol and compile again",
  ));

test("a fed rank that does not fit", () =>
  refuses(
    () => declared(tensor([1, 2, 3])),
    ShapeError,
    "run: input x must have shape [N,3], got [3]\n  reshape it, or declare that axis as a symbol and compile again",
  ));

test("a fed dtype that does not fit", async () => {
  await refuses(
    () => declared(tensor([[1, 2, 3]], { dtype: "i32" })),
    DtypeError,
    "run: input x must be f32, got i32\n  convert it, or declare that dtype in inputs",
  );
  const labels = compile((y: Tensor) => y.add(1), {
    target: "js",
    inputs: [{ shape: ["N"], dtype: "i32", name: "y" }],
  });
  await refuses(
    () => labels(Float32Array.of(0.5)),
    DtypeError,
    "run: input y must be i32, got f32 in a Float32Array\n  copy it into the typed array of that dtype, or declare the other in inputs",
  );
});

test("a typed array that fits no whole number of rows", () =>
  refuses(
    () => declared(Float32Array.of(1, 2, 3, 4)),
    ShapeError,
    "run: input x [?,3] does not fit an array of 4 elements\n  pass { data, shape }",
  ));

test("a shaped array of another size", () =>
  refuses(
    () => declared({ data: Float32Array.of(1, 2), shape: [1, 3] }),
    ShapeError,
    "run: input x [1,3] has 3 elements, the array 2\n  give data and shape as many elements",
  ));

test("ragged lists", () =>
  refuses(
    () =>
      declared([
        [1, 2, 3],
        [1, 2],
      ] as number[][]),
    ShapeError,
    "tensor: nested lists are ragged: [1] has length 2, expected length 3\n  make all lists of one depth as long as the first, or pad them",
  ));

test("too few arguments", () =>
  refuses(
    () => (declared as unknown as () => Promise<unknown>)(),
    GraphError,
    "run: program takes 1 arguments, got 0\n  pass one for each of the declared inputs",
  ));

test("an argument that is no tensor", () =>
  refuses(
    () => compile((x: Tensor) => x.add(1), { target: "js" })(new Map() as unknown as number),
    GraphError,
    "compile: argument 0 is a Map, not a tensor, number, list or typed array\n  pass it as a tensor, or let the function close over it",
  ));

test("a typed array without a dtype", () =>
  refuses(
    () =>
      compile((x: Tensor) => x.add(1), { target: "js" })(
        new BigInt64Array(1) as unknown as number[],
      ),
    DtypeError,
    "tensor: a BigInt64Array has no dtype of its own\n  copy it into a Float32Array or an Int32Array first",
  ));

test("shapes that do not meet inside the function", () =>
  refuses(
    () => compile((x: Tensor, y: Tensor) => x.add(y), { target: "js" })([1, 2], [1, 2, 3]),
    ShapeError,
    "add: shapes do not broadcast: [2] and [3] differ at axis -1: 2 and 3\n  shapes are lined up from the right, and extents must be equal or 1: reshape or expandDims one",
  ));

test("a symbol that no input binds", () =>
  refuses(
    () =>
      compile((x: Tensor) => x.add(zeros(["M", 3])), { target: "js", inputs: [[1, 3]] })([
        [1, 2, 3],
      ]),
    GraphError,
    "compile: symbol M is no dim of an input, so that a run cannot know its value\n  give an input an axis of that symbol, or write a number",
  ));

test("a dim out of its bounds", () =>
  refuses(
    () =>
      compile((x: Tensor) => x.add(1), {
        target: "js",
        inputs: [{ shape: [dim("B", { min: 1, max: 4 })], name: "x" }],
      })([1, 2, 3, 4, 5]),
    ShapeError,
    "run: dim B must be between 1 and 4, is 5 in input x [B]\n  pass an extent of that range, or declare the dim with other bounds and compile again",
  ));

test("one symbol with two extents", () =>
  refuses(
    () =>
      compile((x: Tensor, y: Tensor) => x.add(y), {
        target: "js",
        inputs: [
          { shape: ["N"], name: "x" },
          { shape: ["N"], name: "y" },
        ],
      })([1, 2], [1, 2, 3]),
    ShapeError,
    "run: dim N is 2 in input x [N] and 3 in input y [N]\n  pass inputs that agree on it",
  ));

test("a declaration that is no shape", () =>
  refuses(
    () => compile((x: Tensor) => x, { inputs: ["N"] as unknown as [] }).artifact(),
    GraphError,
    'compile: input 0 is declared by "N", not by a shape\n  use ["N", 784] or { shape: ["N"], dtype: "i32" }',
  ));

test("a learning rate that is not a number", () =>
  refuses(
    () => new optim.SGD([param([1, 2], { name: "w" })], { lr: Number.NaN }),
    GraphError,
    "sgd: lr must be in [0, Infinity), got NaN\n  give a number of that range; what is left out has its default",
  ));

test("a tensor that was freed", async () => {
  const y = await compile((x: Tensor) => x.add(1), { target: "js" })([1, 2]);
  y.dispose();
  y.dispose();
  await refuses(
    () => y.data(),
    DeviceError,
    "data: f32[2] was freed\n  keep it until the last use, or dispose of it later",
  );
  await refuses(
    () => y.add(1).data(),
    DeviceError,
    "run: input x0: f32[2] was freed\n  keep it until the last use, or dispose of it later",
  );
  await refuses(
    () => declared(y),
    ShapeError,
    "run: input x must have shape [N,3], got [2]\n  reshape it, or declare that axis as a symbol and compile again",
  );
});

test("the gradient of what is no scalar", () =>
  refuses(
    () => {
      const w = param([1, 2], { name: "w" });
      return grad(w.mul(2), [w]);
    },
    ShapeError,
    "grad: y is [2], not a scalar\n  pass a cotangent of shape [2], or reduce y to one number",
  ));

test("a loss that is no scalar", () =>
  refuses(
    () => {
      const w = param([1, 2], { name: "w" });
      new optim.SGD([w], { lr: 1 }).step(w.mul(2));
    },
    ShapeError,
    "sgd: loss must be a scalar, got [2]\n  take its mean or sum first",
  ));

test("a value read while the function is traced", () =>
  refuses(
    () =>
      compile(
        (x: Tensor) => {
          x.data().catch(() => {});
          return x.item() as unknown as Tensor;
        },
        { target: "js" },
      )([1]),
    GraphError,
    "data: Tensor f32[1] (input) has no value while a function is traced\n  return it from the function and read it there",
  ));

test("a compiled function called in another one", async () => {
  const inner = compile((x: Tensor) => x.add(1), { target: "js", name: "inner" });
  let refused: Promise<unknown> = Promise.resolve();
  const outer = compile(
    (x: Tensor) => {
      refused = inner(x);
      refused.catch(() => {});
      return x;
    },
    { target: "js" },
  );
  await outer([1]);
  await refuses(
    () => refused,
    GraphError,
    "compile: inner is called while another function is traced\n  call the function that was given to compile",
  );
});

test("an unknown target", async () => {
  await refuses(
    () => setDefaultTarget("cuda" as "js"),
    GraphError,
    "compile: unknown target cuda\n  targets are js, wasm, native, webgpu",
  );
  await refuses(
    () => compile((x: Tensor) => x, { target: "cuda" as "js" }),
    GraphError,
    "compile: unknown target cuda\n  targets are js, wasm, native, webgpu",
  );
});

test("an artifact of a function whose inputs nobody knows", () =>
  refuses(
    () => compile((x: Tensor) => x.add(1), { name: "f" }).artifact(),
    GraphError,
    'artifact: f has neither declared inputs nor been called\n  pass { inputs: [["N", 784]] }',
  ));

test("a function that is none", () =>
  refuses(
    () => compile(3 as unknown as () => Tensor),
    GraphError,
    "compile: takes a function, got number\n  pass a function of tensors: compile((x) => x.relu())",
  ));

test("an argument of symbolic shape", () =>
  refuses(
    () => declared(input("z", "f32", ["N", 3])),
    ShapeError,
    "run: input x has the symbolic shape [N,3]\n  pass values: what has no numbers yet is for the function that is compiled",
  ));

test("a failed call leaves the next one alone", async () => {
  await rejection(declared([[1]]));
  assert.equal([...(await (await declared([[1, 2, 3]])).data())], [2, 3, 4]);
});

test("zero extents compute what they should", async () => {
  const f = compile((x: Tensor) => ({ sum: x.sum(), same: x.add(1), rows: x.sum(1) }), {
    target: "js",
    inputs: [[dim("Z", { min: 0 }), 3]],
  });
  const { sum, same, rows } = await f({ data: new Float32Array(0), shape: [0, 3] });
  assert.is(await sum.item(), 0);
  assert.equal(same.shape, [0, 3]);
  assert.is((await same.data()).length, 0);
  assert.is((await rows.data()).length, 0);
  assert.is(await (await f([[1, 2, 3]])).sum.item(), 6);
});

test("a symbol of at least 1 refuses an empty batch", () =>
  refuses(
    () => declared({ data: new Float32Array(0), shape: [0, 3] }),
    ShapeError,
    "run: dim N must be at least 1, is 0 in input x [N,3]\n  pass an extent of that range, or declare the dim with other bounds and compile again",
  ));

test.run();
