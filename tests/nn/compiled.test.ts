/**
 * Training steps through the compiler and the runtime: on js fused kernels give bit for bit what the reference gives when
 * they round at every op, state included; on wasm they are within the ulps of the ops; several steps follow PyTorch.
 */
import { type HostArray, input, type Tensor, toHost, trace, type Value } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { createCpuDevice } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { runProgram } from "../support/run.ts";
import { agreesOnWasm } from "../support/targets.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";
import { asValue, close, fixture, type Named, type Packed, Session } from "./fixture.ts";

interface Run {
  readonly state: Named;
  readonly x: Packed;
  readonly y: Packed;
  readonly steps: readonly { readonly loss: Packed; readonly state: Named }[];
}
const runs = fixture<Record<"mlp" | "cnn", Run>>("training");
const device = createCpuDevice();

const nets = {
  mlp: () =>
    new nn.Sequential(
      new nn.Linear(5, 8),
      new nn.ReLU(),
      new nn.Linear(8, 6),
      new nn.Tanh(),
      new nn.Linear(6, 3),
    ),
  cnn: () =>
    new nn.Sequential(
      new nn.Conv2d(1, 2, 3, { padding: 1 }),
      new nn.BatchNorm2d(2),
      new nn.ReLU(),
      new nn.MaxPool2d(2),
      new nn.Conv2d(2, 3, 3),
      new nn.ReLU(),
      new nn.Flatten(),
      new nn.Linear(3, 2),
    ),
};

const optimizers: Record<string, (params: Tensor[]) => optim.Optimizer> = {
  sgd: (p) => new optim.SGD(p, { lr: 0.1 }),
  momentum: (p) => new optim.SGD(p, { lr: 0.1, momentum: 0.9 }),
  nesterov: (p) => new optim.SGD(p, { lr: 0.1, momentum: 0.9, nesterov: true, weightDecay: 0.1 }),
  adam: (p) => new optim.Adam(p, { lr: 0.01 }),
  "adamw amsgrad": (p) =>
    new optim.AdamW(p, { lr: optim.schedule.cosine(0.01, 10), amsgrad: true, clipNorm: 1 }),
  rmsprop: (p) => new optim.RMSProp(p, { lr: 0.01, centered: true, momentum: 0.5 }),
};

interface Training {
  readonly net: nn.Layer;
  readonly program: Program;
  readonly session: Session;
  readonly batch: ReadonlyMap<Tensor, Value>;
}

function training(kind: "mlp" | "cnn", optimizer: keyof typeof optimizers): Training {
  const run = runs[kind];
  const net = nets[kind]();
  const step = optimizers[optimizer]!(net.parameters());
  const [x, y] = [input("x", "f32", run.x.shape), input("y", "i32", run.y.shape)];
  const { value, updates } = trace(() => {
    const loss = nn.crossEntropy(net.forward(x), y);
    step.step(loss);
    return loss;
  });
  const outputs = [{ name: "loss", value }];
  const batch = new Map([
    [x, asValue(run.x)],
    [y, asValue(run.y, "i32")],
  ]);
  const program = { inputs: [x, y], outputs, updates: [...updates] };
  return { net, program, session: new Session().load(net, run.state), batch };
}

/** What the step reads: the batch, and parameters with their values so far. */
const feedsOf = ({ program, session, batch }: Training): Map<Tensor, Value> =>
  new Map([
    ...batch,
    ...session.values,
    ...program.updates.map(([p]) => [p, session.valueOf(p)] as const),
  ]);

const stored = (v: Value): HostArray => toHost(v.dtype, v.data);

const kinds = {
  mlp: Object.keys(optimizers),
  cnn: ["momentum", "adamw amsgrad"],
};

for (const kind of ["mlp", "cnn"] as const)
  for (const name of kinds[kind]) {
    test(`js: ${kind} under ${name}: fused steps equal the reference bit for bit`, async () => {
      const t = training(kind, name);
      const options = { target: "js", rounding: "each-op" } as const;
      for (let i = 0; i < 2; i++) {
        const { values } = await runProgram(t.program, feedsOf(t), {}, device, options);
        const loss = t.session.run(
          [t.program.outputs[0]!.value],
          new Map(t.program.updates),
          t.batch,
        );
        assert.equal(stored(values[0]!), stored(loss[0]!));
        for (const [k, [p]] of t.program.updates.entries())
          assert.equal(stored(values[k + 1]!), stored(t.session.valueOf(p)), String(p.attrs.name));
      }
    });

    test(`wasm: ${kind} under ${name}: two steps are within the ulps of their ops`, async () => {
      const t = training(kind, name);
      for (let i = 0; i < 2; i++) {
        await agreesOnWasm(t.program, feedsOf(t));
        t.session.run([], new Map(t.program.updates), t.batch);
      }
    });
  }

/** A device for each target that is not WebGPU's, both variants and numbers of threads of wasm. */
const devices = [
  { target: "js" as const, name: "js", open: () => device },
  ...variants.map((v) => ({
    target: "wasm" as const,
    name: `wasm, ${nameOfVariant(v)}`,
    open: () => wasmDevice(v),
  })),
];

for (const { target, name: on, open } of devices)
  for (const [kind, name] of [
    ["mlp", "adam"],
    ["cnn", "momentum"],
  ] as const)
    test(`${on}: ${kind} under ${name}, compiled as by default, follows PyTorch`, async () => {
      const t = training(kind, name);
      for (const step of runs[kind].steps) {
        const { values } = await runProgram(t.program, feedsOf(t), {}, open(), { target });
        for (const [k, [p]] of t.program.updates.entries()) t.session.values.set(p, values[k + 1]!);
        close("loss", values[0]!, step.loss, 5e-6);
        t.session.check(t.net, step.state, 5e-6);
      }
    });

test.run();
