/**
 * `bench --onnxruntime`: models through the interface of ONNX Runtime beside onnxruntime-web on wasm,
 * on one thread by the CPU's time and on two by the time of day: a run, a session's creation, the
 * peak of memory, results; and what a page loads until the first of its results is there.
 */

import { distance, type Measured, measure } from "../onnx/network-measure.ts";
import { NetworkPeer } from "../onnx/network-peer.ts";
import { networkNamed } from "../onnx/networks/index.ts";
import { installRuntime } from "../onnx/runtimes.ts";
import { absenceOf } from "../onnx/sources.ts";
import { bounded, compared, type Row } from "../row.ts";
import { startRows } from "./start.ts";

const names = [
  "ResNet50 (light)",
  "SqueezeNet (light)",
  "PP-OCR recognition",
  "silero (nested If)",
  "DenseNet121 (light)",
];

const peer = "onnxruntime-web";
const ours = "kiln";
const target = "wasm";
/** Of the largest value; a time of another result is no time. */
const closeEnough = 1e-3;
/** The mean ratio that is wanted of all models, and of each. */
const meanGoal = 2;
const eachGoal = 1;

const unitOf = (threads: number): string => (threads === 1 ? "ms of CPU" : "ms");

const contestants = (threads: number) => [
  {
    name: ours,
    start: () => NetworkPeer.start(target, { face: "onnxruntime", threads }),
  },
  { name: peer, start: () => NetworkPeer.start(peer, { threads }) },
];

/** A row without a value, which is missed. */
export const failed = (name: string, metric: string, note: string): Row => ({
  case: name,
  target,
  metric,
  value: null,
  unit: "",
  goal: "a result",
  met: false,
  note: note.split("\n")[0]!.slice(0, 200),
});

function rowsOf(name: string, unit: string, threads: number, all: readonly Measured[]): Row[] {
  const [own, other] = [ours, peer].map((engine) => all.find((m) => m.engine === engine));
  const title = `${name}, ${threads} thread${threads > 1 ? "s" : ""}`;
  for (const m of [own, other])
    if (!m?.timing || !m.setup)
      return [failed(title, `a ${unit}`, `${m?.engine}: ${m?.error ?? "no time"}`)];
  const base = { case: title, target, peer };
  const times = (metric: string, of: (m: Measured) => number, least?: number, spread?: number) =>
    compared(
      {
        ...base,
        metric,
        value: of(own!),
        peerValue: of(other!),
        unit: unitOf(threads),
        ...(spread === undefined ? {} : { spread }),
      },
      least,
    );
  const spread = Math.max(own!.timing!.spread, other!.timing!.spread);
  const apart = distance(own!.setup!.results, other!.setup!.results)?.relative;
  const difference = { case: title, target, metric: "difference", unit: "" };
  const peak = { ...base, metric: "peak memory", unit: "MB" };
  return [
    times(`a ${unit}`, (m) => m.timing!.median, eachGoal, spread),
    times("create, the first", (m) => m.setup!.createMs!, 1),
    times("create, again", (m) => m.setup!.againMs!, 1),
    compared({
      ...peak,
      value: own!.peakBytes! / 1e6,
      peerValue: other!.peakBytes! / 1e6,
    }),
    bounded({ ...difference, value: apart ?? Number.POSITIVE_INFINITY }, closeEnough),
  ];
}

/** The geometric mean of the ratios of a metric. */
export function meanRow(
  rows: readonly Row[],
  title: string,
  on: string,
  isMeant: (row: Row) => boolean,
  least?: number,
): Row[] {
  const ratios = rows.filter(isMeant).flatMap((r) => (r.ratio ? [r.ratio] : []));
  if (ratios.length === 0) return [];
  const mean = Math.exp(ratios.reduce((sum, r) => sum + Math.log(r), 0) / ratios.length);
  const goal = least === undefined ? {} : { goal: `≥ ${least}×`, met: mean >= least };
  return [
    {
      case: title,
      target: on,
      metric: `mean of ${ratios.length}`,
      value: mean,
      unit: "×",
      ...goal,
    },
  ];
}

export async function onnxRuntimeRows(
  selected: (name: string) => boolean,
  { samples, threads }: { readonly samples: number; readonly threads: readonly number[] },
): Promise<Row[]> {
  installRuntime(peer);
  const rows: Row[] = [];
  for (const name of names.filter(selected))
    for (const count of threads) {
      const network = networkNamed(name);
      const absent = absenceOf(network);
      if (absent) {
        rows.push(failed(name, `a ${network.unit}`, absent));
        continue;
      }
      const effort = { samples, budgetMs: 15_000 };
      const all = await measure(name, contestants(count), effort);
      rows.push(...rowsOf(name, network.unit, count, all));
      console.error(`${name}, ${count}: ${all.map((m) => m.timing?.median ?? m.error).join(", ")}`);
    }
  for (const count of threads) {
    const ends = `, ${count} thread${count > 1 ? "s" : ""}`;
    const isRun = (r: Row) => r.case.endsWith(ends) && r.spread !== undefined;
    const isCreate = (r: Row) => r.case.endsWith(ends) && r.metric === "create, the first";
    rows.push(...meanRow(rows, `all runs${ends}`, target, isRun, meanGoal));
    rows.push(...meanRow(rows, `all first creations${ends}`, target, isCreate));
  }
  if (selected("start")) rows.push(...(await startRows()));
  return rows;
}
