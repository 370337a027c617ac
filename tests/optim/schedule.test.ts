/**
 * Schedules as graph expressions: against PyTorch's schedulers, and against their formulas.
 */
import { input, makeValue, param, tensor, trace } from "@kiln-ml/ir";
import * as optim from "@kiln-ml/optim";
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
