/** Messages of mistakes that only show in a whole program: optimizers over what a loss does not reach, and the like. */
import { compile, grad, nn, optim, param, type Tensor, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

/** The whole message of what a call rejects with. */
async function message(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
  return "nothing was thrown";
}

const cases: [name: string, expected: string, call: () => unknown][] = [
  [
    "a parameter that the loss does not reach",
    "GraphError: sgd: v does not reach the loss\n  freeze what is not to be trained",
    () => {
      const [w, v] = [param([1, 2], { name: "w" }), param([3, 4], { name: "v" })];
      const opt = new optim.SGD([w, v], { lr: 0.1, unused: "error" });
      return compile((x: Tensor) => opt.step(w.mul(x).sum()))([1, 1]);
    },
  ],
  [
    "a gradient with respect to what the result does not use",
    'GraphError: grad: v (param f32[2]) does not reach y\n  leave it out, or pass { unused: "zeros" } for a gradient of zeros',
    () => {
      const [w, v] = [param([1, 2], { name: "w" }), param([3, 4], { name: "v" })];
      return grad(w.sum(), [v]);
    },
  ],
  [
    "a loss of probabilities for other classes",
    "ShapeError: crossEntropy: probabilities must have the input's shape: [1,1] for [1,2]\n  pass integer classes without the axis of classes, or probabilities of the input's shape",
    () => nn.crossEntropy(tensor([[1, 2]]), tensor([[0.5]])),
  ],
  [
    "a matrix product of extents that differ",
    "ShapeError: matmul: inner extents differ: lhs [2,3] has 3, rhs [2,3] has 2\n  the last axis of lhs and the last but one of rhs must be equal: swapAxes(-1, -2) or reshape one",
    () =>
      tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]).matmul(
        tensor([
          [1, 2, 3],
          [4, 5, 6],
        ]),
      ),
  ],
];

for (const [name, expected, call] of cases)
  test(`${name} is refused with a message that says what`, async () => {
    const got = await message(call);
    assert.is(got, expected);
  });

test.run();
