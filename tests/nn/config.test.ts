/**
 * Configs of networks: what toConfig writes, fromConfig makes again, for every layer and for what
 * is done with networks afterwards. Configs that nobody wrote: `config-errors.test.ts`.
 */
import {
  evaluate,
  initialValueOf,
  input,
  isFrozen,
  makeValue,
  param,
  relu,
  Tensor,
  trace,
  type Value,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as vision from "@kiln-ml/vision";
import { test } from "uvu";
import * as assert from "uvu/assert";
import * as adapted from "./adapted-layers.ts";
import { layers } from "./every-layer.ts";
import { tensorOf } from "./fixture.ts";
import { cases } from "./module-cases.ts";

const classes: Record<string, unknown> = { ...nn, ...vision, ...adapted };

/** A config on its way through a file. */
const throughText = (config: nn.ModuleConfig): nn.ModuleConfig =>
  JSON.parse(JSON.stringify(config));

const again = (net: nn.Module, known: Record<string, unknown> = classes, options = {}): nn.Module =>
  nn.fromConfig(throughText(nn.toConfig(net, known, options)), known, options);

const stateOf = (net: nn.Module): Record<string, string> =>
  Object.fromEntries(
    [...net.state()].map(([path, t]) => [
      path,
      `${t.dtype}[${t.shape}] ${t.attrs.trainable} ${isFrozen(t)}`,
    ]),
  );

/** What forward gives for numbers, with the state of another network of the same paths. */
function resultOf(net: nn.Module, state: nn.Module, x: Value, second: readonly Tensor[]): Value[] {
  const fed = input("x", x.dtype, x.shape);
  const { forward } = net as unknown as { forward(...xs: Tensor[]): unknown };
  const { value: y } = trace(() => forward.call(net, fed, ...second));
  const feeds = new Map<Tensor, Value>([[fed, x]]);
  for (const [path, t] of net.state())
    feeds.set(t, evaluate([initialValueOf(state.state().get(path)!)])[0]!);
  return evaluate(tensorsIn(y), { inputs: feeds });
}

function tensorsIn(y: unknown): Tensor[] {
  if (y instanceof Tensor) return [y];
  return y instanceof Object ? Object.values(y).flatMap(tensorsIn) : [];
}

/** Throws unless a network comes back from its config: paths, shapes, dtypes, modes and results. */
function comesBack(net: nn.Module, x?: Value, second: readonly Tensor[] = []): nn.Module {
  const copy = again(net);
  assert.instance(copy, net.constructor);
  assert.is(String(copy), String(net));
  assert.equal(stateOf(copy), stateOf(net));
  assert.equal(
    copy.map((m, path) => `${path} ${m.training}`),
    net.map((m, path) => `${path} ${m.training}`),
  );
  if (x) assert.equal(resultOf(copy, net, x, second), resultOf(net, net, x, second));
  assert.equal(nn.toConfig(copy, classes), nn.toConfig(net, classes));
  return copy;
}

for (const [name, [make, shape, dtype = "f32"]] of Object.entries(layers))
  test(`${name} comes back from its config`, () => {
    const net = make();
    // A case binds its second input by a forward of its own.
    delete (net as { forward?: unknown }).forward;
    const { other } = Object.values(cases).find((c) => c.type === name) ?? {};
    const count = shape.reduce((a, b) => a * b, 1);
    const numbers = Array.from({ length: count }, (_, i) =>
      dtype === "i32" ? i % 2 : Math.sin(i),
    );
    comesBack(net, makeValue(dtype, shape, numbers), other ? [tensorOf(other)] : []);
  });

test("a config is short and can be read", () => {
  const net = new nn.Sequential(new nn.Linear(4, 8), new nn.ReLU(), new nn.Dropout(0.1));
  assert.equal(throughText(nn.toConfig(net)), {
    format: "kiln-module",
    version: 1,
    module: {
      $class: "Sequential",
      args: [
        { $class: "Linear", args: [4, 8] },
        { $class: "ReLU", args: [] },
        { $class: "Dropout", args: [0.1] },
      ],
    },
  });
});

class Net extends nn.Module {
  embed = new nn.Linear(3, 4);
  again = this.embed;
  blocks = [new nn.Linear(4, 4), new nn.Sequential(new nn.LayerNorm(4), (x: Tensor) => x.relu())];
  named = new Map<string, nn.Module>([["drop", new nn.Dropout(0.5, { seed: 1 })]]);
  head: nn.Module | undefined = new nn.Linear(4, 2);
  scale = 3;
  forward(x: Tensor): Tensor {
    const layers = [this.again, ...this.blocks, ...this.named.values(), this.head];
    const y = layers.reduce<Tensor>((t, m) => (m ? (m as nn.Layer).forward(t) : t), x);
    return y.mul(this.scale);
  }
}

class Wide extends nn.Module {
  readonly body: nn.Linear;
  constructor(options: { readonly width: number }) {
    super([options]);
    this.body = new nn.Linear(3, options.width);
  }
  forward(x: Tensor): Tensor {
    return this.body.forward(x);
  }
}

/** A layer with arguments of its own. */
class Square extends nn.Linear {
  constructor(width: number) {
    super(width, width);
  }
  override constructorArguments(): readonly unknown[] {
    return [this.outputs];
  }
}

Object.assign(classes, { Net, Wide, Square });
const row = makeValue("f32", [2, 3], [1, 2, 3, 0, -1, 2]);

/** What is done with a network before its config is made, and the sections that this takes. */
const done: Readonly<Record<string, readonly [() => nn.Module, ...(keyof nn.ModuleConfig)[]]>> = {
  "a class of one's own": [() => new Wide({ width: 5 })],
  "a class that extends a layer": [() => new Square(3)],
  "modules as arguments": [() => new nn.Sequential(new Wide({ width: 3 }), new Square(3))],
  "one module twice": [
    () => {
      const shared = new nn.Linear(3, 3);
      return new nn.Sequential(shared, new nn.ReLU(), shared);
    },
  ],
  "layers added later": [() => new nn.Sequential(new nn.Linear(3, 3)).add(new nn.Linear(3, 1))],
  "an Input": [() => new nn.Sequential(new nn.Input([3]), new nn.Dense(4, { activation: "relu" }))],
  "initialisers by name": [
    () =>
      new nn.Linear(3, 2, {
        init: nn.init.kaimingNormal(0, { mode: "fanOut" }),
        biasInit: nn.init.zeros(),
      }),
  ],
  "numbers that JSON lacks": [() => new nn.HardTanh(-0, Number.POSITIVE_INFINITY)],
  "a layer that waits": [() => new nn.Sequential(new nn.ReLU(), new nn.Linear(4))],
  "a layer that learnt its size": [
    () => nn.build(new nn.Sequential(new nn.Linear(4), new nn.Dense(2)), [1, 3]),
    "sizes",
  ],
  "a head that was exchanged": [
    () => Object.assign(new Net(), { head: new nn.Linear(4, 7) }),
    "parts",
  ],
  "a head that was taken away": [() => Object.assign(new Net(), { head: undefined }), "parts"],
  "a block more": [
    () => {
      const net = new Net();
      net.blocks.push(new Square(4));
      net.named.set("more.deeper", new nn.Linear(4, 4));
      return net;
    },
    "parts",
  ],
  "a block less": [
    () => {
      const net = new Net();
      net.blocks.length = 0;
      return net;
    },
    "parts",
  ],
  "weights that are tied later": [
    () => {
      const net = new nn.Sequential(new nn.Linear(3, 3), new nn.Linear(3, 3));
      const [first, second] = net.layers as [nn.Linear, nn.Linear];
      Object.assign(second, { weight: first.weight });
      return net;
    },
    "parts",
  ],
  "modules that are shared later": [
    () => {
      const net = new Net();
      return Object.assign(net, { blocks: [net.blocks[0], net.blocks[0]] });
    },
    "parts",
  ],
  "what was shared and is no longer": [
    () => Object.assign(new Net(), { again: new nn.Linear(3, 4) }),
    "parts",
  ],
  "a parameter that was added": [
    () => Object.assign(new Net(), { gain: param([1, 2], { name: "gain", trainable: false }) }),
    "parts",
  ],
  "a field that was set": [() => Object.assign(new Net(), { scale: 5 }), "fields"],
  "a part of it frozen": [() => new Net().freeze(/^blocks\.0/), "frozen"],
  "all of it frozen": [() => new Net().freeze(), "frozen"],
  "a part of it in evaluation": [
    () => {
      const net = new Net();
      net.blocks[1]!.eval();
      return net;
    },
    "training",
  ],
  "low rank": [
    () => nn.lora(new Net(), { rank: 2, alpha: 3, targets: /^embed|head/ }),
    "changes",
    "frozen",
  ],
  "low rank, merged": [() => nn.mergeLora(nn.lora(new Net(), { rank: 2 }))],
  "weight norm": [
    () => new nn.Sequential(nn.weightNorm(new nn.Linear(3, 2), { axis: null }), new nn.ReLU()),
    "changes",
  ],
  "spectral norm": [() => nn.spectralNorm(new nn.Linear(3, 2), { iterations: 2 }), "changes"],
  "weight norm, removed": [() => nn.removeWeightNorm(nn.weightNorm(new nn.Linear(3, 2)))],
  "low rank in an exchanged head": [
    () => nn.lora(Object.assign(new Net(), { head: new nn.Sequential(new nn.Linear(4, 2)) })),
    "parts",
    "changes",
    "frozen",
  ],
  "a copy": [() => nn.clone(new Net().freeze(/head/)), "frozen"],
  "a copy of one with arguments": [() => nn.clone(new Wide({ width: 5 }))],
};

for (const [name, [make, ...sections]] of Object.entries(done))
  test(`a network with ${name} comes back`, () => {
    const net = make();
    const found = Object.keys(nn.toConfig(net, classes));
    assert.equal(found.sort(), ["format", "module", "version", ...sections].sort());
    const isBuilt = net.map((m) => /\(not built\)/.test(String(m))).every((waits) => !waits);
    // What a copy holds is there once it has run.
    if (isBuilt) comesBack(net, name.startsWith("a copy") ? undefined : row);
    else assert.is(String(again(net)), String(net));
  });

test("vision models come back by their class", () => {
  const make = [
    () => vision.resnet18({ classes: 3, smallImages: true }),
    () => vision.unet({ classes: 2, width: 2, depth: 2 }),
    () => vision.model("mobilenet_v3_small", "js", { classes: 2 }),
  ];
  for (const [net, copy] of make.map((f) =>
    nn.skipInit(() => {
      const made = f();
      return [made, again(made)] as const;
    }),
  )) {
    assert.equal(stateOf(copy), stateOf(net));
    assert.is((copy as vision.VisionModel).backend, net.backend);
  }
  const { module: body } = nn.skipInit(() => nn.toConfig(vision.resnet18({ classes: 3 })));
  assert.equal(body, {
    $class: "ResNet",
    args: ["basic", [2, 2, 2, 2], { classes: 3, channels: 3 }],
  });
});

test("functions among arguments have the names that they are given", () => {
  const square = (x: Tensor) => x.mul(x);
  const net = new nn.Sequential(square, new nn.Dense(2, { activation: square }));
  const copy = again(nn.build(net, [1, 3]), classes, { functions: { square } }) as nn.Sequential;
  assert.is((copy.layers[0] as nn.Lambda).run, square);
  assert.is((copy.layers[1] as nn.Dense).activation, square);
});

test("arguments are those that a constructor was given, whatever becomes of them", async () => {
  const options = { paddingIdx: 0 };
  const table = new nn.Embedding(4, 2, options);
  options.paddingIdx = 1;
  const kernel = [3, 1];
  const conv = new nn.Conv2d(1, 1, kernel, { padding: 0 });
  kernel.push(7);
  const once: { activation?: typeof relu } = { activation: relu };
  const dense = nn.build(new nn.Dense(2, once), [1, 3]);
  delete once.activation;
  for (const [m, args] of [
    [table, [4, 2, { paddingIdx: 0 }]],
    [conv, [1, 1, [3, 1], { padding: 0 }]],
    [dense, [2, { activation: { $function: "relu" } }]],
  ] as const)
    for (const one of [m, nn.clone(m as nn.Module)])
      assert.equal(
        (nn.toConfig(one, nn, { functions: { relu } }).module as { args: unknown }).args,
        args,
      );
});

test("names of classes are those that are given, as after a bundler", () => {
  class t extends nn.Linear {}
  assert.equal(nn.toConfig(new t(2, 3), { Projection: t }).module, {
    $class: "Projection",
    args: [2, 3],
  });
});

test("a config draws nothing, and a network of one draws its first values", async () => {
  const net = new Net();
  nn.seed(7);
  const expected = await new nn.Linear(2, 2).weight.toList();
  nn.seed(7);
  nn.toConfig(net, classes);
  assert.equal(await new nn.Linear(2, 2).weight.toList(), expected);
  const config = nn.toConfig(new nn.Linear(2, 2));
  nn.seed(7);
  const drawn = nn.fromConfig<nn.Linear>(config, nn);
  assert.equal(await drawn.weight.toList(), expected);
});

test.run();
