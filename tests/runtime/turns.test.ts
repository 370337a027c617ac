/** Runs start in the order of their calls, never more at once than allowed, and never during a pause. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { RunQueue } from "../../runtime/src/devices/run-queue.ts";
import { runs } from "../support/setup.ts";

const later = (s: fc.Scheduler) => s.schedule(Promise.resolve());

test("whatever the timing, runs start in order and within the bound", () =>
  fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom("works", "throws", "rejects", "waits", "follows"), {
        maxLength: 12,
      }),
      fc.array(fc.boolean(), { maxLength: 12 }),
      async (s, max, kinds, pauses) => {
        let unfinished = 0;
        let paused = false;
        const started: number[] = [];
        const turns = new RunQueue({
          room: () => unfinished < max,
          pause: () => {
            if (!pauses.pop()) return null;
            paused = true;
            return later(s).then(() => {
              paused = false;
            });
          },
        });
        const finished = () => {
          unfinished -= 1;
          turns.advance();
        };
        const work = (i: number, kind: string) => (): undefined | Promise<void> => {
          assert.not(paused);
          started.push(i);
          if (kind === "follows") return;
          unfinished += 1;
          assert.ok(unfinished <= max);
          later(s).then(finished);
          if (kind === "throws") throw new Error(kind);
          if (kind === "rejects") return later(s).then(() => Promise.reject(new Error(kind)));
          return kind === "waits" ? later(s) : undefined;
        };
        const call = async (i: number, kind: string) =>
          kind === "follows" ? turns.follow(work(i, kind)) : turns.take(work(i, kind));
        const results: Promise<string>[] = [];
        for (const [i, kind] of kinds.entries()) {
          const result = call(i, kind);
          results.push(
            result.then(
              () => "ok",
              (e: Error) => e.message,
            ),
          );
          if (i % 3 === 0 && s.count() > 0) await s.waitOne();
        }
        await s.waitFor(Promise.all(results));
        assert.equal(started, [...kinds.keys()]);
        const want = kinds.map((kind) => (kind === "throws" || kind === "rejects" ? kind : "ok"));
        assert.equal(await Promise.all(results), want);
      },
    ),
    { numRuns: runs(60) },
  ));

test("a turn that is free is taken at once", () => {
  const turns = new RunQueue({ room: () => true, pause: () => null });
  let calls = 0;
  for (let i = 0; i < 3; i++)
    assert.is(
      turns.take(() => calls++),
      i,
    );
  const fails = () => {
    throw new Error("in the call itself");
  };
  assert.throws(() => turns.take(fails), "in the call itself");
  assert.is(calls, 3);
  assert.ok(turns.idle);
});

test("a run called from within a run comes after it", () => {
  const turns = new RunQueue({ room: () => true, pause: () => null });
  const order: string[] = [];
  turns.take(() => {
    turns.take(() => order.push("inner"));
    order.push("outer");
  });
  assert.equal(order, ["outer", "inner"]);
});

test("what only follows needs no room, but waits for the runs before it", async () => {
  let room = false;
  const turns = new RunQueue({ room: () => room, pause: () => null });
  assert.is(
    turns.follow(() => 1),
    1,
  );
  const order: string[] = [];
  const run = turns.take(() => order.push("run"));
  const read = turns.follow(() => order.push("read"));
  assert.equal(order, []);
  room = true;
  turns.advance();
  assert.equal(order, ["run", "read"]);
  await Promise.all([run, read]);
});

test.run();
