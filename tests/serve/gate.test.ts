/** Who may run and who waits; rows of requests joined and parted; metrics as text. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Batches, join, part } from "../../packages/serve/src/batches.ts";
import { Gate } from "../../packages/serve/src/gate.ts";
import { Metrics } from "../../packages/serve/src/metrics.ts";

const never = new AbortController().signal;

test("those who wait enter in their order, and who leaves early is forgotten", async () => {
  const gate = new Gate(3);
  const leave = await gate.enter(never);
  const entered: number[] = [];
  const tired = new AbortController();
  const waits = [0, 1, 2].map(async (i) => {
    const next = await gate.enter(i === 1 ? tired.signal : never);
    entered.push(i);
    next();
  });
  await gate.enter(never).catch((e) => assert.is(e.code, "queue_full"));
  tired.abort(new Error("tired"));
  assert.is(await waits[1]!.catch((e: Error) => e.message), "tired");
  assert.is(gate.waiting, 2);
  leave();
  // Leaving twice lets nobody else in.
  leave();
  await Promise.all([waits[0], waits[2]]);
  assert.equal(entered, [0, 2]);
  assert.is(gate.running, 0);
});

test("a gate that closes lets those in who wait, and nobody else", async () => {
  const gate = new Gate(1);
  const leave = await gate.enter(never);
  const waits = gate.enter(never);
  const closed = gate.close();
  assert.is(await gate.enter(never).catch((e) => e.code), "stopping");
  leave();
  (await waits)();
  await closed;
});

test("requests are joined where they may, and those without rows are no exception", async () => {
  for (const [most, wanted] of [
    [1, [[0], [1], [2]]],
    [2, [[1], [2]]],
  ] as const) {
    const runs: (readonly number[])[] = [];
    const run = async ({ x }: Record<string, { shape: number[]; data: Float32Array }>) => {
      runs.push(x!.shape);
      return { y: { ...x!, dtype: "f32" } };
    };
    const batches = new Batches({ run } as never, most, 9, new Metrics());
    const all = [0, 1, 2].map((rows) =>
      batches.run({ x: { data: new Float32Array(rows).fill(rows), shape: [rows] } }, never),
    );
    for (const [rows, made] of (await Promise.all(all)).entries())
      assert.equal(made.y!.data, new Float32Array(rows).fill(rows));
    assert.equal(runs, wanted);
  }
});

test("rows that were joined are parted as they were", () => {
  const a = { x: { data: Float32Array.of(1, 2), shape: [1, 2] } };
  const b = { x: { data: Float32Array.of(3, 4, 5, 6), shape: [2, 2] } };
  const { x } = join([a, b]);
  assert.equal(x, { data: Float32Array.of(1, 2, 3, 4, 5, 6), shape: [3, 2] });
  const parts = part({ y: { ...x!, dtype: "f32" } }, [1, 2]);
  assert.equal(
    parts.map((p) => [...(p.y!.data as Float32Array)]),
    [
      [1, 2],
      [3, 4, 5, 6],
    ],
  );
});

test("metrics are Prometheus' text, with labels that cannot end a line", () => {
  const metrics = new Metrics();
  metrics.add("kiln_requests_total", 2, { route: 'a"\n\\', status: 200 });
  metrics.gauge("kiln_running", () => 3);
  metrics.observe("kiln_request_seconds", 0.02);
  const lines = metrics.text().split("\n");
  assert.ok(lines.includes('kiln_requests_total{route="a\\"\\n\\\\",status="200"} 2'));
  assert.ok(lines.includes("kiln_running 3"));
  assert.ok(lines.includes('kiln_request_seconds_bucket{le="0.01"} 0'));
  assert.ok(lines.includes('kiln_request_seconds_bucket{le="0.025"} 1'));
  assert.ok(lines.includes("kiln_request_seconds_count 1"));
});

test.run();
