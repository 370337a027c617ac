/** The programs whose stages are kept in tests/golden, small enough to be read, each named after what it shows. */
import {
  broadcastInDim,
  concat,
  declareParam,
  dim,
  gather,
  grad,
  input,
  pad,
  type Tensor,
  trace,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import type { Program } from "../../compiler/src/program.ts";
import { parseProgram } from "../support/reference.ts";

const f32 = (name: string, ...shape: (number | string)[]): Tensor => input(name, "f32", shape);

/** What `define` returns and assigns, as a program. */
function traced(
  inputs: readonly Tensor[],
  define: () => Readonly<Record<string, Tensor>>,
): Program {
  const { value, updates } = trace(define);
  const outputs = Object.entries(value).map(([name, y]) => ({ name, value: y }));
  return { inputs, outputs, updates: [...updates] };
}

/** One step of an optimizer on the cross-entropy of a network's results. */
function step(
  net: nn.Layer,
  x: Tensor,
  classes: Tensor,
  optimizer: (params: Tensor[]) => optim.Optimizer,
): Program {
  const chosen = optimizer(net.parameters());
  return traced([x, classes], () => {
    const loss = nn.crossEntropy(net.forward(x), classes);
    chosen.step(loss);
    return { loss };
  });
}

const mlp = () => new nn.Sequential(new nn.Linear(6, 8), new nn.ReLU(), new nn.Linear(8, 4));

const text: Record<string, string> = {
  chain: `graph f(%x: f32[16]) {
    %1: f32[16] = neg %x
    %2: f32[16] = exp %1
    %3: f32[16] = add %2 %x
    %4: f32[16] = mul %3 %3
    return %4
  }`,
  broadcast: `graph f(%x: f32[3,5], %row: f32[5], %column: f32[3,1]) {
    %1: f32[3,5] = broadcastInDim %row {dims=[1]}
    %2: f32[3,5] = add %x %1
    %3: f32[3] = reshape %column
    %4: f32[3,5] = broadcastInDim %3 {dims=[0]}
    %5: f32[3,5] = mul %2 %4
    return %5
  }`,
};

const built: Record<string, () => Program> = {
  softmax() {
    const x = f32("x", 4, 10);
    return traced([x], () => ({ y: x.softmax() }));
  },
  layerNorm() {
    const x = f32("x", 4, 8);
    const norm = new nn.LayerNorm(8);
    return traced([x], () => ({ y: norm.forward(x) }));
  },
  "gelu-matmul"() {
    const [x, w, b] = [f32("x", 8, 16), f32("w", 16, 12), f32("b", 12)];
    return traced([x, w, b], () => ({ y: x.matmul(w).add(b).gelu() }));
  },
  "mlp-step"() {
    const sgd = (params: Tensor[]) => new optim.SGD(params, { lr: 0.1 });
    return step(mlp(), f32("x", 5, 6), input("classes", "i32", [5]), sgd);
  },
  "mlp-step-adam"() {
    const adam = (params: Tensor[]) => new optim.Adam(params, { lr: 0.01 });
    return step(mlp(), f32("x", 5, 6), input("classes", "i32", [5]), adam);
  },
  "conv-block"() {
    const net = new nn.Sequential(
      new nn.Conv2d(2, 3, 3, { padding: 1 }),
      new nn.ReLU(),
      new nn.MaxPool2d(2),
      new nn.Flatten(),
      new nn.Linear(12, 4),
    );
    const sgd = (params: Tensor[]) => new optim.SGD(params, { lr: 0.1 });
    return step(net, f32("x", 2, 2, 4, 4), input("classes", "i32", [2]), sgd);
  },
  attention() {
    const [q, k, v] = [f32("q", 2, 4, 8), f32("k", 2, 4, 8), f32("v", 2, 4, 8)];
    return traced([q, k, v], () => ({ y: nn.attention(q, k, v, { causal: true }) }));
  },
  embedding() {
    const table = declareParam("table", "f32", [10, 4], true);
    const ids = input("ids", "i32", [3]);
    const sgd = new optim.SGD([table], { lr: 0.5 });
    return traced([ids], () => {
      const rows = gather(table, [ids], [0]);
      const loss = rows.mul(rows).sum();
      sgd.step(loss);
      return { loss };
    });
  },
  dropout() {
    const x = f32("x", 4, 6);
    const layer = new nn.Dropout(0.25, { seed: 1 });
    return traced([x], () => {
      const y = layer.forward(x);
      return { y, dx: grad(y.sum(), [x])[0]! };
    });
  },
  "batchnorm-train"() {
    const x = f32("x", 6, 3);
    const layer = new nn.BatchNorm1d(3);
    return traced([x], () => ({ y: layer.forward(x) }));
  },
  "reduce-all"() {
    const x = f32("x", 8, 12);
    return traced([x], () => ({ mean: x.mean(), most: x.max(), where: x.argMax() }));
  },
  cumulative() {
    const [x, y] = [f32("x", 4, 16), f32("y", 3, 24, 40)];
    return traced([x, y], () => ({
      shares: x.exp().cumsum(1).mul(0.5),
      after: y.cumsum(1, { exclusive: true, reverse: true }),
    }));
  },
  "symbolic-batch"() {
    const n = dim("N", { min: 1, max: 512 });
    const [x, w, b] = [input("x", "f32", [n, 6]), f32("w", 6, 4), f32("b", 4)];
    return traced([x, w, b], () => ({ y: x.matmul(w).add(b).softmax() }));
  },
  "concat-pad"() {
    const [x, y] = [f32("x", 3, 4), f32("y", 2, 4)];
    return traced([x, y], () => {
      const joined = concat([x, y], 0);
      const wide = pad(joined, 0, [1, 0], [0, 2]);
      return { z: wide.mul(broadcastInDim(wide.sum(1), wide.shape, [0])) };
    });
  },
};

/** A new copy of each program, by name. */
export const programs: Readonly<Record<string, () => Program>> = {
  ...Object.fromEntries(Object.entries(text).map(([name, ir]) => [name, () => parseProgram(ir)])),
  ...built,
};
