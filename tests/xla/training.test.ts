/**
 * `fit` on the engine by one option: what it measures, checkpoints that any target loads, and a
 * process that is killed midway.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { data, nn, optim } from "kiln-ml";
import * as train from "kiln-ml/train";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fakeEngine } from "./engine.ts";

const points = () => {
  const x = Float32Array.from({ length: 24 * 2 }, (_, i) => Math.sin(7 * i));
  const y = Int32Array.from({ length: 24 }, (_, i) => Number(x[2 * i]! > x[2 * i + 1]!));
  return data.fromArrays([x, y], [[2], []]);
};

function run(options: object) {
  nn.seed(4);
  const net = new nn.Sequential(new nn.Linear(2, 4), new nn.Tanh(), new nn.Linear(4, 2));
  const loader = new data.DataLoader(points(), { batch: 8, shuffle: true, seed: 3 });
  const history = train.fit(net, loader, {
    optimizer: (p) => new optim.Adam(p, { lr: 0.05 }),
    loss: nn.crossEntropy,
    metrics: [train.metrics.accuracy()],
    epochs: 2,
    renderer: false,
    ...options,
  });
  return { net, history };
}

const near = (a: readonly number[], b: readonly number[]): void => {
  assert.is(a.length, b.length);
  for (const [i, x] of a.entries()) assert.ok(Math.abs(x - b[i]!) < 1e-4, `${a} ${b}`);
};

test("fit measures on the engine what it measures on js", async () => {
  const engine = fakeEngine();
  const there = await run({ engine }).history;
  const here = await run({ target: "js" }).history;
  near(there.values("loss"), here.values("loss"));
  near(there.values("accuracy"), here.values("accuracy"));
  engine.close();
});

test("a run whose process is killed goes on from its last checkpoint, to the same end", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-xla-"));
  const said: string[] = [];
  const { error } = console;
  console.error = (text: string) => said.push(text);
  try {
    const died = join(folder, "died");
    const engine = fakeEngine(["--die-at-run=6", `--once=${died}`]);
    const runs = join(folder, "run");
    const callbacks = [train.checkpoint(runs, { every: 1 })];
    const { net, history } = run({ engine, callbacks });
    const there = await history;
    assert.ok(existsSync(died));
    assert.is(said.length, 1);
    assert.match(
      said[0]!,
      /^xla: the engine's process was ended by SIGKILL\n {2}started again, from epoch \d, step \d$/,
    );
    const here = run({ target: "js" });
    near(there.values("loss"), (await here.history).values("loss"));
    const first = (m: nn.Module) =>
      m
        .parameters()[0]!
        .data()
        .then((d) => Array.from(d, Number));
    near(await first(net), await first(here.net));
    engine.close();
    // Another target goes on where it ended.
    const more = await run({ target: "js", epochs: 3, resume: runs }).history;
    assert.is(more.epochs.length, 3);
  } finally {
    console.error = error;
    rmSync(folder, { recursive: true });
  }
});

test.run();
