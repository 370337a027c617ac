/**
 * `bench --models`: whole networks on one thread against ONNX Runtime, on wasm and native, interleaved: time, compile time,
 * compiles for further sizes, and the geometric mean of the ratios.
 */
import { bounded, compared, type Row } from "../row.ts";
import type { EngineName } from "./engine.ts";
import { distance, type Measured, measureNetwork } from "./network-measure.ts";
import { networkNamed } from "./networks/index.ts";
import { installRuntime } from "./runtimes.ts";
import { absenceOf } from "./sources.ts";

const names = [
  "ResNet50 (light)",
  "SqueezeNet (light)",
  "PP-OCR recognition",
  "silero (nested If)",
];

const web: EngineName = "onnxruntime-web";
const native: EngineName = "onnxruntime-node";
const target: EngineName = "wasm";
/** Of the largest value; a time of another result is no time. */
const closeEnough = 1e-3;

const failed = (name: string, metric: string, note: string): Row => ({
  case: name,
  target,
  metric,
  value: null,
  unit: "ms",
  note: note.split("\n")[0]!.slice(0, 200),
});

function timeRows(name: string, unit: string, all: readonly Measured[]): Row[] {
  const of = (engine: EngineName) => all.find((m) => m.engine === engine);
  const own = of(target);
  const time = own?.timing;
  if (!time) return [failed(name, "time", own?.error ?? "no time")];
  return [web, native].flatMap((peer) => {
    const other = of(peer)?.timing;
    if (!other) return [failed(name, "time", `${peer}: ${of(peer)?.error ?? "no time"}`)];
    const spread = Math.max(time.spread, other.spread);
    const row = { case: name, target, metric: `a ${unit}`, value: time.median, unit: "ms of CPU" };
    const against = { ...row, peer, peerValue: other.median, spread };
    return [compared(against, peer === web ? 1 : undefined)];
  });
}

/** What the first unit takes beyond a later one. */
const compileMs = (m: Measured | undefined): number | undefined =>
  m?.setup && m.timing ? Math.max(0, m.setup.firstMs - m.timing.median) : undefined;

function otherRows(name: string, all: readonly Measured[]): Row[] {
  const own = all.find((m) => m.engine === target);
  const setup = own?.setup;
  if (!setup || !own.timing) return [];
  const base = { case: name, target };
  const row = { ...base, metric: "load and compile", value: compileMs(own)!, unit: "ms of CPU" };
  const theirs = compileMs(all.find((m) => m.engine === web));
  const rows: Row[] = [
    theirs === undefined ? row : compared({ ...row, peer: web, peerValue: theirs }),
  ];
  const { compiles, kernels } = setup;
  if (compiles)
    rows.push(
      bounded({ ...base, metric: "recompiles", value: compiles.all - compiles.first, unit: "" }, 0),
    );
  if (typeof kernels === "number")
    rows.push({ ...base, metric: "kernels", value: kernels, unit: "" });
  const reference = all.find((m) => m.engine === native)?.setup;
  const apart = reference && distance(setup.results, reference.results)?.relative;
  const difference = apart ?? Number.POSITIVE_INFINITY;
  return [
    ...rows,
    bounded({ ...base, metric: "difference", value: difference, unit: "" }, closeEnough),
  ];
}

function meanRow(rows: readonly Row[], peer: EngineName): Row | undefined {
  const runs = rows.filter((r) => r.peer === peer && r.metric.startsWith("a "));
  const ratios = runs.flatMap((r) => (r.ratio ? [r.ratio] : []));
  if (ratios.length === 0) return undefined;
  const mean = Math.exp(ratios.reduce((sum, r) => sum + Math.log(r), 0) / ratios.length);
  const row = { case: `geometric mean of ${ratios.length}`, target, metric: `of ${peer}` };
  const goal = peer === web ? { goal: "≥ 1×", met: mean >= 1 } : {};
  return { ...row, value: mean, unit: "×", ...goal };
}

export async function modelRows(
  selected: (name: string) => boolean,
  samples: number,
): Promise<Row[]> {
  installRuntime(web as "onnxruntime-web");
  installRuntime(native as "onnxruntime-node");
  const rows: Row[] = [];
  for (const name of names.filter(selected)) {
    const network = networkNamed(name);
    const absent = absenceOf(network);
    if (absent) {
      rows.push(failed(name, "time", absent));
      continue;
    }
    const effort = { samples, budgetMs: 15_000 };
    const all = await measureNetwork(name, [target, web, native], effort);
    rows.push(...timeRows(name, network.unit, all), ...otherRows(name, all));
    console.error(
      `${name}: ${all.map((m) => `${m.engine} ${m.timing?.median.toFixed(2) ?? m.error?.slice(0, 200)}`).join(", ")}`,
    );
  }
  for (const peer of [web, native]) {
    const mean = meanRow(rows, peer);
    if (mean) rows.push(mean);
  }
  return rows;
}
