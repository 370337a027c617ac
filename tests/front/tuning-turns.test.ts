/** Times taken in turns: on made-up devices whose clock is low at first, drifts or jumps, the ratios found are those of the work. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type Timer,
  type Times,
  type Timing,
  timeInTurns,
} from "../../packages/kiln/src/tune/turns.ts";

/** A device: how fast it is after so many milliseconds of being busy, 1 being its full clock. */
type Clock = (busy: number) => number;

class Fake {
  busy = 0;
  measured = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Of work that takes so long at full clock. */
  timer(work: number): Timer {
    return async (lead) => {
      this.busy += lead;
      const ms = work / this.#clock(this.busy);
      this.busy += ms;
      this.measured += 1;
      return ms;
    };
  }
}

const timing = { rounds: 7, warmUp: 200, lead: 2 };

async function timed(clock: Clock, works: readonly number[], how: Timing = timing) {
  const fake = new Fake(clock);
  const [standard, ...others] = works.map((work) => fake.timer(work));
  const times = await timeInTurns(standard!, others, how);
  return { ...times, fake };
}

const ratios = ({ standardMs, ms }: Times): number[] =>
  ms.map((t) => Number((t / standardMs).toFixed(2)));

test("at an even clock times are those of the work", async () => {
  const times = await timed(() => 1, [2, 1, 3, 2.1]);
  assert.ok(times.settled);
  assert.equal([times.standardMs, ...times.ms], [2, 1, 3, 2.1]);
});

test("a clock that rises only after the warm-up costs nobody its place", async () => {
  for (const rises of [0, 100, 210, 250, 300, 350]) {
    const times = await timed((busy) => (busy < rises ? 0.2 : 1), [2.8, 2.7, 2.6, 5, 2.5, 2.9, 9]);
    assert.ok(times.settled);
    assert.equal(ratios(times).slice(0, 5), [0.96, 0.93, 1.79, 0.89, 1.04]);
    assert.is(Number(times.standardMs.toFixed(6)), 2.8);
  }
});

test("a clock that stays low for long, or climbs by steps, is waited for where its best is known", async () => {
  const steps = [0.18, 0.3, 0.45, 0.7, 0.9];
  const clocks: Clock[] = [
    (busy) => (busy < 1100 ? 0.2 : 1),
    (busy) => steps[Math.floor(busy / 150)] ?? 1,
  ];
  for (const clock of clocks) {
    const fake = new Fake(clock);
    const awake = async () => (await fake.timer(0.01)(1)) <= 0.011;
    const how = { ...timing, awake };
    const times = await timeInTurns(fake.timer(1), [fake.timer(0.9), fake.timer(1.1)], how);
    assert.ok(times.settled);
    assert.equal(ratios(times), [0.9, 1.1]);
    assert.is(times.standardMs, 1);
  }
});

test("a device that is never again as fast as it was is timed as it is", async () => {
  const times = await timed(() => 0.5, [1, 0.9], { ...timing, awake: async () => false });
  assert.ok(times.settled);
  assert.equal([times.standardMs, ...times.ms], [2, 1.8]);
});

test("while the clock drifts, neighbours are compared", async () => {
  const clock = (busy: number) => 1 - 0.1 * Math.sin(busy / 900);
  const times = await timed(clock, [1, 0.95, 1.04, 0.9, 1.01, 0.97]);
  assert.ok(times.settled);
  for (const [i, want] of [0.95, 1.04, 0.9, 1.01, 0.97].entries())
    assert.ok(Math.abs(ratios(times)[i]! - want) < 0.021, `${ratios(times)}`);
});

test("a fault of one measurement loses nobody its place", async () => {
  const fake = new Fake(() => 1);
  const [standard, best] = [fake.timer(1), fake.timer(0.9)];
  let calls = 0;
  const halting: Timer = async (lead) => (await best(lead)) * (calls++ === 0 ? 5 : 1);
  const times = await timeInTurns(standard, [halting], timing);
  assert.ok(times.settled);
  assert.equal(ratios(times), [0.9]);
});

test("what is hopeless is not timed to the end", async () => {
  const { fake, ms } = await timed(() => 1, [1, 3, 3, 3, 3], { ...timing, warmUp: 0 });
  assert.is(fake.measured, 11);
  assert.equal(ms, [3, 3, 3, 3]);
});

test("where the standard's times never agree it gives up, and says so", async () => {
  let seed = 1;
  const noise = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return 1 + seed / 2_147_483_647;
  };
  const { settled, ms, standardMs, fake } = await timed(noise, [1, 0.5]);
  assert.not(settled);
  assert.ok(ms[0]! > 0 && standardMs > 0);
  assert.ok(fake.measured < 200);
});

test("without rounds that agree, even a single one, there is a guess", async () => {
  let turn = 0;
  const how = { rounds: 1, warmUp: 0, lead: 0 };
  const { settled, ms } = await timed(() => 1.5 ** turn++, [1, 0.5], how);
  assert.not(settled);
  assert.ok(Number.isFinite(ms[0]));
});

test("a standard without rivals is timed", async () => {
  const { settled, standardMs, ms } = await timed(() => 1, [3]);
  assert.ok(settled);
  assert.equal([standardMs, ms], [3, []]);
});

test("if times settled, the fastest of them is the fastest, whatever the clock did", async () => {
  const work = fc.double({ min: 0.5, max: 2, noNaN: true });
  const level = fc.record({
    for: fc.integer({ min: 200, max: 800 }),
    speed: fc.constantFrom(0.2, 0.5, 0.9, 1),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(work, { minLength: 2, maxLength: 11 }),
      fc.array(level),
      async (works, levels) => {
        const clock = (busy: number) => {
          let left = busy;
          for (const l of levels) {
            if (left < l.for) return l.speed;
            left -= l.for;
          }
          return 1;
        };
        const times = await timed(clock, works);
        const all = [times.standardMs, ...times.ms];
        const found = works[all.indexOf(Math.min(...all))]!;
        if (times.settled) assert.ok(found <= 1.06 * Math.min(...works), `${found} of ${works}`);
        assert.ok(times.fake.measured < 1500);
      },
    ),
  );
});

test.run();
