/** Values of the middle of a compiled function: as they are at every run, at the price of one more result each. */
import { assign, compile, GraphError, grad, nn, param, scan, type Tensor, tap } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const targets = ["js", "wasm"] as const;

for (const target of targets)
  test(`${target}: every run tells the values, in order and with the module that they are in`, async () => {
    class Net extends nn.Module {
      a = new nn.Linear(2, 3);
      forward(x: Tensor): Tensor {
        return tap(this.a.forward(x), "hidden").relu().sum(-1);
      }
    }
    const net = new Net();
    const told: [string, string | undefined, Promise<unknown>][] = [];
    const f = compile((x: Tensor) => tap(net.forward(tap(x.mul(2), "twice")), "out"), {
      target,
      tap: (name, value, path) => told.push([name, path, value.toList()]),
    });
    const rows = [
      [1, 2],
      [3, 4],
      [5, 6],
    ];
    for (const n of [2, 3]) {
      told.length = 0;
      const y = await f(rows.slice(0, n));
      assert.equal(
        told.map(([name, path]) => [name, path]),
        [
          ["twice", undefined],
          ["hidden", "Net"],
          ["out", undefined],
        ],
      );
      const [twice, hidden, out] = (await Promise.all(told.map((t) => t[2]))) as number[][][];
      assert.equal(
        twice,
        rows.slice(0, n).map((r) => r.map((v) => 2 * v)),
      );
      assert.is(hidden!.length, n);
      assert.equal(out, await y.toList());
    }
  });

test("a function that nobody listens to is the same program", async () => {
  const of = (wrap: (x: Tensor) => Tensor) =>
    compile((x: Tensor) => wrap(x.exp()).sum(), { target: "js", inputs: [[4]] }).artifact();
  const [plain, tapped] = [await of((x) => x), await of((x) => tap(x, "e"))];
  assert.equal(tapped.kernels, plain.kernels);
  assert.equal(tapped.signature.outputs, plain.signature.outputs);
});

test("a tap adds no kernel to a chain, and none to the artifact", async () => {
  const f = compile((x: Tensor) => tap(x.exp(), "e").add(1), {
    target: "js",
    inputs: [[4]],
    tap: () => {},
  });
  assert.is((await f.profile([1, 2, 3, 4])).length, 1);
  assert.is((await f.artifact()).signature.outputs.length, 1);
});

test("a parameter is told as it is where it is tapped", async () => {
  const w = param([1, 2], { name: "w" });
  const told: Promise<unknown>[] = [];
  const step = compile(
    () => {
      tap(w, "before");
      assign(w, w.mul(3));
      tap(w, "after");
    },
    { target: "js", tap: (_name, value) => told.push(value.toList()) },
  );
  await step();
  assert.equal(await Promise.all(told), [
    [1, 2],
    [3, 6],
  ]);
});

test("gradients and checks go through", async () => {
  const told: string[] = [];
  const f = compile((x: Tensor) => grad(tap(x.square(), "y").sum(), [x])[0]!, {
    target: "js",
    check: "finite",
    tap: (name) => told.push(name),
  });
  assert.equal(await (await f([1, 2])).toList(), [2, 4]);
  assert.equal(told, ["y"]);
});

const messageOf = async (run: () => unknown): Promise<string> => {
  try {
    await run();
  } catch (error) {
    assert.instance(error, GraphError);
    return (error as Error).message;
  }
  return assert.unreachable() as never;
};

test("what is no one value is refused, and so is a tap without a name", async () => {
  const f = compile(
    (x: Tensor) => scan([], [x], (_, [e]) => ({ carry: [], ys: [tap(e!.exp(), "step")] })).ys[0]!,
    { target: "js", tap: () => {} },
  );
  assert.is(
    await messageOf(() => f([1, 2])),
    "tap: step is inside of a loop, a branch or a transform, where it is no one value\n  return it from there, and tap what comes out",
  );
  assert.is(
    await messageOf(() => tap(param([1]), "")),
    'tap: the name must be text, got ""\n  name the value: tap(x, "logits")',
  );
});

test.run();
