/**
 * Whole training steps against PyTorch: every parameter after each of them.
 */
import { tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import { close, fixture, type Named, type Packed, Session, tensorOf } from "./fixture.ts";

interface Run {
  readonly state: Named;
  readonly x: Packed;
  readonly y: Packed;
  readonly steps: readonly { readonly loss: Packed; readonly state: Named }[];
}
const { mlp, cnn } = fixture<Record<"mlp" | "cnn", Run>>("training");

function follow(net: nn.Layer, optimizer: optim.Optimizer, run: Run, tolerance: number): void {
  const session = new Session().load(net, run.state);
  const { value, updates } = trace(() => {
    const y = tensor(run.y.data as number[], { dtype: "i32" });
    const loss = nn.crossEntropy(net.forward(tensorOf(run.x)), y);
    optimizer.step(loss);
    return loss;
  });
  for (const step of run.steps) {
    const [loss] = session.run([value], updates);
    close("loss", loss!, step.loss, tolerance);
    session.check(net, step.state, tolerance);
  }
}

test("a 3-layer perceptron under Adam follows PyTorch for five steps", () => {
  const net = new nn.Sequential(
    new nn.Linear(5, 8),
    new nn.ReLU(),
    new nn.Linear(8, 6),
    new nn.Tanh(),
    new nn.Linear(6, 3),
  );
  follow(net, new optim.Adam(net.parameters(), { lr: 0.01 }), mlp, 5e-6);
});

test("a convolutional network under SGD with momentum follows PyTorch for three steps", () => {
  const net = new nn.Sequential(
    new nn.Conv2d(1, 2, 3, { padding: 1 }),
    new nn.BatchNorm2d(2),
    new nn.ReLU(),
    new nn.MaxPool2d(2),
    new nn.Conv2d(2, 3, 3),
    new nn.ReLU(),
    new nn.Flatten(),
    new nn.Linear(3, 2),
  );
  follow(net, new optim.SGD(net.parameters(), { lr: 0.1, momentum: 0.9 }), cnn, 5e-6);
});

test.run();
