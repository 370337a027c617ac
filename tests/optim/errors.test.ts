/**
 * What optimizers refuse, word for word.
 */
import { GraphError, input, param, ShapeError, type Tensor, tensor, trace } from "@kiln-ml/ir";
import * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";

const w = param(tensor([1, 2]), { name: "fc.weight" });
const unused = param(tensor([1]), { name: "fc.unused" });
const buffer = param(tensor([1]), { name: "fc.mean", trainable: false });

type Kind = typeof GraphError | typeof ShapeError;
const cases: readonly (readonly [string, Kind, string, () => unknown])[] = [
  [
    "no parameters",
    GraphError,
    "sgd: no parameters to train, needs one or more",
    () => new optim.SGD([], { lr: 1 }),
  ],
  [
    "a negative rate",
    GraphError,
    "sgd: lr must be in [0, Infinity), got -1",
    () => new optim.SGD([w], { lr: -1 }),
  ],
  [
    "a rate that is NaN",
    GraphError,
    "adam: lr must be in [0, Infinity), got NaN",
    () => new optim.Adam([w], { lr: NaN }),
  ],
  [
    "a beta of 1",
    GraphError,
    "adam: betas[1] must be in [0, 1), got 1",
    () => new optim.Adam([w], { lr: 1, betas: [0.9, 1] }),
  ],
  [
    "a negative decay",
    GraphError,
    "adamw: weightDecay must be in [0, Infinity), got -0.1",
    () => new optim.AdamW([w], { lr: 1, weightDecay: -0.1 }),
  ],
  [
    "a clip of 0",
    GraphError,
    "sgd: clipNorm must be positive, got 0",
    () => new optim.SGD([w], { lr: 1, clipNorm: 0 }),
  ],
  [
    "nesterov without momentum",
    GraphError,
    "sgd: nesterov needs momentum and no dampening, got momentum 0, dampening 0",
    () => new optim.SGD([w], { lr: 1, nesterov: true }),
  ],
  [
    "a parameter twice",
    GraphError,
    "sgd: fc.weight is given twice",
    () => new optim.SGD([w, w], { lr: 1 }),
  ],
  [
    "a buffer",
    GraphError,
    "sgd: only trainable parameters can be moved, got the buffer fc.mean",
    () => new optim.SGD([buffer], { lr: 1 }),
  ],
  [
    "an input",
    GraphError,
    "sgd: only trainable parameters can be moved, got Tensor f32[2] (input)",
    () => new optim.SGD([input("x", "f32", [2])], { lr: 1 }),
  ],
  [
    "a loss that is no scalar",
    ShapeError,
    "sgd: loss must be a scalar, got [2]\n  take its mean or sum first",
    () => new optim.SGD([w], { lr: 1 }).step(w.mul(2)),
  ],
  [
    "a parameter that does not reach the loss",
    GraphError,
    "sgd: fc.unused does not reach the loss\n  freeze what is not to be trained",
    () => new optim.SGD([w, unused], { lr: 1, unused: "error" }).step(w.sum()),
  ],
  [
    "parameters of which none reaches the loss",
    GraphError,
    "sgd: fc.unused does not reach the loss\n  freeze what is not to be trained",
    () => new optim.SGD([unused], { lr: 1 }).step(w.sum()),
  ],
  [
    "an unknown way with what is unused",
    GraphError,
    'sgd: unused must be "skip" or "error", got zeros',
    () => new optim.SGD([w], { lr: 1, unused: "zeros" as never }),
  ],
  [
    "too few gradients",
    GraphError,
    "sgd: needs a gradient for each parameter: 2 parameters, 1 gradients",
    () => new optim.SGD([w, unused], { lr: 1 }).apply([w]),
  ],
  [
    "a gradient of another shape",
    ShapeError,
    "sgd: gradient of fc.weight has another shape: [1] for [2]",
    () => new optim.SGD([w], { lr: 1 }).apply([unused]),
  ],
  [
    "a rate that is no scalar",
    ShapeError,
    "sgd: lr must be a scalar, got [2]",
    () => new optim.SGD([w], { lr: w as Tensor }).apply([w]),
  ],
  [
    "clipping nothing",
    GraphError,
    "globalNorm: no gradients, needs one or more",
    () => optim.clipByGlobalNorm([], 1),
  ],
  [
    "a limit that is NaN",
    GraphError,
    "clipByValue: limit must be positive, got NaN",
    () => optim.clipByValue([w], NaN),
  ],
  [
    "a module in place of its parameters",
    GraphError,
    "adam: takes a list of parameters or groups, got Object\n  pass the parameters() of a module",
    () => new optim.Adam({} as never, { lr: 1 }),
  ],
  [
    "a group without a list",
    GraphError,
    "adam: takes a list of parameters or groups, got undefined\n  pass the parameters() of a module",
    () => new optim.Adam([{ lr: 1 }] as never, { lr: 1 }),
  ],
  [
    "a schedule over no steps",
    GraphError,
    "cosine: steps must be positive, got 0",
    () => optim.schedule.cosine(1, 0),
  ],
];

for (const [name, kind, message, run] of cases)
  test(`refused: ${name}`, () => {
    try {
      trace(run);
    } catch (error) {
      assert.instance(error, kind);
      assert.is((error as Error).message, message);
      return;
    }
    assert.unreachable("nothing was thrown");
  });

test.run();
