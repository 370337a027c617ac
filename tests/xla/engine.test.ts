/**
 * Programs on the engine: values, states that stay there, and functions that follow their
 * parameters, as on any target.
 */
import { assign, compile, loadState, nn, optim, param, stateBytes, type Tensor, to } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fakeEngine } from "./engine.ts";

const close = (a: ArrayLike<number>, b: ArrayLike<number>, most = 1e-5): void => {
  assert.is(a.length, b.length);
  for (let i = 0; i < a.length; i++)
    assert.ok(
      Math.abs(a[i]! - b[i]!) <= most * Math.max(1, Math.abs(b[i]!)),
      `${i}: ${a[i]} ${b[i]}`,
    );
};

const batch = (seed: number) => ({
  x: { data: Float32Array.from({ length: 48 }, (_, i) => Math.sin(i + seed)), shape: [8, 6] },
  y: { data: Int32Array.from({ length: 8 }, (_, i) => (i + seed) % 3), shape: [8] },
});

/** Losses of a few steps with dropout, and all state afterwards. */
async function trained(options: object) {
  nn.seed(5);
  const net = new nn.Sequential(
    new nn.Linear(6, 8),
    new nn.ReLU(),
    new nn.Dropout(0.25),
    new nn.Linear(8, 3),
  );
  const rule = new optim.AdamW(net.parameters(), { lr: 0.02 });
  const step = compile((x: Tensor, y: Tensor) => {
    const loss = nn.crossEntropy(net.forward(x), y);
    rule.step(loss);
    return loss;
  }, options);
  const losses: number[] = [];
  for (let i = 0; i < 4; i++) {
    const { x, y } = batch(i);
    losses.push(await ((await step(x as never, y as never)) as Tensor).item());
  }
  const state = await stateBytes({ net, rule });
  return { losses, state, net, rule, step };
}

test("a data-parallel step has the losses and states of the same step on js", async () => {
  const engine = fakeEngine();
  const there = await trained({ engine });
  const here = await trained({ target: "js" });
  close(there.losses, here.losses);
  const values = async ({ net, rule }: typeof here) => {
    const all = [...net.checkpoint(), ...rule.checkpoint()].map(([, t]) => t);
    return Promise.all(all.map((t) => t.data()));
  };
  const [a, b] = [await values(there), await values(here)];
  for (const [i, x] of a.entries()) close(Array.from(x, Number), Array.from(b[i]!, Number), 1e-4);
  engine.close();
});

test("what no option places follows its parameters to the engine, and state loads there", async () => {
  const engine = fakeEngine();
  const { net, step, state, rule } = await trained({ engine });
  const { x, y } = batch(9);
  const predict = compile((t: Tensor) => net.forward(t));
  const before = await ((await predict(x as never)) as Tensor).data();
  await step(x as never, y as never);
  const after = await ((await predict(x as never)) as Tensor).data();
  assert.not.equal([...after], [...before]);
  await loadState({ net, rule }, state);
  assert.equal([...(await stateBytes({ net, rule }))], [...state]);
  await to(net, "js");
  engine.close();
  assert.is((await net.parameters()[0]!.data()).length, 48);
});

test("other extents are another program, and a batch that does not divide is refused", async () => {
  const engine = fakeEngine();
  const f = compile((x: Tensor) => x.mul(2).sum(), { engine, inputs: [["N", 3]] });
  const ones = (n: number) => ({ data: new Float32Array(3 * n).fill(1), shape: [n, 3] });
  assert.is(await ((await f(ones(4) as never)) as Tensor).item(), 24);
  assert.is(await ((await f(ones(8) as never)) as Tensor).item(), 48);
  try {
    await f(ones(6) as never);
    assert.unreachable();
  } catch (error) {
    assert.is(
      (error as Error).message,
      "stablehlo: the mesh data=4 cannot cut arg0 [6,3] by [data,null]: 6 does not divide into 4\n  name axes of the mesh, one entry an axis, with extents that divide; a batch that is short is left out by { dropLast: true }",
    );
  }
  assert.is(await ((await f(ones(4) as never)) as Tensor).item(), 24);
  engine.close();
});

/** A counter on the engine, and what each call of it met. */
function counter(flags: readonly string[]) {
  const engine = fakeEngine(flags);
  const count = param(Float32Array.of(0), { shape: [], name: "count" });
  const step = compile(
    (x: Tensor) => {
      assign(count, count.add(x));
      return count.mul(1);
    },
    { engine, inputs: [[]] },
  );
  const add = (x: number) => step({ data: Float32Array.of(x), shape: [] } as never);
  return { engine, count, add: add as (x: number) => Promise<Tensor> };
}
const metBy = async (f: () => Promise<unknown>): Promise<string> => {
  try {
    await f();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

test("a run that fails is told by the next one, which is left out, or by a read", async () => {
  const { engine, count, add } = counter(["--fail-at-run=2"]);
  await add(1);
  await add(2);
  await add(4);
  assert.is(await metBy(() => add(8)), "xla: run: out of memory");
  await add(16);
  assert.equal([...(await count.data())], [19]);
  engine.close();
  const read = counter(["--fail-at-run=1"]);
  await read.add(1);
  const two = await read.add(2);
  assert.is(await metBy(() => two.item()), "xla: run: out of memory");
  await read.add(4);
  assert.equal([...(await read.count.data())], [5]);
  read.engine.close();
});

test("a batch may be written anew as soon as its run is asked for", async () => {
  for (const flags of [[], ["--unshared"]]) {
    const engine = fakeEngine(flags);
    const total = compile((x: Tensor) => x.sum(), { engine, inputs: [["N"]] });
    for (const n of [16, 1 << 17]) {
      const data = new Float32Array(n).fill(1);
      const asked = total({ data, shape: [n] } as never) as Promise<Tensor>;
      const first = await asked;
      data.fill(2);
      assert.is(await first.item(), n);
    }
    engine.close();
  }
});

test.run();
