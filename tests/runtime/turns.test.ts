/** Runs start in the order of their calls, never more at once than allowed, and never during a pause. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Turns } from "../../runtime/src/devices/turns.ts";
import { runs } from "../support/setup.ts";

const later = (s: fc.Scheduler) => s.schedule(Promise.resolve());

test("whatever the timing, runs start in order and within the bound", () =>
  fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom("works", "throws", "rejects", "waits"), { maxLength: 12 }),
      fc.array(fc.boolean(), { maxLength: 12 }),
      async (s, max, kinds, pauses) => {
        let unfinished = 0;
        let paused = false;
        const started: number[] = [];
        const turns = new Turns({
          max,
          finished: () => later(s).then(() => void unfinished--),
          pause: () => {
            if (!pauses.pop()) return null;
            paused = true;
            return later(s).then(() => {
              paused = false;
            });
          },
        });
        const work = (i: number, kind: string) => (): undefined | Promise<void> => {
          assert.not(paused);
          started.push(i);
          unfinished += 1;
          assert.ok(unfinished <= max);
          if (kind === "throws") throw new Error(kind);
          if (kind === "rejects") return later(s).then(() => Promise.reject(new Error(kind)));
          return kind === "waits" ? later(s) : undefined;
        };
        const results: Promise<string>[] = [];
        for (const [i, kind] of kinds.entries()) {
          const result = turns.take(work(i, kind));
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
  const turns = new Turns({ max: 1, finished: null, pause: () => null });
  let calls = 0;
  for (let i = 0; i < 3; i++) turns.take(() => void calls++);
  assert.is(calls, 3);
});

test.run();
