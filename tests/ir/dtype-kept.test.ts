/** What only moves or leaves out elements gives them back in their own dtype, whatever that is. */
import * as ir from "@kiln-ml/ir";
import { type Dtype, input, type Tensor, tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

const i32 = { dtype: "i32" } as const;
const places = tensor([0, 2], i32);
const moves: Record<string, (x: Tensor, y: Tensor) => Tensor> = {
  tril: (x) => ir.tril(x),
  triu: (x) => ir.triu(x, 1),
  "diag of a vector": (x) => ir.diag(ir.reshape(x, [9])),
  "diag of a matrix": (x) => ir.diag(x),
  diagonal: (x) => ir.diagonal(x),
  roll: (x) => ir.roll(x, 1, 0),
  reverse: (x) => ir.reverse(x, [0]),
  transpose: (x) => ir.transpose(x, [1, 0]),
  reshape: (x) => ir.reshape(x, [9]),
  pad: (x) => ir.pad(x, 0, 1, 2),
  tile: (x) => ir.tile(x, [2, 1]),
  repeat: (x) => ir.repeat(x, [2, 1]),
  concat: (x, y) => ir.concat([x, y]),
  stack: (x, y) => ir.stack([x, y]),
  take: (x) => ir.take(x, places),
  takeAlongAxis: (x) => ir.takeAlongAxis(x, tensor([[0, 1, 2]], i32), 0),
  gather: (x) => ir.gather(x, [places], [1]),
  slice: (x) => ir.sliceAxis(x, 0, 1, 3),
  sort: (x) => ir.sort(x),
  "topK values": (x) => ir.topK(x, 2).values,
  "unique of a size": (x) => ir.unique(x, { size: 4 }).values,
  select: (x, y) => ir.select(tensor([true, false, true]), x, y),
  expandDims: (x) => ir.expandDims(x, 0),
  broadcastTo: (x) => ir.broadcastTo(x, [2, 3, 3]),
  "at().set": (x) => x.at(0).set(1),
};

for (const [name, move] of Object.entries(moves))
  test(`${name} keeps every dtype`, () => {
    for (const dtype of ir.dtypes) {
      const [x, y] = ["x", "y"].map((n) => input(n, dtype as Dtype, [3, 3])) as [Tensor, Tensor];
      assert.is(move(x, y).dtype, dtype, dtype);
    }
  });

test("triangles, diagonals and what is unique of bools", () => {
  const x = tensor([
    [true, true],
    [true, false],
  ]);
  const of = (t: Tensor) => [...ir.evaluate([t])[0]!.data].map(Number);
  assert.equal(of(ir.tril(x)), [1, 0, 1, 0]);
  assert.equal(of(ir.triu(x)), [1, 1, 0, 0]);
  assert.equal(of(ir.diag(tensor([true, true]), 1)), [0, 1, 0, 0, 0, 1, 0, 0, 0]);
  assert.equal(of(ir.unique(x, { size: 3 }).values), [0, 1, 0]);
});

test.run();
