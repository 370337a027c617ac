/**
 * The peers of the GPU table: a row finds the times of its own work alone, and what fails leaves
 * the others be.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { gpuRows, smallRows } from "../../bench/gpu-cases.ts";
import { writePeers } from "../../bench/gpu-peers/bundle.ts";
import { type Doing, type Peer, timeOf } from "../../bench/gpu-peers/clock.ts";
import {
  networkScript,
  ownScripts,
  parsed,
  peerTimes,
  timesOf,
  worksOf,
} from "../../bench/gpu-peers.ts";

const rowOf = (name: string) => gpuRows.find((r) => r.name === name)!;

test("a row takes the times of its own work and of the baseline's, in f32", () => {
  const times = parsed(
    [
      "torch\tmatmul f32 1024\t0.06 ms\t36 TFLOP/s",
      "torch\tmatmul f16 1024\t0.01 ms",
      "tfjs\tchain 67108864\t3.8 ms",
      "tfjs\tchain of three 2^25\t2 ms",
      "jax-js\tchain of three 2^25\tabsent: out of memory",
      "a warning of the driver",
    ].join("\n"),
  );
  const found = (name: string) => timesOf(times, rowOf(name)).map(({ peer, ms }) => [peer, ms]);
  assert.equal(found("matmul 1024"), [["torch", 0.06]]);
  assert.equal(found("chain 2^26"), [["tfjs", 3.8]]);
  assert.equal(found("chain of three 2^25"), [["tfjs", 2]]);
  assert.equal(found("cumsum 16384x4096"), []);
});

test("every row has peers, and every peer's script has every kind of work", () => {
  for (const { name, work, peer } of gpuRows) assert.ok(work ?? peer, name);
  const kinds = new Set([...worksOf(gpuRows), ...worksOf(smallRows)].map((w) => w.kind));
  assert.equal([...new Set(worksOf(gpuRows).map((w) => w.kind))].length, kinds.size);
  for (const { from } of ownScripts) {
    const text = readFileSync(join("bench/gpu-peers", from), "utf8");
    const table = text.slice(text.search(/^(const kinds|KINDS) = \{/m));
    for (const kind of kinds) assert.match(table, new RegExp(`^ +"?${kind}"?[:,]`, "m"), from);
  }
});

test("the scripts become files that need nothing of the repository", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-peers-"));
  await writePeers(folder);
  const files = [...ownScripts, networkScript].map(({ file }) => file);
  assert.equal(readdirSync(folder).sort(), [...files].sort());
  for (const file of files)
    assert.not.match(readFileSync(join(folder, file), "utf8"), /from "(@kiln-ml|\.)/, file);
  rmSync(folder, { recursive: true });
});

test("a script that ends early gives the rows it had", () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-peers-"));
  const script = 'console.log("tfjs\\tmatmul 1000\\t2 ms"); throw new Error("lost");';
  writeFileSync(join(folder, ownScripts[0].file), script);
  const log = console.log;
  const said: unknown[] = [];
  console.log = (text) => said.push(text);
  const times = peerTimes(folder, gpuRows, false);
  console.log = log;
  rmSync(folder, { recursive: true });
  assert.equal(times, [{ peer: "tfjs", work: "matmul 1000", ms: 2 }]);
  assert.match(said.join("\n"), /gpu-tfjs\.mjs\t1 rows/);
  assert.match(said.join("\n"), /no .*gpu-jax\.mjs/);
});

test("a row that cannot be measured says why", async () => {
  let complaint: string[] = [];
  let dropped = 0;
  const doing = (run: () => void): Doing => ({
    run,
    settle: async () => {},
    value: async () => 3,
    drop: () => {
      dropped += 1;
    },
  });
  const peer: Peer = {
    name: "any",
    complaints: () => complaint.splice(0),
    kinds: {
      good: () => doing(() => {}),
      failing: () =>
        doing(() => {
          throw new Error("no\nsuch op");
        }),
      refused: () =>
        doing(() => {
          complaint = ["invalid"];
        }),
    },
  };
  const said = (kind: string) => timeOf(peer, { name: "x", kind, extents: [], repeats: 2 });
  // A pause of the machine may make a run look slow, which takes fewer samples.
  const row = /^\d+\.\d{4} ms\tvalue 3\.00000\tmedian of [37], [12] repeats$/;
  // A process that runs many tests may be older than one of peers ever is.
  const { now } = performance;
  performance.now = () => now.call(performance) + 60_000;
  const good = await said("good");
  performance.now = now;
  assert.match(good, row);
  assert.is(await said("failing"), "absent: Error: no such op");
  assert.is(await said("refused"), "absent: Error: invalid");
  assert.match(await said("unknown"), /^absent: nothing/);
  assert.is(dropped, 3);
});

test.run();
