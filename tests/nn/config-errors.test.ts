/** What has no config, and configs that nobody wrote: errors of our own, and nothing made. */
import { KilnError, type Tensor, tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as vision from "@kiln-ml/vision";
import { test } from "uvu";
import * as assert from "uvu/assert";

const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    assert.instance(error, KilnError);
    return (error as Error).message;
  }
  return assert.unreachable() as never;
};

class Net extends nn.Module {
  readonly fc: nn.Linear;
  constructor(sizes: { readonly width: number }) {
    super();
    this.fc = new nn.Linear(2, sizes.width);
  }
  forward(x: Tensor): Tensor {
    return this.fc.forward(x);
  }
}

test("what has no text is refused, with what would give it one", () => {
  const hooked = new nn.Sequential(new nn.Linear(2, 2));
  nn.hook(hooked.layers[0]!, () => undefined);
  const known = { ...nn, Net };
  const rows: readonly (readonly [() => unknown, string])[] = [
    [
      () => nn.toConfig(3 as never),
      "toConfig: takes a Module, got 3\n  give it the network itself",
    ],
    [
      () => nn.toConfig(new nn.Sequential((x: Tensor) => x.relu()), nn),
      "toConfig: Sequential(0)(0) is a function that has no name here\n  give it one, to fromConfig too: nn.toConfig(net, nn, { functions: { f } })",
    ],
    [
      () => nn.toConfig(hooked, nn),
      "toConfig: the forward of layers.0 was replaced, as hooks do\n  take the hook off first",
    ],
    [
      () => nn.toConfig(new Net({ width: 3 }), nn),
      "toConfig: the class Net has no name here\n  give it one: nn.toConfig(net, { ...nn, Net })",
    ],
    [
      () => nn.toConfig(new Net({ width: 3 }), known),
      "toConfig: Net is not made again by its arguments: fromConfig: Net: Net cannot be made of its arguments: Cannot read properties of undefined (reading 'width')\n  hand those of the constructor to the base: super([width, depth])",
    ],
    [
      () => nn.toConfig(new nn.Sequential(new (class extends nn.Linear {})(1, 1)), nn),
      "toConfig: the class without a name of Sequential(0) has no name here\n  give it one: nn.toConfig(net, { ...nn, Net })",
    ],
    [
      () => nn.toConfig(new nn.HardTanh(tensor([1]) as never)),
      "toConfig: HardTanh(0) is Tensor, which a config cannot hold\n  keep it as a parameter or buffer, which are saved with the weights",
    ],
    [
      () => nn.toConfig(new nn.Linear(2, 2), nn, { function: {} } as never),
      "toConfig: there is no option function\n  did you mean functions?",
    ],
  ];
  for (const [run, message] of rows) assert.is(messageOf(run), message);
});

const known = { ...nn, ...vision };
const config = (module: unknown, rest: object = {}): nn.ModuleConfig =>
  JSON.parse(JSON.stringify({ format: "kiln-module", version: 1, module, ...rest }));
const made = ($class: string, ...args: unknown[]) => ({ $class, args });
const linear = made("Linear", 1, 2);
const read = (text: unknown) => nn.fromConfig(text as nn.ModuleConfig, known, { maxElements: 1e5 });

/** The messages that tell what to do; of others only the class matters. */
const refused: readonly (readonly [unknown, string?])[] = [
  [
    "{}",
    'fromConfig: takes what nn.toConfig gave, got "{}"\n  parse its text first: nn.fromConfig(JSON.parse(text), nn)',
  ],
  [{ ...config(linear), version: 2 }, "fromConfig: version 1 is known, this is 2"],
  [config(linear, { code: "" }), "fromConfig: a config has no code"],
  [config(linear, { parts: [] }), "fromConfig: parts must be a record by path, got Array"],
  [config(linear, { frozen: [1] }), "fromConfig: frozen must be a list of paths, got Array"],
  [
    config(made("Missing")),
    'fromConfig: module asks for the class "Missing", which it was not given\n  if you trust the config with it: nn.fromConfig(config, { ...nn, Missing })',
  ],
  [config(made("seed", 1)), "fromConfig: module is of seed, which is no class of modules"],
  [config(made("Module")), "fromConfig: module is of Module, which is no class of modules"],
  [config(made("KilnError"))],
  [config(made("__proto__"))],
  [config(made("constructor"))],
  [config(made("toString"))],
  [
    config(made("Linear", 1, 2, { init: { $function: "eval" } })),
    'fromConfig: module[2].init asks for the function "eval", which it was not given\n  if you trust the config with it: nn.fromConfig(config, nn, { functions: { eval } })',
  ],
  [config(made("Linear", 1, 2, { init: { $init: "constructor", args: [] } }))],
  [config(made("Linear", 1, 2, { init: { $init: "constant", args: 3 } }))],
  [config(made("Linear", 1, 2, { $other: 1 }))],
  [config({ ...linear, more: 1 }), "fromConfig: module has more beside $class"],
  [config([linear])],
  [
    config(made("Sequential", { $ref: 1 })),
    "fromConfig: module[0] has $ref 1, which means nothing here",
  ],
  [
    config(made("Sequential", made("Linear", "a"))),
    'linear: outputs must be an integer of 1 or more, got "a" (in module[0]: Linear)\n  give a whole number; symbols are for inputs, not for layers',
  ],
  [config(made("ResNet", "toString", [1]))],
  [config(made("MobileNetV3", 3))],
  [config(made("UNet", { depth: 1e9, width: 1 }))],
  [
    config(made("Linear", 1e9, 1e9)),
    "fromConfig: the network takes more than 100,000 elements of parameters (in module: Linear)\n  if it may, allow more: { maxElements }",
  ],
  [config(made("TransformerEncoder", 1e9, 2, 1, { hidden: 1 }))],
  [config(made("LSTM", 2, 1, { layers: 1e9 }))],
  [config(made("ResNet", "basic", [1e9, 1, 1, 1]))],
  [{ ...config(linear), module: JSON.parse("[".repeat(1e4) + "]".repeat(1e4)) }],
  [config(linear, { parts: { forward: linear } }), "fromConfig: nothing can be put at forward"],
  [config(linear, { parts: JSON.parse('{"__proto__": 1}') })],
  [
    config(linear, {
      parts: { weight: { $parameter: [1e9, 1e9], dtype: "f32", trainable: true } },
    }),
  ],
  [config(linear, { parts: { weight: { $parameter: [1], dtype: "toString", trainable: true } } })],
  [config(made("Sequential", linear), { parts: { "layers.9": linear } })],
  [config(made("Sequential", linear), { parts: { "layers.length": linear } })],
  [config(made("Sequential", linear), { parts: { "layers.0": { $path: "layers.5" } } })],
  [
    config(made("Sequential", made("Sequential")), {
      parts: { "layers.0.next": { $path: "layers.0" } },
    }),
  ],
  [config(linear, { sizes: { "": 4 } })],
  [config(made("Linear", 2), { sizes: { "": 1e12 } })],
  [config(made("Linear", 2), { sizes: { "": "a" } })],
  [config(linear, { changes: { "": [["lora", { rank: 1e12 }]] } })],
  [config(linear, { changes: { "": [["clone", {}]] } })],
  [config(linear, { changes: { "": [["weightNorm", { name: "__proto__" }]] } })],
  [
    config(linear, { parts: { inputs: 7 } }),
    "fromConfig: inputs is 7, which is no part of this network",
  ],
  [config(linear, { parts: { weight: "a" } })],
  [config(linear, { parts: { inputs: null } })],
  [config(linear, { fields: { "": null } })],
  [config(linear, { fields: { "": "abc" } })],
  [config(linear, { fields: { "": { forward: 3 } } })],
  [config(linear, { fields: { "": { inputs: "a" } } })],
  [config(linear, { fields: { "x.y": { inputs: 2 } } })],
  [config(linear, { frozen: ["nobody"] })],
  [config(linear, { training: { "": "yes" } })],
];

test("a config that nobody wrote is an error of ours, and makes nothing", () => {
  for (const [text, message] of refused) {
    const got = messageOf(() => read(text));
    if (message !== undefined) assert.is(got, message);
  }
  assert.is(
    messageOf(() => nn.fromConfig(config(linear), undefined as never)),
    "fromConfig: takes the classes by name, got undefined\n  nn.fromConfig(config, nn), or of a few: { Linear: nn.Linear }",
  );
  for (const maxElements of [Number.NaN, -1, "5", null])
    assert.match(
      messageOf(() => nn.fromConfig(config(linear), known, { maxElements } as never)),
      "fromConfig: maxElements must be a number of 0 or more",
    );
  // The prototypes of all objects are as they were.
  assert.equal(Object.keys(Object.prototype), []);
});

test("any part of a config may be anything, and is an error of ours or a network", () => {
  const net = new nn.Sequential(new nn.Linear(2), nn.weightNorm(new nn.Linear(2, 2)));
  const whole = nn.toConfig(nn.build(net, [1, 3]).freeze(/^0/));
  const values = [null, true, -1, 1e9, "a", "__proto__", [], {}, { $ref: 1 }, { $class: "Linear" }];
  let tried = 0;
  const visit = (at: readonly string[], x: unknown): void => {
    for (const value of values) {
      const copy = structuredClone({ whole }) as Record<string, unknown>;
      let holder = copy as Record<string, never>;
      for (const key of at.slice(0, -1)) holder = holder[key]!;
      Object.assign(holder, { [at.at(-1)!]: value });
      tried++;
      try {
        read(copy.whole);
      } catch (error) {
        assert.instance(error, KilnError, `${at.join(".")} = ${JSON.stringify(value)}: ${error}`);
      }
    }
    if (x instanceof Object) for (const [key, y] of Object.entries(x)) visit([...at, key], y);
  };
  visit(["whole"], whole);
  assert.ok(tried > 200, `${tried}`);
});

test.run();
