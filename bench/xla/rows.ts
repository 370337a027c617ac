/**
 * The engine's table for the devices at hand: agreement with the reference, the time of a GPT's
 * step on 1 and on more devices, the loop in Python and JAX by hand beside it, and what export
 * costs. Rows are printed as they come.
 */
import type { Tensor } from "@kiln-ml/ir";
import { meshText } from "@kiln-ml/stablehlo";
import { dataParallel, fsdp, mesh, type Recipe, tensorParallel, type Xla, xla } from "@kiln-ml/xla";
import { bounded, compared, type Row } from "../row.ts";
import { agreement, agreements } from "./agree.ts";
import { exportRow } from "./export.ts";
import { feedRow } from "./feed.ts";
import { type GptSize, gptProgram, gptStep, sizes } from "./gpt.ts";
import { hostsRow } from "./hosts.ts";
import { resnetRow } from "./resnet.ts";
import { scalingRows } from "./scaling.ts";
import { runScript } from "./script.ts";

interface Where {
  /** On devices made of the processor. */
  readonly virtual: boolean;
  readonly python: string;
}

/** Batches of small networks are cut where they divide. */
const wherePossible: Recipe = (leaf, grid) => {
  const parts = grid.axes.data ?? 1;
  const cut = leaf.kind === "input" && leaf.shape.length > 0 && leaf.shape[0]! % parts === 0;
  return cut ? dataParallel()(leaf, grid) : undefined;
};
const parametersOf =
  (recipe: Recipe): Recipe =>
  (leaf, grid) =>
    leaf.kind === "input" ? undefined : recipe(leaf, grid);

/** What a loss, and a state after twenty steps, may be off; halves round at other places. */
const limit = (name: string): number => (/f16/.test(name) ? 0.02 : 1e-4);

async function agreementRows(engine: Xla, on: string, selected: (name: string) => boolean) {
  const rows: Row[] = [];
  for (const name of agreements.filter(selected)) {
    const { steps, loss, states } = await agreement(engine, name);
    rows.push(
      bounded(
        {
          case: `${name}, ${steps} steps`,
          target: on,
          metric: "error",
          value: Math.max(loss, states),
          unit: "",
        },
        limit(name),
      ),
    );
    console.log(
      `${name} on ${on}: ${steps} steps, losses ${loss.toExponential(1)}, states ${states.toExponential(1)}`,
    );
  }
  return rows;
}

const median = (xs: readonly number[]): number => [...xs].sort((a, b) => a - b)[xs.length >> 1]!;

/** Milliseconds a step, fed with fresh tokens; the loss is read in the end. */
async function timed(engine: Xla, size: GptSize, rows: number, steps: number) {
  const step = gptStep(size, rows, { engine });
  const tokens = (k: number) => ({
    data: Int32Array.from(
      { length: rows * size.tokens },
      (_, i) => (i * 7919 + k * 104729) % size.vocabulary,
    ),
    shape: [rows, size.tokens],
  });
  const begun = performance.now();
  const one = async (k: number) =>
    (await step(tokens(k) as never, tokens(k + 1) as never)) as Tensor;
  const first = await (await one(0)).item();
  const compile = performance.now() - begun;
  const groups: number[] = [];
  let last = first;
  for (let g = 0; g < 5; g++) {
    const from = performance.now();
    let loss: Tensor | undefined;
    for (let k = 0; k < steps; k++) loss = await one(1 + g * steps + k);
    last = await loss!.item();
    groups.push((performance.now() - from) / steps);
  }
  return { ms: median(groups), compile, first, last };
}

/** What the script in Python measures of the same GPT. */
function byHand(engine: Xla, devices: number, size: string, rows: number) {
  const { width, heads, layers, tokens, vocabulary } = sizes[size]!;
  const numbers = [devices, rows, width, heads, layers, tokens, vocabulary].map(String);
  return runScript(engine.options, "by_hand.py", numbers) as { ms: number; first: number };
}

export async function xlaRows(selected: (name: string) => boolean, where: Where): Promise<Row[]> {
  const { virtual, python } = where;
  const rows: Row[] = selected("export") ? [exportRow()] : [];
  const engine = (axes: Record<string, number>, shard: Recipe | Recipe[]) =>
    xla({ mesh: mesh(axes), shard, virtual, python });
  const one = engine({ data: 1 }, dataParallel());
  const { devices } = await about(one);
  rows.push(...(await agreementRows(one, "xla, 1 device", selected)));
  one.close();
  const many = virtual ? 8 : devices;
  if (many > 1) {
    const axes = many >= 4 ? { data: many / 2, model: 2 } : { data: many };
    const recipes = [wherePossible, ...(many >= 4 ? [parametersOf(tensorParallel())] : [])];
    const spread = engine(axes, [...recipes, parametersOf(fsdp({ least: 8 }))]);
    rows.push(...(await agreementRows(spread, meshText(spread.options.mesh), selected)));
    spread.close();
  }
  if (selected("resnet-50, 20 steps"))
    for (const count of [1, Math.min(many, 4)].slice(0, many > 1 ? 2 : 1)) {
      const run = engine({ data: count }, dataParallel());
      rows.push(await resnetRow(run, `xla, ${count} ${count === 1 ? "device" : "devices"}`));
    }
  if (selected("feeding")) rows.push(await feedRow(engine({ data: 1 }, dataParallel()), virtual));
  if (selected("two hosts") && many > 1)
    rows.push(
      await hostsRow({ ...where, shard: [wherePossible, parametersOf(fsdp({ least: 8 }))] }),
    );
  if (selected("gpt step")) rows.push(...(await gptRows(selected, where, many)));
  return rows;
}

/** The GPT's step on 1, 2, 4 and 8 devices, and simulated on more. */
async function gptRows(
  selected: (name: string) => boolean,
  { virtual, python }: Where,
  many: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  const name = virtual ? "small" : "gpt";
  const each = 8;
  let alone: number | undefined;
  for (const count of [1, 2, 4, 8].filter((n) => n <= many)) {
    const run = xla({ mesh: mesh({ data: count }), virtual, python });
    const got = await timed(run, sizes[name]!, each * count, virtual ? 5 : 20);
    run.close();
    alone ??= got.ms;
    const hand = byHand(run, count, name, each * count);
    const text = `${name} on ${count}: ${got.ms.toFixed(2)} ms a step, JAX by hand ${hand.ms.toFixed(2)}, ratio ${(got.ms / hand.ms).toFixed(3)}, first step ${(got.compile / 1000).toFixed(1)} s, loss ${got.first.toFixed(4)} → ${got.last.toFixed(4)}`;
    console.log(text);
    const row = { case: `${name} step`, target: `xla, ${count} devices`, metric: "step" };
    const beside = { peer: "JAX by hand", peerValue: hand.ms };
    // Within 5 % of it; devices made of one processor say nothing of that.
    const least = virtual ? undefined : 1 / 1.05;
    rows.push(compared({ ...row, value: got.ms, unit: "ms", ...beside }, least));
    const scaling = alone / got.ms;
    const weak = { ...row, metric: "weak scaling", value: scaling, unit: "" };
    const goal = virtual ? {} : { goal: "≥ 0.95", met: scaling >= 0.95 };
    if (count > 1) rows.push({ ...weak, ...goal });
  }
  if (selected("gpt step, scaling")) {
    const size = sizes[name]!;
    const counts = [8, 64, 1024].filter((n) => !virtual || n === 8);
    rows.push(...scalingRows((n) => gptProgram(size, each * n), alone!, { python, counts }));
  }
  return rows;
}

/** The devices that there are. */
async function about(engine: Xla): Promise<{ devices: number }> {
  const { devices } = await engine.open();
  return { devices };
}
