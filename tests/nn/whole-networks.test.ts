/** What is done with a network as a whole: summaries, hooks, parts that are frozen by path, and low-rank adaptation. */
import { ambientUpdates, evaluate, grad, input, tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";

class Net extends nn.Module {
  readonly fc1 = new nn.Linear(4, 8);
  readonly fc2 = new nn.Linear(8, 3);
  override forward(x: ReturnType<typeof tensor>) {
    return this.fc2.forward(this.fc1.forward(x).relu());
  }
}

test("a summary has results, parameters, operations and bytes of each module", () => {
  const found = nn.summary(new Net(), [2, 4]);
  assert.equal(
    found.rows.map((r) => [r.path, r.type, r.output, r.parameters, r.flops, r.bytes]),
    [
      ["", "Net", [2, 3], 67, 2 * 2 * 4 * 8 + 16 + 16 + 2 * 2 * 8 * 3 + 6, 268],
      ["fc1", "Linear", [2, 8], 40, 2 * 2 * 4 * 8 + 16, 160],
      ["fc2", "Linear", [2, 3], 27, 2 * 2 * 8 * 3 + 6, 108],
    ],
  );
  assert.is(
    String(found),
    [
      "module         result  parameters  FLOPs  bytes",
      "Net            [2,3]           67    262    268",
      "  fc1: Linear  [2,8]           40    144    160",
      "  fc2: Linear  [2,3]           27    102    108",
    ].join("\n"),
  );
});

test("a summary of a symbolic batch counts in its symbol, and leaves no hook", () => {
  const net = new Net();
  const before = net.fc1.forward;
  const found = nn.summary(net, ["N", 4]);
  assert.is(String(found.rows[1]!.flops), "72*N");
  assert.is(net.fc1.forward, before);
  assert.is(found.total, found.rows[0]);
});

test("a hook sees each call, may change the result, and goes away", () => {
  const net = new Net();
  const seen: string[] = [];
  const off = nn.hook(net.fc1, (_inputs, y) => {
    seen.push(String((y as { shape: unknown }).shape));
  });
  const zero = nn.hook(net.fc2, (_inputs, y) => (y as ReturnType<typeof tensor>).mul(0));
  const x = tensor([[1, 2, 3, 4]]);
  assert.equal([...evaluate([net.forward(x)])[0]!.data].map(Math.abs), [0, 0, 0]);
  assert.equal(seen, ["1,8"]);
  off();
  zero();
  assert.ok([...evaluate([net.forward(x)])[0]!.data].some((v) => v !== 0));
  assert.is(seen.length, 1);
});

test("parts are frozen and thawed by path", () => {
  const net = new Net();
  net.freeze(/^fc1\./);
  assert.equal([...net.namedParameters().keys()], ["fc2.weight", "fc2.bias"]);
  net.unfreeze(/bias$/g);
  assert.equal([...net.namedParameters().keys()], ["fc1.bias", "fc2.weight", "fc2.bias"]);
});

test("lora changes nothing at first, trains its factors alone, and is merged away", () => {
  const net = new Net();
  const x = tensor([[1, -2, 3, 0.5]]);
  const [before] = evaluate([net.forward(x)]);
  nn.lora(net, { rank: 2, alpha: 4, targets: /fc1/ });
  assert.equal([...net.namedParameters().keys()], ["fc1.lora.a", "fc1.lora.b"]);
  assert.equal([...evaluate([net.forward(x)])[0]!.data], [...before!.data]);
  const gs = grad(net.forward(x).sum(), net.parameters());
  assert.equal(gs.map((g) => g.shape), [[2, 4], [8, 2]]); // biome-ignore format: shapes
  const { value, updates } = trace(() => {
    net.load({
      ...net.weights,
      "fc1.lora.b": tensor(new Float32Array(16).fill(0.25), { shape: [8, 2] }),
    });
    const adapted = net.forward(x);
    nn.mergeLora(net);
    return [adapted, net.forward(x)];
  });
  assert.ok(updates.size > 0);
  const [adapted, merged] = evaluate(value);
  assert.not.equal([...adapted!.data], [...before!.data]);
  for (const [i, v] of merged!.data.entries()) assert.ok(Math.abs(v - adapted!.data[i]!) < 1e-5);
  assert.equal([...net.state().keys()], ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"]);
  assert.is(ambientUpdates().size, 0);
});

test("lora and summary say what they cannot do", () => {
  const message = (call: () => unknown): string => {
    try {
      call();
    } catch (e) {
      return (e as Error).message;
    }
    return "";
  };
  assert.is(
    message(() => nn.lora(new Net(), { targets: /conv/ })),
    "lora: no Linear layer has a path like /conv/\n  net.modules() has the paths",
  );
  assert.is(
    message(() => nn.mergeLora(new Net())),
    "mergeLora: no layer has a second path\n  call nn.lora first",
  );
  assert.is(
    message(() => nn.summary(new Net())),
    "summary: takes inputs, or their shapes\n  nn.summary(net, [1, 784])",
  );
  assert.is(
    message(() => nn.hook(input("x", "f32", [2]) as never, () => {})),
    "hook: takes a module and a function, got Tensor and Function",
  );
});

test.run();
