/**
 * `bench --tfjs [--target wasm|webgpu]`: programs of TensorFlow.js on Kiln's backend beside tfjs's
 * own, one thread, by the CPU's time: its cpu and wasm backends, or its WebGPU backend by the time
 * of day. The last program reads a scalar each step, which is the price of a step.
 */
import { resolve } from "node:path";
import { installInto } from "../cpu/install.ts";
import { bundleProcess } from "../onnx/bundle.ts";
import { distance, type Measured, measure } from "../onnx/network-measure.ts";
import { NetworkPeer } from "../onnx/network-peer.ts";
import { bounded, compared, type Row } from "../row.ts";
import { loopSteps } from "./loop-steps.ts";
import { failed, meanRow } from "./onnxruntime.ts";

const folder = resolve("node_modules/.cache/kiln-bench/faces");

const packages: Readonly<Record<string, string>> = {
  "@tensorflow/tfjs": "4.22.0",
  "@tensorflow/tfjs-backend-wasm": "4.22.0",
  "@tensorflow/tfjs-backend-webgpu": "4.22.0",
};

interface Program {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
}

// biome-ignore format: a program a row
const programs: readonly Program[] = [
  { key: "mobileNet", title: "MobileNet 1.0, 224 × 224", unit: "prediction" },
  { key: "fit", title: "MNIST model.fit", unit: "training epoch" },
  { key: "elementwise", title: "20 ops on 2²⁰ elements", unit: "pass" },
  { key: "lstm", title: "LSTM, 32 steps, 128 cells", unit: "prediction" },
];
/** A card gets more of it. */
const batches = (target: string): string =>
  target === "webgpu" ? "10 batches of 64" : "5 batches of 32";
const loop: Program = { key: "scalarLoop", title: "a scalar read each step", unit: "step" };

/** How many times tfjs's best backend is to be faster than, by target. */
const goals: Readonly<Record<string, number>> = { wasm: 3, js: 1, webgpu: 2 };
/** Microseconds of a step beyond its kernels, which take well under one. */
const stepGoal = 50;
const closeEnough = 1e-3;

/** tfjs's backends that a target is measured against. */
const backendsFor = (target: string): readonly string[] =>
  target === "webgpu" ? ["webgpu"] : ["wasm", "cpu"];

async function contestants(target: string) {
  const script = await bundleProcess("bench/faces/tfjs-worker.mjs", {
    folder,
    external: ["@tensorflow/*"],
  });
  return ["kiln", ...backendsFor(target)].map((backend) => ({
    name: backend === "kiln" ? backend : `tfjs ${backend}`,
    start: () => NetworkPeer.of(script, [backend, target]),
  }));
}

interface Outcome {
  readonly own: Measured;
  readonly others: readonly Measured[];
}

/** The row of each backend; the best of them has the goal. */
function timeRows({ title, unit }: Program, target: string, { own, others }: Outcome): Row[] {
  const ran = others.filter((m) => m.timing);
  const best = Math.min(...ran.map((m) => m.timing!.median));
  const base = { case: title, target, metric: `a ${unit}` };
  const clock = target === "webgpu" ? "ms" : "ms of CPU";
  const rows = ran.map((m): Row => {
    const { median } = m.timing!;
    const spread = Math.max(own.timing!.spread, m.timing!.spread);
    const row = { ...base, value: own.timing!.median, unit: clock, spread };
    return compared(
      { ...row, peer: m.engine, peerValue: median },
      median === best ? goals[target] : undefined,
    );
  });
  const lacking = others.filter((m) => !m.timing);
  return [
    ...rows,
    ...lacking.map(({ engine, error = "" }): Row => {
      const note = error.split("\n")[0]!.slice(0, 160);
      return { ...base, value: null, unit: "", peer: engine, note: `${engine}: ${note}` };
    }),
  ];
}

function otherRows({ title, unit }: Program, target: string, { own, others }: Outcome): Row[] {
  const base = { case: title, target };
  const clock = target === "webgpu" ? "ms" : "ms of CPU";
  return others
    .filter((m) => m.setup && m.timing)
    .flatMap((m): Row[] => [
      compared({
        ...base,
        metric: `the first ${unit}`,
        unit: clock,
        value: own.setup!.firstMs,
        peer: m.engine,
        peerValue: m.setup!.firstMs,
      }),
      compared({
        ...base,
        metric: "peak memory",
        unit: "MB",
        value: own.peakBytes! / 1e6,
        peer: m.engine,
        peerValue: m.peakBytes! / 1e6,
      }),
      bounded(
        {
          ...base,
          metric: "difference",
          unit: "",
          peer: m.engine,
          value: distance(own.setup!.results, m.setup!.results)?.relative ?? Infinity,
        },
        closeEnough,
      ),
    ]);
}

/** What a step takes, all of which is beside its kernels: they are of eight elements. */
function loopRow(target: string, { own, others }: Outcome): Row {
  const us = (m: Measured): number => (1000 * m.timing!.median) / loopSteps;
  const best = others
    .filter((m) => m.timing)
    .sort((a, b) => us(a) - us(b))
    .at(0);
  const beside = best
    ? { peer: best.engine, peerValue: us(best), ratio: us(best) / us(own) }
    : undefined;
  const row = { case: loop.title, target, metric: "a step", unit: "µs", value: us(own) };
  // A card's answer takes what it takes to come back.
  return bounded(
    { ...row, ...beside, spread: own.timing!.spread },
    target === "webgpu" ? undefined : stepGoal,
  );
}

export async function tfjsRows(
  selected: (name: string) => boolean,
  { samples, target }: { readonly samples: number; readonly target: string },
): Promise<Row[]> {
  installInto(folder, packages);
  const all = await contestants(target);
  const rows: Row[] = [];
  const chosen = [...programs, loop].filter((p) => selected(`${p.title} ${p.key}`));
  for (const { key, title, unit } of chosen) {
    const program = { key, unit, title: key === "fit" ? `${title}, ${batches(target)}` : title };
    const measured = await measure(program.key, all, { samples, budgetMs: 20_000 });
    const [own, ...others] = measured as [Measured, ...Measured[]];
    console.error(
      `${program.title}: ${measured.map((m) => `${m.engine} ${m.timing?.median ?? m.error}`).join(", ")}`,
    );
    if (!own.timing) rows.push(failed(program.title, `a ${program.unit}`, own.error ?? "no time"));
    else if (key === loop.key) rows.push(loopRow(target, { own, others }));
    else
      rows.push(
        ...timeRows(program, target, { own, others }),
        ...otherRows(program, target, { own, others }),
      );
  }
  const isBest = (r: Row) => r.goal === `≥ ${goals[target]}×`;
  return [...rows, ...meanRow(rows, "all programs, of tfjs's best", target, isBest)];
}
