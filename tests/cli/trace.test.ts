/** The file of `kiln run --trace`: what Perfetto needs of it to show every slice. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Trace } from "../../packages/kiln/src/cli/trace.ts";

interface Slice {
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur: number;
  readonly pid: number;
  readonly tid: number;
}

const slicesOf = (trace: Trace): Slice[] =>
  (JSON.parse(trace.json()).traceEvents as Slice[]).filter(({ ph }) => ph === "X");

const nanoseconds = (us: number): number => Math.round(us * 1000);

/** Slices of a row that neither lie in one another nor apart; a reader drops one of the two. */
function crossings(slices: readonly Slice[]): string[] {
  const found: string[] = [];
  slices.forEach((a, i) => {
    for (const b of slices.slice(i + 1)) {
      if (a.tid !== b.tid) continue;
      const [first, second] = a.ts <= b.ts ? [a, b] : [b, a];
      const [end, start] = [nanoseconds(first.ts + first.dur), nanoseconds(second.ts)];
      const inside = nanoseconds(second.ts + second.dur) <= end || first.ts === second.ts;
      if (start < end && !inside) found.push(`${first.name}, ${second.name}`);
    }
  });
  return found;
}

const kernel = (name: string, ms: number) => ({
  name,
  ms,
  bytes: 4,
  flops: 1,
  timing: "clock" as const,
});

test("stages told late begin where the one before ended", () => {
  let now = 5;
  const trace = new Trace(() => now);
  // Each is told 0.02 ms after it was done.
  for (const [at, ms] of [
    [6.02, 1],
    [7.02, 1],
    [7.55, 0.53],
  ] as const) {
    now = at;
    trace.stage({ program: "f", stage: "fuse" }, ms);
  }
  assert.equal(crossings(slicesOf(trace)), []);
  assert.equal(
    slicesOf(trace).map(({ ts, dur }) => [ts, dur]),
    [
      [20, 1000],
      [1020, 1000],
      [2020, 530],
    ],
  );
});

test("runs that are read at once lie one behind the other, and kernels in their runs", () => {
  let now = 0;
  const trace = new Trace(() => now);
  now = 10;
  for (const program of ["f", "g", "h"])
    trace.run(program, [kernel("a", 0.1), kernel("b", 0.2), kernel("c", 1 / 3)]);
  // More than there was time for, as by the clock of another processor.
  trace.run("i", [kernel("a", 100)]);
  const slices = slicesOf(trace);
  assert.equal(crossings(slices), []);
  assert.is(slices.length, 14);
  const runs = slices.filter(({ name }) => /^[f-i]$/.test(name));
  for (const { ts, dur } of slices.filter((s) => !runs.includes(s)))
    assert.ok(
      runs.some(
        (r) =>
          nanoseconds(r.ts) <= nanoseconds(ts) &&
          nanoseconds(ts + dur) <= nanoseconds(r.ts + r.dur),
      ),
    );
  assert.ok(slices.every(({ ts, dur, pid }) => ts >= 0 && dur >= 0 && pid === 1));
});

test.run();
