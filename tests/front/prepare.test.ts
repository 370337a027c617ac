/** Programs that are compiled before their first call, and give back what they hold. */
import { GraphError } from "@kiln-ml/ir";
import { ImportedModel } from "@kiln-ml/onnx";
import { compile, nn, optim, sessionFor, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { OnnxModel, type OnnxTensor } from "../../packages/kiln/src/onnx.ts";
import {
  float32,
  int64,
  loadSmall,
  modelOf,
  numbers,
  type SmallModel,
} from "../onnx/small-model.ts";

const bytesInUse = async (target: "wasm" | "js"): Promise<number> =>
  (await sessionFor(target)).device.memory().byOwner.arrays ?? 0;

test("prepare compiles what the first call finds", async () => {
  const f = compile((x: Tensor) => x.exp().sum(), { inputs: [["N", 4]], target: "wasm" });
  await f.prepare();
  assert.is(f.compiles, 1);
  await f.prepare();
  assert.is(await (await f({ data: new Float32Array(8), shape: [2, 4] })).item(), 8);
  assert.is(f.compiles, 1);
});

test("prepare needs declared inputs", async () => {
  const f = compile((x: Tensor) => x.exp(), { name: "exponential" });
  try {
    await f.prepare();
    assert.unreachable();
  } catch (error) {
    assert.instance(error, GraphError);
    assert.is(
      (error as Error).message,
      'prepare: exponential has neither declared inputs nor been called\n  pass { inputs: [["N", 784]] }',
    );
  }
});

for (const target of ["js", "wasm"] as const)
  test(`dispose gives back programs and weights on ${target}, and a call has them again`, async () => {
    nn.seed(1);
    const net = new nn.Linear(256, 256);
    const f = compile((x: Tensor) => net.forward(x), { inputs: [[1, 256]], target });
    const before = await bytesInUse(target);
    const x = { data: new Float32Array(256).fill(1), shape: [1, 256] };
    const first = await (await f(x)).data();
    assert.ok((await bytesInUse(target)) >= before + 4 * 256 * 256);
    await f.dispose();
    assert.ok(
      (await bytesInUse(target)) <= before + 8192,
      `${await bytesInUse(target)} of ${before}`,
    );
    assert.equal(await (await f(x)).data(), first);
    await f.dispose();
  });

test("dispose keeps parameters that a run has changed, and what another function reads", async () => {
  nn.seed(2);
  const net = new nn.Linear(2, 1);
  const opt = new optim.SGD(net.parameters(), { lr: 0.1 });
  const step = compile(
    (x: Tensor) => {
      const loss = net.forward(x).sum();
      opt.step(loss);
      return loss;
    },
    { target: "js" },
  );
  const forward = compile((x: Tensor) => net.forward(x), { target: "js" });
  const x = [[1, 2]];
  await step(x);
  const trained = await (await forward(x)).data();
  await step.dispose();
  assert.equal(await (await forward(x)).data(), trained);
  await forward.dispose();
  assert.equal(await (await forward(x)).data(), trained);
});

const model = (small: SmallModel): OnnxModel =>
  new OnnxModel(new ImportedModel(modelOf(small)), { target: "wasm" }, {});

test("a model of ONNX is prepared for declared extents, free ones too", async () => {
  for (const shape of [
    ["N", 3],
    [2, 3],
  ]) {
    const m = model({ inputs: { x: shape }, nodes: [{ op: "Relu", inputs: ["x"] }] });
    await m.prepare();
    assert.is(m.compiles, 1);
    await m.run({ x: float32([2, 3], [1, 2, 3, 4, 5, 6]) });
    assert.is(m.compiles, 1);
    await m.dispose();
    const { y } = await m.run({ x: float32([2, 3], [-1, 2, 3, 4, 5, 6]) });
    assert.equal(numbers(y as OnnxTensor), [0, 2, 3, 4, 5, 6]);
    assert.is(m.compiles, 2);
  }
});

test("what only a run can tell is left to it", async () => {
  const m = loadSmall({
    inputs: { n: [] },
    types: { n: "int64" },
    initializers: { zero: int64(0), one: int64(1) },
    nodes: [{ op: "Range", inputs: ["zero", "n", "one"] }],
  });
  await m.prepare();
  const { y } = await m.run({ n: int64(3) });
  assert.equal(numbers(y as OnnxTensor), [0, 1, 2]);
});

test.run();
