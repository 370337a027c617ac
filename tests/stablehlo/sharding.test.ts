/**
 * Programs over a mesh: every argument and result is pinned, gradients lie as values do, and values
 * stay what they are.
 */
import {
  evaluate,
  grad,
  input,
  makeValue,
  scan,
  shard,
  type Tensor,
  trace,
  vmap,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import {
  byPath,
  dataParallel,
  exportStableHlo,
  fsdp,
  mesh,
  parseStableHlo,
  type Recipe,
  tensorParallel,
} from "@kiln-ml/stablehlo";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { byText } from "./law.ts";

const refused = (define: () => unknown, message: string): void =>
  assert.throws(define, (e: Error) => {
    assert.is(e.message, message);
    return true;
  });

/** A training step of an MLP under AdamW, whose hidden values are cut by hand. */
function step(cut = true) {
  nn.seed(3);
  const [x, y] = [input("x", "f32", [8, 12]), input("labels", "i32", [8])];
  const net = new nn.Sequential(new nn.Linear(12, 16), new nn.ReLU(), new nn.Linear(16, 4));
  net.checkpoint();
  const rule = new optim.AdamW(net.parameters(), { lr: 0.01 });
  const { value, updates } = trace(() => {
    const hidden = (net.layers[0] as nn.Linear).forward(x);
    const lain = cut ? shard(hidden, ["data", null]) : hidden;
    const loss = nn.crossEntropy((net.layers[2] as nn.Linear).forward(lain.relu()), y);
    rule.step(loss);
    return loss;
  });
  return { inputs: [x, y], outputs: [{ name: "loss", value }], updates: [...updates] };
}

const grid = mesh({ data: 4, model: 2 });
const shardings = (recipe: Recipe | Recipe[]) => {
  const { text, args, results } = exportStableHlo(step(), { mesh: grid, shard: recipe });
  const module = parseStableHlo(text);
  return { text, args, results, module, main: module.functions.get("main")! };
};

test("every argument and result has a spec, and an update has that of its argument", () => {
  for (const recipe of [dataParallel(), fsdp({ least: 16 }), [tensorParallel(), dataParallel()]]) {
    const { args, module, main } = shardings(recipe);
    assert.is(module.mesh, '#sdy.mesh<["data"=4, "model"=2]>');
    assert.ok(main.argumentShardings.every((s) => s !== undefined));
    assert.ok(main.resultShardings.every((s) => s !== undefined));
    for (const [i, { alias }] of args.entries())
      if (alias !== undefined) assert.is(main.resultShardings[alias], main.argumentShardings[i]);
  }
});

test("a batch is cut, parameters are whole, and moments lie as their parameters do", () => {
  const whole = shardings(dataParallel());
  const of = ({ args }: typeof whole, name: string) =>
    args.find((a) => a.name.includes(name))!.spec;
  assert.equal(of(whole, "x"), ["data", null]);
  assert.equal(of(whole, "labels"), ["data"]);
  assert.equal(of(whole, "0.weight"), [null, null]);
  const cut = shardings(fsdp({ least: 16 }));
  assert.equal(of(cut, "0.weight"), ["data", null]);
  const moments = cut.args.filter((a) => a.kind === "param" && a.leaf.attrs.trainable !== true);
  for (const m of moments.filter((a) => a.name.includes("0.weight")))
    assert.equal(m.spec!.slice(-2), ["data", null]);
  assert.ok(moments.some((a) => a.name.includes("0.weight")));
});

test("a recipe that comes first counts, and patterns fit ends of paths", () => {
  const recipes = [byPath({ "2.weight": ["model", null], "*bias": [null] }), fsdp({ least: 16 })];
  const { args } = shardings(recipes);
  const of = (name: string) => args.find((a) => a.name === name)!.spec;
  assert.equal(of("2.weight"), ["model", null]);
  assert.equal(of("0.bias"), [null]);
  assert.equal(of("0.weight"), ["data", null]);
});

test("pairs of products are cut by columns and rows", () => {
  const recipe = tensorParallel();
  const leaf = (name: string, ...shape: number[]) => ({ name, kind: "param" as const, shape });
  assert.equal(recipe(leaf("block.attention.query.weight", 16, 16), grid), ["model", null]);
  assert.equal(recipe(leaf("block.attention.query.bias", 16), grid), ["model"]);
  assert.equal(recipe(leaf("block.attention.out.weight", 16, 16), grid), [null, "model"]);
  assert.is(recipe(leaf("block.attention.out.bias", 16), grid), undefined);
  assert.is(recipe(leaf("block.up.weight", 15, 16), grid), undefined);
  assert.is(recipe(leaf("norm.weight", 16), grid), undefined);
});

test("shard is the identity, its gradient lies as it does, and it goes through transforms", () => {
  const x = input("x", "f32", [4, 6]);
  const y = shard(x.mul(3), ["data", null]);
  const g = grad(y.mul(y).sum(), [x])[0]!;
  const { text } = exportStableHlo({ params: [x], results: [y, g] }, { mesh: grid });
  const constraint = '#sdy.sharding<@mesh, [{"data"}, {}]>}';
  const lines = text.split("\n").filter((l) => l.includes("sharding_constraint"));
  assert.is(lines.length, 2);
  assert.ok(lines.every((l) => l.includes(constraint)));
  const value = makeValue(
    "f32",
    [4, 6],
    Array.from({ length: 24 }, (_, i) => i - 9),
  );
  const [a, b] = evaluate([y, g], { inputs: new Map([[x, value]]) });
  assert.equal(a!.data[5], value.data[5]! * 3);
  assert.equal(b!.data[5], value.data[5]! * 18);
  const each = vmap((row: Tensor) => shard(row, ["data"]).exp())(x);
  assert.equal(each.shape, [4, 6]);
  const [z] = scan([x], [], ([c]) => ({ carry: [shard(c!, ["data", null]).sin()], ys: [] }), {
    length: 2,
  }).carry;
  assert.match(exportStableHlo({ params: [x], results: [z!] }, { mesh: grid }).text, constraint);
});

test("over a mesh a step has the values that it has on one device", () => {
  const program = step();
  const feeds = new Map<Tensor, ReturnType<typeof makeValue>>([
    [
      program.inputs[0]!,
      makeValue(
        "f32",
        [8, 12],
        Array.from({ length: 96 }, (_, i) => Math.sin(i)),
      ),
    ],
    [program.inputs[1]!, makeValue("i32", [8], [0, 1, 2, 3, 3, 2, 1, 0])],
  ]);
  const plain = byText(program, feeds);
  const cut = byText(program, feeds, {}, { mesh: grid, shard: fsdp({ least: 16 }) });
  assert.equal(cut, plain);
  assert.not.match(exportStableHlo(program).text, "sdy");
});

test("all specs that do not fit are told at once", () => {
  const program = step(false);
  refused(
    () =>
      exportStableHlo(program, {
        mesh: mesh({ data: 3 }),
        shard: [byPath({ "0.weight": ["modle", null], "2.weight": ["data"] }), dataParallel()],
      }),
    "stablehlo: the mesh data=3 cannot cut x [8,12] by [data,null]: 8 does not divide into 3; labels [8] by [data]: 8 does not divide into 3; 0.weight [16,12] by [modle,null]: the mesh has no axis modle; 2.weight [4,16] by [data]: 1 entries for 2 axes; adamw.0.weight.moments [2,16,12] by [null,modle,null]: the mesh has no axis modle; adamw.2.weight.moments [2,4,16] by [null,data]: 2 entries for 3 axes\n  name axes of the mesh, one entry an axis, with extents that divide; a batch that is short is left out by { dropLast: true }",
  );
  refused(
    () => exportStableHlo(step(), { mesh: mesh({ batch: 2 }) }),
    "stablehlo: the mesh batch=2 cannot cut shard [8,16] by [data,null]: the mesh has no axis data; shard [8,16] by [data,null]: the mesh has no axis data\n  name axes of the mesh, one entry an axis, with extents that divide; a batch that is short is left out by { dropLast: true }",
  );
});

test("meshes and specs that are none are refused", () => {
  refused(() => mesh({}), "mesh: there is no axis\n  give one with its devices: mesh({ data: 8 })");
  refused(
    () => mesh({ data: 0.5 }),
    "mesh: data is 0.5, not a number of devices\n  give a whole number of 1 or more",
  );
  refused(
    () => mesh({ "a b": 2 }),
    'mesh: "a b" is no name of an axis\n  use letters and digits: mesh({ data: 8 })',
  );
  const x = input("x", "f32", [4, 6]);
  refused(
    () => shard(x, ["data"]),
    "shard: the spec has 1 entries, x is [4,6]\n  give an axis of the mesh or null for each of its 2 axes",
  );
  refused(
    () => shard(x, ["data", "data"]),
    "shard: data cuts two axes of one tensor\n  an axis of the mesh cuts one axis at most",
  );
  refused(
    () => shard(x, ["data", 2 as never]),
    'shard: an axis of the mesh is 2, not a name\n  give letters and digits, or null for an axis that stays whole: ["data", null]',
  );
  refused(
    () => shard(x, "data" as never),
    'shard: the spec is "data", not a list\n  give an entry for each axis: ["data", null]',
  );
});

test.run();
