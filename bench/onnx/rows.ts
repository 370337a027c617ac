/**
 * `bench --models [--target native]`: whole networks on one thread against ONNX Runtime, on wasm
 * and native, interleaved: time, compile time, compiles for further sizes, and the geometric mean
 * of the ratios. Ours on wasm is measured against ORT's on wasm; native code against ORT's native
 * code, with ours on wasm beside it.
 */
import { bounded, compared, type Row } from "../row.ts";
import { type EngineName, type OurTarget, targetNames } from "./engine.ts";
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
/** Of the largest value; a time of another result is no time. */
const closeEnough = 1e-3;

/** The engine that a target is to be at least as fast as. */
const rivalOf = (target: OurTarget): EngineName => (target === "native" ? native : web);

const failed = (name: string, target: OurTarget, metric: string, note: string): Row => ({
  case: name,
  target,
  metric,
  value: null,
  unit: "ms",
  note: note.split("\n")[0]!.slice(0, 200),
});

function timeRows(name: string, target: OurTarget, unit: string, all: readonly Measured[]): Row[] {
  const of = (engine: EngineName) => all.find((m) => m.engine === engine);
  const own = of(target);
  const time = own?.timing;
  if (!time) return [failed(name, target, "time", own?.error ?? "no time")];
  return peersOf(target).flatMap((peer) => {
    const other = of(peer)?.timing;
    if (!other) return [failed(name, target, "time", `${peer}: ${of(peer)?.error ?? "no time"}`)];
    const spread = Math.max(time.spread, other.spread);
    const row = { case: name, target, metric: `a ${unit}`, value: time.median, unit: "ms of CPU" };
    const against = { ...row, peer, peerValue: other.median, spread };
    return [compared(against, peer === rivalOf(target) ? 1 : undefined)];
  });
}

/** Who is measured beside a target. */
const peersOf = (target: OurTarget): readonly EngineName[] =>
  target === "native" ? ["wasm", web, native] : [web, native];

/** What the first unit takes beyond a later one. */
const compileMs = (m: Measured | undefined): number | undefined =>
  m?.setup && m.timing ? Math.max(0, m.setup.firstMs - m.timing.median) : undefined;

function otherRows(name: string, target: OurTarget, all: readonly Measured[]): Row[] {
  const own = all.find((m) => m.engine === target);
  const setup = own?.setup;
  if (!setup || !own.timing) return [];
  const base = { case: name, target };
  const compile = {
    ...base,
    metric: "load and compile",
    value: compileMs(own)!,
    unit: "ms of CPU",
  };
  // A C compiler is another process, whose time only the clock tells.
  const row = target === "native" ? { ...compile, unit: "ms" } : compile;
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

function meanRow(rows: readonly Row[], target: OurTarget, peer: EngineName): Row | undefined {
  const runs = rows.filter((r) => r.peer === peer && r.metric.startsWith("a "));
  const ratios = runs.flatMap((r) => (r.ratio ? [r.ratio] : []));
  if (ratios.length === 0) return undefined;
  const mean = Math.exp(ratios.reduce((sum, r) => sum + Math.log(r), 0) / ratios.length);
  const row = { case: `geometric mean of ${ratios.length}`, target, metric: `of ${peer}` };
  const goal = peer === rivalOf(target) ? { goal: "≥ 1×", met: mean >= 1 } : {};
  return { ...row, value: mean, unit: "×", ...goal };
}

export async function modelRows(
  selected: (name: string) => boolean,
  samples: number,
  asked = "wasm",
): Promise<Row[]> {
  if (!targetNames.includes(asked as OurTarget))
    throw new RangeError(`bench: no target ${asked}; there are ${targetNames}`);
  const target = asked as OurTarget;
  installRuntime(web as "onnxruntime-web");
  installRuntime(native as "onnxruntime-node");
  const rows: Row[] = [];
  for (const name of names.filter(selected)) {
    const network = networkNamed(name);
    const absent = absenceOf(network);
    if (absent) {
      rows.push(failed(name, target, "time", absent));
      continue;
    }
    const effort = { samples, budgetMs: 15_000 };
    const all = await measureNetwork(name, [target, ...peersOf(target)], effort);
    rows.push(...timeRows(name, target, network.unit, all), ...otherRows(name, target, all));
    console.error(
      `${name}: ${all.map((m) => `${m.engine} ${m.timing?.median.toFixed(2) ?? m.error?.slice(0, 200)}`).join(", ")}`,
    );
  }
  for (const peer of peersOf(target)) {
    const mean = meanRow(rows, target, peer);
    if (mean) rows.push(mean);
  }
  return rows;
}
