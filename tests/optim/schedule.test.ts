/**
 * Schedules as graph expressions: against PyTorch's schedulers, and against their formulas.
 */
import { input, makeValue, param, type Tensor, tensor, trace } from "@kiln-ml/ir";
import * as optim from "@kiln-ml/optim";
import { compile } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { close, fixture, Session } from "../nn/fixture.ts";

const { schedule } = optim;

function ratesOf(s: optim.Schedule, count: number): number[] {
  const step = input("step", "f32", []);
  const rate = s(step);
  assert.equal(rate.shape, []);
  return Array.from(
    { length: count },
    (_, i) =>
      new Session().run([rate], new Map(), new Map([[step, makeValue("f32", [], [i])]]))[0]!
        .data[0]!,
  );
}

const torch = fixture<Record<string, number[]>>("schedules");
const ours: Record<string, optim.Schedule> = {
  step: schedule.step(0.5, 3, 0.5),
  exponential: schedule.exponential(0.5, 0.9),
  cosine: schedule.cosine(0.5, 11, 0.1),
  linear: schedule.linear(0.5, 0.1, 8),
};

for (const [name, expected] of Object.entries(torch))
  test(`${name} agrees with PyTorch`, () => {
    const data = ratesOf(ours[name]!, expected.length);
    const shape = [data.length];
    close(name, makeValue("f32", shape, data), { shape, data: expected });
  });

test("warmup rises to its peak and hands over", () => {
  const shape = [6];
  const data = ratesOf(schedule.warmup(0.4, 4, schedule.step(0.4, 1, 0.5)), 6);
  close("warmup", makeValue("f32", shape, data), { shape, data: [0.1, 0.2, 0.3, 0.4, 0.4, 0.2] });
});

test("noam peaks at the end of its warmup", () => {
  const data = ratesOf(schedule.noam(64, 4), 8);
  const shape = [8];
  const formula = (t: number): number => Math.min(t ** -0.5, t * 4 ** -1.5) / 8;
  const expected = data.map((_, i) => formula(i + 1));
  close("noam", makeValue("f32", shape, data), { shape, data: expected });
  assert.is(data.indexOf(Math.max(...data)), 3);
});

const near = (name: string, got: readonly number[], want: readonly number[]): void => {
  const shape = [want.length];
  close(name, makeValue("f32", shape, [...got]), { shape, data: want }, 3e-6);
};
const steps = (n: number, f: (t: number) => number): number[] =>
  Array.from({ length: n }, (_, t) => f(t));
const anneal = (share: number, from: number, to: number): number =>
  to + ((from - to) * (1 + Math.cos(Math.PI * share))) / 2;

test("polynomial falls as its power says, and stays", () => {
  const got = ratesOf(schedule.polynomial(0.5, 6, { power: 2, end: 0.1 }), 9);
  near(
    "polynomial",
    got,
    steps(9, (t) => 0.1 + 0.4 * (1 - Math.min(t, 6) / 6) ** 2),
  );
  near("torch", ratesOf(schedule.polynomial(0.5, 5), 7), [0.5, 0.4, 0.3, 0.2, 0.1, 0, 0]);
});

test("restarts begin anew, in cycles of one length and of growing length", () => {
  const own = (factor: number): number[] => {
    const out: number[] = [];
    for (let length = 3; out.length < 45; length *= factor)
      for (let t = 0; t < length; t++) out.push(anneal(t / length, 0.4, 0.02));
    return out.slice(0, 45);
  };
  for (const factor of [1, 2, 3])
    near(
      `factor ${factor}`,
      ratesOf(schedule.cosineRestarts(0.4, 3, { factor, end: 0.02 }), 45),
      own(factor),
    );
});

test("milestones multiply, the milestone itself included", () => {
  const got = ratesOf(schedule.multiStep(0.8, [2, 5], 0.5), 8);
  near("multiStep", got, [0.8, 0.8, 0.4, 0.4, 0.4, 0.2, 0.2, 0.2]);
});

test("a sequence gives each schedule steps of its own", () => {
  const parts = [
    schedule.linear(0, 0.3, 3),
    schedule.constant(0.7),
    schedule.exponential(0.8, 0.5),
  ];
  const got = ratesOf(schedule.sequential(parts, [3, 5]), 8);
  near("sequential", got, [0, 0.1, 0.2, 0.7, 0.7, 0.8, 0.4, 0.2]);
});

test("one cycle has the course of PyTorch's formula", () => {
  const course = (total: number, pct: number, three: boolean, linear: boolean): number[] => {
    const [low, last] = [0.4 / 25, 0.4 / 25 / 1e4];
    const top = pct * total - 1;
    const way = (share: number, from: number, to: number) =>
      linear ? from + share * (to - from) : anneal(share, from, to);
    return steps(total, (t) => {
      if (t <= top) return way(t / top, low, 0.4);
      if (!three) return way((t - top) / (total - 1 - top), 0.4, last);
      if (t <= 2 * top) return way((t - top) / top, 0.4, low);
      return way((t - 2 * top) / (total - 1 - 2 * top), low, last);
    });
  };
  for (const [pct, three, linear] of [
    [0.3, false, false],
    [0.4, true, false],
    [0.25, false, true],
  ] as const) {
    const options = {
      pctStart: pct,
      threePhase: three,
      annealStrategy: linear ? "linear" : "cos",
    } as const;
    near(
      `${pct}`,
      ratesOf(schedule.oneCycle(0.4, 20, options), 20),
      course(20, pct, three, linear),
    );
  }
  near("after", ratesOf(schedule.oneCycle(0.4, 4), 6).slice(4), [1.6e-6, 1.6e-6]);
});

test("schedules add, multiply and average", () => {
  const two = [schedule.constant(0.5), schedule.exponential(0.2, 0.5)];
  near("sum", ratesOf(schedule.sum(two), 3), [0.7, 0.6, 0.55]);
  near("product", ratesOf(schedule.product(two), 3), [0.1, 0.05, 0.025]);
  near("mean", ratesOf(schedule.mean(two), 3), [0.35, 0.3, 0.275]);
});

test("a warmup may begin above 0 and rise in other shapes", () => {
  const after = schedule.exponential(1, 0.5);
  const rates = (shape: "linear" | "cosine" | "exponential") =>
    ratesOf(schedule.warmup(1, 4, after, { start: 0.2, shape }), 6);
  const own = (f: (share: number) => number) => [...steps(4, (t) => f((t + 1) / 4)), 1, 0.5];
  near(
    "linear",
    rates("linear"),
    own((x) => 0.2 + 0.8 * x),
  );
  near(
    "cosine",
    rates("cosine"),
    own((x) => anneal(x, 0.2, 1)),
  );
  near(
    "exponential",
    rates("exponential"),
    own((x) => 0.2 * 5 ** x),
  );
});

for (const mode of ["min", "max"] as const)
  for (const thresholdMode of ["rel", "abs"] as const)
    test(`a plateau (${mode}, ${thresholdMode}) lowers the rate when PyTorch's does`, () => {
      const metrics = steps(40, (t) => 2 + Math.sin(t * t) / (1 + t / 3));
      const o = {
        mode,
        thresholdMode,
        factor: 0.3,
        patience: 2,
        threshold: 0.05,
        cooldown: 2,
        minLr: 0.01,
      };
      const plateau = new optim.ReduceOnPlateau(0.5, o);
      const w = param(tensor([0]), { name: "w" });
      const sgd = new optim.SGD([w], { lr: plateau.rate });
      const metric = input("metric", "f32", []);
      const { updates } = trace(() => {
        plateau.step(metric);
        sgd.step(w.sum());
      });
      const session = new Session();
      let [rate, best, bad, wait, value] = [0.5, mode === "min" ? Infinity : -Infinity, 0, 0, 0];
      const sign = mode === "min" ? -1 : 1;
      for (const [t, x] of metrics.entries()) {
        session.run([], updates, new Map([[metric, makeValue("f32", [], [x])]]));
        const bar = thresholdMode === "rel" ? best * (1 + sign * 0.05) : best + sign * 0.05;
        if (sign * x > sign * bar) [best, bad] = [x, 0];
        else bad++;
        if (wait > 0) [wait, bad] = [wait - 1, 0];
        if (bad > 2) {
          rate = Math.max(rate * 0.3, 0.01);
          [wait, bad] = [2, 0];
        }
        value -= rate;
        near(`rate ${t}`, [session.valueOf(plateau.rate).data[0]!], [rate]);
        near(`w ${t}`, [session.valueOf(w).data[0]!], [value]);
      }
      assert.ok(rate < 0.1, "it fell more than once");
      assert.equal(
        [...plateau.checkpoint().keys()],
        ["rate", "best", "bad", "cooldown"].map((s) => `plateau.${s}`),
      );
    });

test("the present rate of each group is a tensor, and an item outside", async () => {
  const [v, w] = ["v", "w"].map((name) => param([1, 2], { name })) as [Tensor, Tensor];
  const groups = [{ params: [v] }, { params: [w], lr: 0.25 }];
  const optimizer = new optim.SGD(groups, { lr: schedule.step(1, 1, 0.5) });
  assert.is(await optimizer.rate.item(), 1);
  const step = compile(
    () => {
      const rate = optimizer.rate;
      optimizer.step(v.sum().add(w.sum()));
      return rate;
    },
    { target: "js" },
  );
  const seen = [];
  for (let i = 0; i < 3; i++) seen.push(await (await step()).item());
  assert.equal(seen, [1, 0.5, 0.25]);
  assert.equal(await Promise.all(optimizer.rates.map((r) => r.item())), [0.125, 0.25]);
});

test("an optimizer reads its schedule at the number of finished steps", () => {
  const w = param(tensor([0]), { name: "w" });
  const optimizer = new optim.SGD([w], { lr: schedule.step(1, 1, 0.5) });
  const { updates } = trace(() => optimizer.step(w.sum()));
  const session = new Session();
  const seen = [0, 1, 2].map(() => {
    session.run([], updates);
    return session.valueOf(w).data[0];
  });
  assert.equal(seen, [-1, -1.5, -1.75]);
});

test("a rate may be an input", () => {
  const w = param(tensor([0]), { name: "w" });
  const lr = input("lr", "f32", []);
  const { updates } = trace(() => new optim.SGD([w], { lr }).step(w.sum()));
  const session = new Session();
  session.run([], updates, new Map([[lr, makeValue("f32", [], [0.25])]]));
  assert.equal([...session.valueOf(w).data], [-0.25]);
});

test.run();
