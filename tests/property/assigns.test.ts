/**
 * Assignments to parameters are those of JavaScript to variables: every read, that of a bare parameter as the value of another
 * included, sees what was assigned last. Random sequences against a model in plain arrays, on every target, compiled and eager;
 * swaps and rotations are what a plan that writes in place gets wrong first.
 */
import fc from "fast-check";
import {
  assign,
  compile,
  nn,
  optim,
  param,
  type TargetName,
  type TargetOption,
  type Tensor,
  tensor,
  useDevice,
} from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { onTarget } from "../front/net.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { runs } from "../support/setup.ts";
import { gpuTest } from "../support/webgpu.ts";

type Matrix = readonly number[];

/** A function of one or two 2×2 matrices: in the graph, and in plain arrays. */
interface Function {
  readonly graph: (x: Tensor, y: Tensor) => Tensor;
  readonly plain: (x: Matrix, y: Matrix) => Matrix;
}

const same = (x: Matrix): Matrix => x;

/** What gives back its operand: a parameter that is assigned later must not change what was returned before. */
const idle: readonly Function[] = [
  { graph: (x) => x.reshape([2, 2]), plain: same },
  { graph: (x) => x.convert("f32"), plain: same },
  { graph: (x) => x.broadcastTo([2, 2]), plain: same },
  { graph: (x) => x.broadcastInDim([2, 2], [0, 1]), plain: same },
  { graph: (x) => x.bitcast("f32"), plain: same },
  { graph: (x) => x.mul(1), plain: same },
];

const functions: readonly Function[] = [
  ...idle,
  { graph: (x) => x, plain: same },
  { graph: (x) => x, plain: same },
  { graph: (x) => x, plain: same },
  { graph: (x) => x.add(1), plain: (x) => x.map((a) => a + 1) },
  { graph: (x, y) => x.sub(y), plain: (x, y) => x.map((a, i) => a - y[i]!) },
  { graph: (x, y) => x.maximum(y), plain: (x, y) => x.map((a, i) => Math.max(a, y[i]!)) },
  { graph: (x) => x.transpose(), plain: ([a, b, c, d]) => [a!, c!, b!, d!] },
  { graph: (x) => x.reverse([0]), plain: ([a, b, c, d]) => [c!, d!, a!, b!] },
  { graph: (x) => x.sum().broadcastTo([2, 2]), plain: (x) => x.map(() => sumOf(x)) },
];

const sumOf = (x: Matrix): number => x.reduce((a, b) => a + b, 0);

const count = 3;
const first: readonly Matrix[] = [
  [1, 2, 3, 4],
  [-5, 7, 0, 2],
  [6, -1, 9, 8],
];

interface Step {
  readonly kind: "assign" | "keep" | "assignKept" | "read";
  readonly to: number;
  readonly x: number;
  readonly y: number;
  readonly fn: number;
}

const param3 = fc.nat(count - 1);
const stepOf = (...kinds: Step["kind"][]) =>
  fc.record<Step>({
    kind: fc.constantFrom(...kinds),
    to: param3,
    x: param3,
    y: param3,
    fn: fc.nat(functions.length - 1),
  });

/** The steps over whatever stands for matrices: reads at their places, then the values that remain. */
function play<T>(
  steps: readonly Step[],
  cells: { readonly get: (i: number) => T; readonly set: (i: number, value: T) => unknown },
  apply: (fn: Function, x: T, y: T) => T,
): T[] {
  const kept: T[] = [];
  const reads: T[] = [];
  for (const { kind, to, x, y, fn } of steps) {
    const known = kept[y];
    if (kind === "assign") cells.set(to, apply(functions[fn]!, cells.get(x), cells.get(y)));
    else if (kind === "keep")
      kept.unshift(apply(idle[fn % idle.length]!, cells.get(x), cells.get(x)));
    else if (kind === "assignKept" && known !== undefined) cells.set(to, known);
    else reads.push(known ?? apply(functions[functions.length - 1]!, cells.get(x), cells.get(x)));
  }
  for (let i = 0; i < count; i++) reads.push(cells.get(i));
  return reads;
}

const inModel = (steps: readonly Step[], state: Matrix[]): Matrix[] =>
  play<Matrix>(
    steps,
    { get: (i) => state[i]!, set: (i, value) => state.splice(i, 1, value) },
    (fn, x, y) => fn.plain(x, y),
  );

const inGraph = (steps: readonly Step[], params: readonly Tensor[]): Tensor[] =>
  play<Tensor>(
    steps,
    { get: (i) => params[i]!, set: (i, value) => assign(params[i]!, value) },
    (fn, x, y) => fn.graph(x, y),
  );

const paramsOf = (): Tensor[] => first.map((m, i) => param(matrix(m), { name: `p${i}` }));
const matrix = ([a, b, c, d]: Matrix) => [
  [a!, b!],
  [c!, d!],
];
const valuesOf = (all: readonly Tensor[]): Promise<number[][]> =>
  Promise.all(all.map(async (t) => [...(await t.data())].map((v) => v + 0)));

async function agrees(steps: readonly Step[], target: TargetName, fusion: boolean): Promise<void> {
  const params = paramsOf();
  const state = [...first];
  const f = compile(() => inGraph(steps, params), { target, fusion });
  for (let call = 0; call < 2; call++) {
    const want = inModel(steps, state).map((m) => m.map((v) => v + 0));
    assert.equal(await valuesOf(await f()), want, `call ${call}, fusion ${fusion}`);
    assert.equal(await valuesOf(params), want.slice(-count), `states after call ${call}`);
  }
}

/** A test on a software adapter, which the front door refuses to open by itself. */
const onGpu = (name: string, body: () => Promise<void>): void =>
  gpuTest(name, async () => {
    useDevice(await guardedGpuDevice());
    await body();
  });

const sequences = fc.array(stepOf("assign", "assign", "assign", "keep", "assignKept", "read"), {
  minLength: 1,
  maxLength: 9,
});

const onAll = (target: TargetName, times: number) => (): Promise<void> =>
  fc.assert(
    fc.asyncProperty(sequences, fc.boolean(), (steps, fusion) => agrees(steps, target, fusion)),
    { numRuns: runs(times) },
  );

for (const target of ["js", "wasm"] as const)
  test(`random assignments are those of variables on ${target}`, onAll(target, 60));
onGpu("random assignments are those of variables on webgpu", onAll("webgpu", 12));

/** Outside of functions an expression follows its parameters, so only what is read at once is compared. */
async function agreesEagerly(steps: readonly Step[]): Promise<void> {
  const params = paramsOf();
  const state = [...first];
  for (const step of steps) {
    const want = inModel([step], state).map((m) => m.map((v) => v + 0));
    const got = inGraph([step], params);
    if (step.kind === "read") assert.equal(await valuesOf(got), want);
  }
  assert.equal(
    await valuesOf(params),
    state.map((m) => m.map((v) => v + 0)),
  );
}

const eagerly = (times: number) => (): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(stepOf("assign", "assign", "read"), { maxLength: 8 }), agreesEagerly),
    { numRuns: runs(times) },
  );

for (const target of ["js", "wasm"] as const)
  test(`so are those outside of functions, on ${target}`, onTarget(target, eagerly(40)));
onGpu("so are those outside of functions, on webgpu", onTarget("webgpu", eagerly(6)));

const scalars = (...values: number[]): Tensor[] =>
  values.map((v, i) => param(v, { name: `s${i}`, trainable: false }));
const numbersOf = (all: readonly Tensor[]): Promise<number[]> =>
  Promise.all(all.map((t) => t.item()));

/** Compiles the function, or runs it as it is. */
async function done(how: TargetOption | "eager", fn: () => Tensor): Promise<number> {
  return (how === "eager" ? fn() : await compile(fn, { target: how })()).item();
}

async function copiesSee(how: TargetOption | "eager"): Promise<void> {
  const [w, t, a, b] = scalars(1, 0, 5, 2) as [Tensor, Tensor, Tensor, Tensor];
  await done(how, () => {
    assign(w, w.add(1));
    assign(t, w);
    return t.mul(1);
  });
  assert.equal(await numbersOf([w, t]), [2, 2]);
  const read = await done(how, () => {
    assign(a, b);
    assign(b, b.add(10));
    return a.mul(1);
  });
  assert.equal([read, ...(await numbersOf([a, b]))], [2, 2, 12]);
}

async function swaps(how: TargetOption | "eager"): Promise<void> {
  const [a, b, c] = scalars(1, 2, 3) as [Tensor, Tensor, Tensor];
  await done(how, () => {
    const before = a.reshape([]);
    assign(a, b);
    assign(b, before);
    return c.mul(1);
  });
  assert.equal(await numbersOf([a, b]), [2, 1]);
  await done(how, () => {
    const before = c.convert("f32");
    assign(c, b);
    assign(b, a);
    assign(a, before);
    return b.add(c);
  });
  assert.equal(await numbersOf([a, b, c]), [3, 2, 1]);
}

class Online extends nn.Module {
  w = param([1, -2], { name: "w" });
  override forward(x: Tensor): Tensor {
    return x.mul(this.w);
  }
}

async function targetFollows(how: TargetOption | "eager"): Promise<void> {
  const [online, copy, average] = [new Online(), new Online(), new Online()];
  const opt = new optim.SGD(online.parameters(), { lr: 0.5 });
  for (let i = 0; i < 2; i++)
    await done(how, () => {
      const loss = online.forward(tensor([2, 4])).sum();
      opt.step(loss);
      optim.polyak(copy, online, 1);
      assign(average.w, copy.w);
      return loss;
    });
  for (const { w } of [online, copy, average]) assert.equal([...(await w.data())], [-1, -6]);
}

for (const how of ["js", "wasm", "eager"] as const) {
  test(`${how}: a parameter that is assigned bare is read as it stands`, () => copiesSee(how));
  test(`${how}: parameters take each other's values`, () => swaps(how));
  test(`${how}: a target network has the weights of the step`, () => targetFollows(how));
}
onGpu("webgpu: bare assignments, swaps, target networks", async () => {
  for (const law of [copiesSee, swaps, targetFollows]) await law("webgpu");
});

test.run();
