/** Gradients through regions, in f64 against differences, first and second order, and what has none. */

import {
  cond,
  constant,
  dim,
  GraphError,
  grad,
  input,
  makeValue,
  scan,
  type Tensor,
  tensor,
  topologicalOrder,
  whileLoop,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { checkGradient, isSmooth } from "../grad/differences.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { type RandomFlow, randomFlow } from "./random.ts";

const wave = (shape: readonly number[], from: number) =>
  makeValue(
    "f64",
    shape,
    Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(1.3 * i + from)),
  );

const h = input("h", "f64", [2]);
const w = input("w", "f64", [2, 2]);
const xs = input("xs", "f64", [3, 2]);
const given = new Map([
  [h, wave([2], 0.4)],
  [w, wave([2, 2], 1)],
  [xs, wave([3, 2], 2)],
]);

const recurrence = (reverse: boolean, length?: Tensor) =>
  scan(
    [h, constant(0, "i32")],
    [length ?? xs],
    ([c, n], [x], step) => {
      const next = c!.matmul(w).add(x!).tanh();
      return { carry: [next, n!.add(step)], ys: [next.mul(x!), n!] };
    },
    { reverse },
  );

const cases: Record<string, () => Tensor> = {
  "a recurrence": () => recurrence(false).carry[0]!,
  "what a recurrence stacks": () => recurrence(false).ys[0]!,
  "both, from the end": () => {
    const { carry, ys } = recurrence(true);
    return carry[0]!.mul(ys[0]!.sum(0));
  },
  "a scan in a scan": () =>
    scan([h], [xs], ([c], [x]) => {
      const { carry, ys } = scan([c!], [xs], ([d], [y]) => ({
        carry: [
          d!
            .mul(x!)
            .sin()
            .add(y!.mul(w.sum(0))),
        ],
        ys: [d!.mul(y!)],
      }));
      return { carry: [carry[0]!.mul(0.5)], ys: [ys[0]!.sum(0)] };
    }).ys[0]!,
  "a scan that carries nothing": () =>
    scan([], [xs], (_, [x]) => ({ carry: [], ys: [x!.matmul(w)] })).ys[0]!,
  "weights that are used twice, sliced, turned, and added": () => {
    const flat = w.reshape([4]);
    return scan([h.reshape([1, 2])], [xs], ([c], [x]) => {
      const row = x!.reshape([1, 2]);
      const a = c!.matmul(w).add(row.matmul(w.transpose()));
      const b = row.matmul(flat.slice([1], [3]).reshape([2, 1]));
      return {
        carry: [
          a
            .add(b)
            .add(h)
            .add(w.sum(0))
            .tanh()
            .mul(w.slice([0, 0], [1, 2])),
        ],
        ys: [],
      };
    }).carry[0]!;
  },
  "a captured product of many elements, of a small result": () =>
    scan([h.sum()], [xs], ([c], [x]) => ({ carry: [c!.mul(x!.matmul(h)).sin()], ys: [c!] })).ys[0]!,
  "the branch that is taken": () =>
    cond(
      h.sum().less(9),
      () => [h.mul(w.sum(0))],
      () => [h],
    )[0]!,
  "the other branch, in a scan": () =>
    scan([h], [xs], ([c], [x]) => ({
      carry: cond(
        x!.sum().less(0),
        () => [c!.mul(x!)],
        () => [c!.matmul(w).sin()],
      ),
      ys: [],
    })).carry[0]!,
  "a loop of bounded length": () =>
    whileLoop(
      [h, constant(0, "i32")],
      (_, i) => i.less(3),
      (c, i) => [c.matmul(w).sin(), i.add(1)],
      { maxTrips: 5 },
    )[0]!,
};

for (const [name, build] of Object.entries(cases)) {
  test(`the gradient of ${name} agrees with differences`, () => checkGradient(build(), given));
}
for (const name of [
  "a recurrence",
  "weights that are used twice, sliced, turned, and added",
  "the other branch, in a scan",
  "a loop of bounded length",
])
  test(`so does the second, of ${name}`, () => checkGradient(cases[name]!(), given, {}, 2));

/** The gradient with respect to both inputs; nothing where a loop has none. */
function gradientOf({ program }: RandomFlow): { total: Tensor; grads: Tensor[] } | undefined {
  const total = program.outputs.map((o) => o.value.sum()).reduce((a, b) => a.add(b));
  try {
    return { total, grads: grad(total, program.inputs.slice(0, 2), { unused: "zeros" }) };
  } catch (e) {
    if (e instanceof GraphError && e.message.startsWith("grad: whileLoop")) return undefined;
    throw e;
  }
}

test("gradients of random programs with regions agree with differences", () => {
  fc.assert(
    fc.property(randomFlow("f64"), (random) => {
      const found = gradientOf(random);
      if (!found) return;
      const inputs = new Map([...random.feeds(2)].slice(0, 2));
      fc.pre(isSmooth(found.total, inputs, { T: 2 }));
      checkGradient(found.total, inputs, { T: 2 });
    }),
    { numRuns: runs(30) },
  );
});

test("js: gradients of random programs have the bits of the reference", async () => {
  const device = guardedCpuDevice();
  await fc.assert(
    fc.asyncProperty(randomFlow(), async (random) => {
      const outputs = gradientOf(random)?.grads.map((value, i) => ({ name: `g${i}`, value }));
      if (!outputs) return;
      const program = { ...random.program, outputs };
      const feeds = random.feeds(3);
      const want = evaluateProgram(program, feeds, { T: 3 });
      const options = { target: "js", rounding: "each-op" } as const;
      const { values } = await runProgram(program, feeds, { T: 3 }, device, options);
      for (const [i, v] of values.entries())
        assert.ok(sameValue(v, want[i]!), `result ${i}: got ${v.data}, want ${want[i]!.data}`);
    }),
    { numRuns: runs(30) },
  );
});

test("the length may be a symbol, and no steps give the gradient of the start", () => {
  const sequence = input("sequence", "f64", [dim("T", { min: 0 }), 2]);
  const { carry } = recurrence(false, sequence);
  for (const T of [0, 1, 3]) {
    const inputs = new Map([...given, [sequence, wave([T, 2], 1)]]);
    checkGradient(carry[0]!, inputs, { T });
  }
});

test("gradients of weights are products over all steps, beside the loop", () => {
  const { carry } = scan([h], [xs], ([c], [x]) => ({
    carry: [c!.matmul(w).add(x!).tanh()],
    ys: [],
  }));
  const [g] = grad(carry[0]!.sum(), [w]);
  assert.is(g!.op, "dotGeneral");
  const [loop] = topologicalOrder([g!]).filter((t) => t.op === "scan" && t.attrs.reverse === true);
  assert.is(loop!.attrs.carries, 1);
});

test("what a body does not use has no gradient, and says so", () => {
  const { carry } = scan([h], [xs], ([c]) => ({ carry: [c!.mul(2)], ys: [] }));
  assert.throws(
    () => grad(carry[0]!.sum(), [w]),
    (e: Error) =>
      e instanceof GraphError &&
      e.message ===
        'grad: w (input f64[2,2]) does not reach y\n  leave it out, or pass { unused: "zeros" } for a gradient of zeros',
  );
});

test("a loop without a bound has no gradient", () => {
  const [y] = whileLoop(
    [h],
    (c) => c.sum().less(tensor(4, { dtype: "f64" })),
    (c) => [c.mul(2)],
  );
  assert.throws(
    () => grad(y!.sum(), [h]),
    (e: Error) =>
      e instanceof GraphError &&
      e.message ===
        "grad: whileLoop has no gradient, as the number of its steps is not bounded\n  give it maxTrips, or use scan",
  );
});

test.run();
