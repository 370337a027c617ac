/** Copies of networks: equal results, parameters of their own, what is shared stays shared; and parameters mapped as one. */
import { GraphError, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { compile } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

class Net extends nn.Module {
  embed = new nn.Linear(3, 4);
  blocks = [new nn.Linear(4, 4), new nn.Sequential(new nn.LayerNorm(4), new nn.ReLU())] as const;
  named = new Map([["drop", new nn.Dropout(0.5)]]);
  norm = new nn.BatchNorm1d(4);
  again = this.embed;
  scale = 3;
  head: nn.Module & { forward(x: Tensor): Tensor } = new nn.Linear(4, 2);
  forward(x: Tensor): Tensor {
    const h = this.blocks[1].forward(this.blocks[0].forward(this.again.forward(x)));
    return this.head.forward(this.norm.forward(this.named.get("drop")!.forward(h).mul(this.scale)));
  }
}

const rows = [
  [1, 2, 3],
  [0, -1, 2],
  [3, 3, 1],
];
const outputs = async (net: Net) =>
  (await (await compile((x: Tensor) => net.forward(x), { target: "js" })(rows)).data()).slice();

test("a copy gives what the first gives, after training too, and then goes its own way", async () => {
  const net = new Net();
  const opt = new optim.Adam(net.parameters(), { lr: 0.1 });
  const step = compile(
    (x: Tensor) => {
      const loss = net.forward(x).square().mean();
      opt.step(loss);
      return loss;
    },
    { target: "js" },
  );
  await step(rows);
  const copy = nn.clone(net);
  assert.instance(copy, Net);
  assert.equal([...copy.state().keys()], [...net.state().keys()]);
  for (const [path, t] of copy.state()) assert.is.not(t, net.state().get(path));
  net.eval();
  copy.eval();
  const before = await outputs(net);
  assert.equal(await outputs(copy), before);
  net.train();
  await step(rows);
  net.eval();
  assert.equal(await outputs(copy), before);
  assert.not.equal(await outputs(net), before);
});

test("what is shared, frozen or evaluated stays so, and objects are not shared", () => {
  const net = new Net().eval();
  net.freeze(/^blocks/);
  const copy = nn.clone(net);
  assert.is(copy.again, copy.embed);
  assert.is.not(copy.embed, net.embed);
  assert.is.not(copy.named, net.named);
  assert.is(copy.training, false);
  assert.is(copy.blocks[0].training, false);
  assert.equal([...copy.namedParameters().keys()], [...net.namedParameters().keys()]);
  assert.is(String(copy), String(net));
});

test("every layer of the package can be copied", async () => {
  const made: nn.Module[] = [
    new nn.LSTM(2, 3, { layers: 2, bidirectional: true, dropout: 0.1 }),
    new nn.GRU(2, 3),
    new nn.Conv2d(1, 2, 3),
    new nn.ConvTranspose2d(2, 1, 3),
    new nn.MultiHeadAttention(4, 2),
    new nn.Embedding(5, 3),
    new nn.EmbeddingBag(5, 3),
    new nn.InstanceNorm2d(2, { affine: true }),
    new nn.AdaptiveAvgPool2d(2),
    new nn.GlobalAvgPool(),
    new nn.Dropout2d(0.2),
    new nn.SwiGLU(2, 3),
    new nn.ReflectionPad2d(1),
    new nn.LPPool2d(2, 2),
    new nn.TransformerEncoder(1, 4, 2),
  ];
  for (const m of made) assert.is(String(nn.clone(m)), String(m));
});

test("mapParameters assigns to what is trained, by path", async () => {
  const net = new Net();
  net.freeze(/^embed/);
  const before = await net.embed.weight.toList();
  nn.mapParameters(net, (w, path) => (path.endsWith("bias") ? w.zerosLike() : w.onesLike()));
  assert.equal(await net.embed.weight.toList(), before);
  assert.equal(await (net.head as nn.Linear).weight.toList(), [
    [1, 1, 1, 1],
    [1, 1, 1, 1],
  ]);
  assert.equal(await (net.head as nn.Linear).bias!.toList(), [0, 0]);
});

const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    assert.instance(error, GraphError);
    return (error as Error).message;
  }
  return assert.unreachable() as never;
};

test("what nobody can copy is refused", () => {
  class Hidden extends nn.Module {
    #scale = 2;
    forward(x: Tensor): Tensor {
      return x.mul(this.#scale);
    }
  }
  assert.is(
    messageOf(() => nn.clone(new Hidden())),
    "clone: Hidden has private members, as #scale, which nobody can copy\n  make them public, or private to TypeScript",
  );
  const hooked = new nn.Linear(2, 2);
  nn.hook(hooked, () => undefined);
  assert.is(
    messageOf(() => nn.clone(hooked)),
    "clone: the forward of a Linear was replaced, by a hook or a second path\n  take the hook off, or call nn.mergeLora first",
  );
  assert.is(
    messageOf(() => nn.clone(3 as never)),
    "clone: takes a Module, got 3\n  give it the network itself",
  );
  assert.is(
    messageOf(() => nn.mapParameters(new nn.Linear(2, 2), 3 as never)),
    "mapParameters: takes a function of a value, got 3",
  );
});

test.run();
