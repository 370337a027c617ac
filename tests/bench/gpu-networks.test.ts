/**
 * The networks' table: each launch's share of what limits it, goals beside the peers' times, and
 * works that PyTorch's script has.
 */
import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { networkRows, smallNetworks } from "../../bench/gpu-network-cases.ts";
import {
  launchesOf,
  type NetworkResult,
  networksTable,
  withPeers,
} from "../../bench/gpu-networks.ts";

const limit = {
  copyGbPerS: 1000,
  peak: { f32: 10e12, units: 100e12 },
  byUnits: new Set(["units"]),
};

test("launches are summed by kernel, and measured by bytes or by operations, whichever is slower", () => {
  const timings = [
    { name: "copy", ms: 1, bytes: 0.5e9, flops: 0 },
    { name: "product", ms: 2, bytes: 1, flops: 10e9 },
    { name: "product", ms: 2, bytes: 1, flops: 10e9 },
    { name: "units", ms: 1, bytes: 1, flops: 10e9 },
  ];
  const found = launchesOf(timings, limit).map((l) => [l.kernel, l.launches, l.ms, l.ofLimit]);
  assert.equal(found, [
    ["product", 2, 4, 0.5],
    ["copy", 1, 1, 0.5],
    ["units", 1, 1, 0.1],
  ]);
});

test("on a card whose rate nobody wrote down, bytes alone are the limit", () => {
  const timings = [{ name: "product", ms: 2, bytes: 1e9, flops: 1e15 }];
  assert.is(launchesOf(timings, { ...limit, peak: undefined })[0]!.ofLimit, 0.5);
});

const result = (name: string, ms: number): NetworkResult => ({
  case: name,
  ms,
  kernelMs: ms,
  kernels: 1,
  launches: 2,
  cpuMicroseconds: 3,
  ofLimit: 0.5,
  slotMiB: 1,
  top: [{ kernel: "product", launches: 2, ms, tflopPerS: 1, gbPerS: 1, ofLimit: 0.5 }],
  peers: {},
});

test("a network is compared with the better of the peers, and in halves with itself in f32", () => {
  const [full, half] = ["GPT 55M train", "GPT 55M train f16"] as const;
  const times = [
    { peer: "torch", work: full, ms: 9.5 },
    { peer: "torch compile", work: full, ms: 12 },
    { peer: "torch", work: half, ms: 2 },
  ];
  const missed = (...ms: readonly [number, number]): number => {
    const results = withPeers([result(full, ms[0]), result(half, ms[1])], times);
    return networksTable(networkRows, results).missed;
  };
  assert.is(missed(10, 3), 0);
  assert.is(missed(10.1, 3), 1);
  assert.is(missed(10, 4), 1);
  assert.is(missed(4, 3), 1);
  const { text } = networksTable(networkRows, withPeers([result(full, 10.1)], times));
  assert.match(text, /of torch 0\.94 ≥ 0\.95 MISSED/);
  assert.match(text, /launch +times +ms .*\nproduct +2 +10\.100/);
});

test("every network is a kind of PyTorch's script, and one in halves names the one in f32", () => {
  const text = readFileSync("bench/gpu-peers/networks.py", "utf8");
  const kinds = text.slice(text.indexOf("KINDS = {"));
  for (const rows of [networkRows, smallNetworks]) {
    const names = rows.map((r) => r.name);
    assert.is(new Set(names).size, names.length);
    for (const { name, work, full } of rows) {
      assert.ok(kinds.includes(`"${work[0]}":`), name);
      if (full) assert.ok(names.includes(full), name);
    }
  }
});

test("networks for a software device are programs", () => {
  for (const { build } of smallNetworks) assert.ok(build().outputs.length > 0);
});

test.run();
