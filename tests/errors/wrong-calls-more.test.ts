/**
 * The rest of the public surface called wrongly: losses, initial values, schedules, what wraps an optimizer, metrics, data, training,
 * and composites as free functions. Every export is called, or stands in a list of those that are not, with the reason.
 */
import * as ir from "@kiln-ml/ir";
import { KilnError, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { data } from "kiln-ml";
import * as train from "kiln-ml/train";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { faultsOf, strange, wrong } from "./wrong-calls.ts";

type Any = (...args: never[]) => unknown;
type Right = Readonly<Record<string, readonly unknown[]>>;

const isClass = (f: unknown): boolean =>
  typeof f === "function" && /^class\b/.test(Function.prototype.toString.call(f));

const x = ir.tensor([
  [1, 2, 3],
  [4, 5, 6],
]);
const target = ir.tensor([
  [0, 1, 0],
  [1, 0, 1],
]);
const labels = ir.tensor([0, 1], { dtype: "i32" });
const v = ir.tensor([1, 2, 3]);
const image = ir.tensor(new Float32Array(512), { shape: [2, 1, 16, 16] });
const w = ir.param(ir.tensor([1, 2, 3]), { name: "w" });
const set = data.fromArrays([new Float32Array(12), new Int32Array(4)] as const, [[3], []]);

/** The faults of all functions of `space`, classes left to those who make them. */
function sweep(space: object, right: Right, other: readonly unknown[], least: number): string[] {
  const functions = Object.entries(space).filter(
    ([, f]) => typeof f === "function" && !isClass(f),
  ) as [string, Any][];
  assert.ok(functions.length >= least, `${functions.length}`);
  const unknown = Object.keys(right).filter((name) => !functions.some(([n]) => n === name));
  assert.equal(unknown, [], "rows of nothing");
  return functions.flatMap(([name, f]) =>
    faultsOf(name, f, right[name] ?? other, undefined, [...wrong, ...strange]),
  );
}

test("losses, measures and initial values", () => {
  const right: Right = {
    crossEntropy: [x, labels, {}],
    nll: [x, labels, {}],
    ctc: [
      ir.tensor(new Float32Array(60), { shape: [5, 2, 6] }),
      ir.tensor([[1], [2]], { dtype: "i32" }),
      labels.add(5),
      labels.add(1),
      {},
    ],
    gaussianNll: [x, target, x, {}],
    tripletMargin: [x, target, x, {}],
    cosineEmbedding: [x, target, labels, {}],
    marginRanking: [v, v, v, {}],
    multiMargin: [x, labels, {}],
    gramMatrix: [image],
    gramMatrixLoss: [image, image],
    accuracy: [x, labels],
    attention: [image, image, image, {}],
  };
  assert.equal(sweep(nn, right, [x, target, {}], 28), []);
  assert.equal(sweep(nn.init, { fansOf: [[2, 3]], defaultBias: [[2, 3]] }, [0.5], 10), []);
  const makers = Object.entries(nn.init).filter(
    ([name]) => !/^(fansOf|default|seed|skip)/.test(name),
  );
  for (const [name, make] of makers as [string, Any][])
    if (name !== "drawKey") {
      const made = make() as unknown;
      if (typeof made === "function") assert.equal(faultsOf(name, made as Any, [[2, 3]]), []);
    }
});

test("schedules, and what wraps an optimizer or makes one", () => {
  assert.equal(sweep(optim.schedule, {}, [0.1, 10, 0.01, 0.5], 8), []);
  assert.equal(sweep(optim, { polyak: [[w], [w], 0.1], globalNorm: [[w]] }, [[w], 1], 5), []);
  const adam = new optim.Adam([w], { lr: 0.1 });
  const own: Right = { Lookahead: [adam, {}], SWA: [adam, {}], ReduceOnPlateau: [0.1, {}], GradScaler: [{}] };
  const types = Object.entries(optim).filter(([name, t]) => isClass(t) && name !== "Optimizer");
  assert.ok(types.length >= 18);
  for (const [name, Type] of types as unknown as [string, new (...args: unknown[]) => unknown][]) {
    const make = (...args: unknown[]) => new Type(...args);
    assert.equal(faultsOf(`new ${name}`, make as Any, own[name] ?? [[w], { lr: 0.1 }]), []);
  }
}); // biome-ignore format: a table

test("metrics, and what a step asks of them", () => {
  const { metrics } = train;
  assert.equal(sweep(metrics, { mean: ["m", () => x], aurocOf: [[0.5], [1]] }, [{}], 20), []);
  for (const first of [2, ["a"]]) assert.equal(sweep(metrics, {}, [first, {}], 20), []);
  for (const [name, make] of Object.entries(metrics) as [string, Any][]) {
    // Of functions on the host there is nothing to ask.
    if (name.endsWith("Of")) continue;
    const args: Right = { topK: [2], fBeta: [1], mean: ["m", (y: unknown) => y] };
    const metric = make(...((args[name] ?? []) as never[])) as Record<string, Any>;
    // `value` and `merge` take what `batch` gave, from nobody but the program.
    const asked = metric.batch ?? metric.add;
    for (const right of [
      [x, labels],
      [x, target],
      [image, image],
      ["a b", "a c"],
    ])
      assert.equal(faultsOf(`${name}().batch`, asked!, right, metric), []);
  }
});

const picture = { data: new Uint8Array(12), shape: [2, 2, 3] };
const dataRight: Right = {
  fromArrays: [[new Float32Array(6)], [[3]]],
  subset: [set, [0, 1]],
  split: [set, [0.5, 0.5], 1],
  concat: [set, set],
  filter: [set, () => true],
  map: [set, (s: unknown) => s],
  take: [set, 1],
  skip: [set, 1],
  zip: [set, set],
  window: [set, { size: 2 }],
  shuffleBuffer: [set, { size: 2 }],
  kFold: [set, 2, {}],
  stratifiedSplit: [set, [0.5, 0.5], [0, 1, 0, 1], 1],
  permutation: [5, 1, 0],
  weighted: [[1, 1, 1], {}],
  withReplacement: [4, {}],
  stratified: [[0, 1, 0, 1], {}],
  bucketByLength: [[1, 2, 3], { batch: 2 }],
  byGroup: [[1, 1, 2], { batch: 2 }],
  packGraphs: [[{ count: 1, nodes: [1], from: [0], to: [0] }]],
  stack: [[[1, 2], [3, 4]]],
  pad: [[new Float32Array(2), new Float32Array(3)], {}],
  setBatchShape: [new Float32Array(6), [2, 3]],
  batchShapeOf: [new Float32Array(2)],
  readCsv: ["a,b\n1,2", {}],
  readIdx: [Uint8Array.of(0, 0, 8, 1, 0, 0, 0, 2, 1, 2), {}],
  readWav: [new Uint8Array(44), {}],
  readEdf: [new Uint8Array(256), {}],
  readJsonLines: ["{}\n{}", {}],
  decodeImage: [new Uint8Array(10), {}],
  cropImage: [picture, 1, 1],
  resizeImage: [picture, 1, 1],
  fromTensors: [{ a: { data: new Float32Array(6), shape: [2, 3] } }, ["a"]],
  mnistFromIdx: [new Uint8Array(4), new Uint8Array(4), {}],
}; // biome-ignore format: a table

/** As `faultsOf`, of what answers later. */
async function laterFaultsOf(
  name: string,
  f: Any,
  right: readonly unknown[],
  self?: unknown,
): Promise<string[]> {
  const found: string[] = [];
  for (let at = 0; at < right.length; at++)
    for (const [what, value] of wrong) {
      const args = [...right.slice(0, at), value, ...right.slice(at + 1)];
      try {
        await trace(() => f.apply(self, args as never[])).value;
      } catch (e) {
        if (e instanceof KilnError && !e.message.startsWith("bug in")) continue;
        found.push(`${name}, argument ${at} is ${what}: ${String(e).split("\n")[0]}`);
      }
    }
  return found;
}

test("data sets, loaders and readers", async () => {
  // It asks for a worker before it looks at anything.
  const { serveBatches, ...space } = data;
  assert.type(serveBatches, "function");
  assert.equal(sweep(space, dataRight, [set, {}], 30), []);
  const later = ["filter", "decodeImage", "readIdx", "mnistFromIdx", "mnistFromDigits"] as const;
  for (const name of later)
    assert.equal(await laterFaultsOf(name, data[name] as Any, dataRight[name] ?? ["none"]), []);
  const make = (...args: unknown[]) =>
    new (data.DataLoader as unknown as new (...a: unknown[]) => unknown)(...args);
  assert.equal(faultsOf("new DataLoader", make as Any, [set, { batch: 2 }]), []);
  const loader = new data.DataLoader(set, { batch: 2 });
  assert.equal(faultsOf("loader.order", loader.order as Any, [0], loader), []);
  assert.equal(faultsOf("loader.load", loader.load as Any, [loader.state()], loader), []);
  assert.equal(faultsOf("gather", set.gather as Any, [[0, 1]], set), []);
});

test("augmentations", () => {
  const key = new nn.KeyStream({ seed: 1 }).next();
  for (const right of [
    [image, {}],
    [0.5, {}],
    [key, image, {}],
    [key, image, target, {}],
  ])
    assert.equal(sweep(data.augment, {}, right, 8), []);
});

test("training", async () => {
  const net = new nn.Linear(3, 2);
  const loader = new data.DataLoader(set, { batch: 2 });
  const options = {
    loss: nn.crossEntropy,
    optimizer: (p: never) => new optim.SGD(p, { lr: 0.1 }),
    renderer: false,
  };
  const calls: readonly [string, Any, readonly unknown[]][] = [
    ["fit", train.fit as Any, [net, loader, options]],
    ["evaluate", train.evaluate as Any, [net, loader, { loss: nn.crossEntropy }]],
    ["predict", train.predict as Any, [net, loader, {}]],
    ["summaryOf", train.summaryOf as Any, [net]],
    ["earlyStopping", train.earlyStopping as Any, [{}]],
    ["nanGuard", train.nanGuard as Any, [{}]],
  ];
  for (const [name, f, right] of calls) assert.equal(await laterFaultsOf(name, f, right), []);
  const finder = train.findLearningRate as Any;
  assert.equal(
    await laterFaultsOf("findLearningRate", finder, [net, loader, { ...options, steps: 2 }]),
    [],
  );
  const row = new train.Sequential([new nn.Linear(3, 2)]);
  const settings = { optimizer: "sgd", loss: "mse" };
  assert.equal(await laterFaultsOf("compile", row.compile as Any, [settings], row), []);
  row.compile(settings);
  for (const name of ["fit", "evaluate"] as const) {
    const right = [[[1, 2, 3]], [[1, 2]], name === "fit" ? { verbose: 0 } : {}];
    assert.equal(await laterFaultsOf(name, row[name] as Any, right, row), []);
  }
  assert.equal(await laterFaultsOf("predict", row.predict as Any, [[[1, 2, 3]], {}], row), []);
});

test("composites as free functions", () => {
  const functions = new Map<string, unknown>(Object.entries(ir));
  const names =
    "square softsign softplus silu selu relu relu6 mish logSigmoid leakyRelu hardSwish hardSigmoid hardTanh gelu geluTanh elu celu mean variance std norm softmax maskedSoftmax logSoftmax logSumExp normalize lerp clamp where";
  for (const name of names.split(" "))
    for (const right of [[x], [x, x], [x, 0], [x, 0, 1]])
      assert.equal(faultsOf(name, functions.get(name) as Any, right), []);
});

test.run();
