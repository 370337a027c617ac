/**
 * The arithmetic of the benchmark's rows: medians, ratios, goals.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { interleave, timingOf } from "../../bench/measure.ts";
import { bounded, compared, missed, table } from "../../bench/row.ts";

const row = { case: "c", target: "js", metric: "time", unit: "ms" };

test("a timing is the median and half the distance of the quartiles", () => {
  const { median, spread, rounds } = timingOf([5, 1, 3, 2, 4]);
  assert.is(median, 3);
  assert.is(spread, 1 / 3);
  assert.is(rounds, 5);
});

test("alternatives take turns after each was warmed up", async () => {
  const calls: string[] = [];
  const effort = { rounds: 2, warmups: 1, budgetMs: 0 };
  await interleave([() => calls.push("a"), () => calls.push("b")], effort);
  assert.equal(calls.join(""), "ababab");
});

test("a ratio says how many times less the value is than the peer's", () => {
  const met = compared({ ...row, value: 2, peer: "p", peerValue: 8 }, 4);
  assert.is(met.ratio, 4);
  assert.is(met.met, true);
  assert.is(compared({ ...row, value: 2, peer: "p", peerValue: 7 }, 4).met, false);
  assert.is(compared({ ...row, value: 0, peer: "p", peerValue: 7 }).ratio, undefined);
});

test("a bound is met up to its value, and only rows that miss a goal are missed", () => {
  const rows = [
    bounded({ ...row, value: 9 }, 9),
    bounded({ ...row, value: 10 }, 9),
    { ...row, value: 1 },
  ];
  assert.equal(missed(rows), [rows[1]!]);
  assert.match(table(rows), "≤ 9 MISSED");
});

test.run();
