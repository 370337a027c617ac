/**
 * `npm run models [-- --only PATTERN] [--target wasm|native|js|webgpu] [--samples N] [--no-graphs]
 * [--no-browser] [--json] [--strict]`: real networks against ONNX Runtime on the same inputs:
 * largest error, CPU time of a unit on one thread next to ORT's on wasm and native, kernels, peak
 * memory, compile time, compiles for further sizes. What is not there is named.
 */
import { scriptOptions } from "../../packages/tools/src/script-options.ts";
import { digits } from "../row.ts";
import { type PageResult, pageResults } from "./browser.ts";
import { type EngineName, type OurTarget, targetNames } from "./engine.ts";
import { compareGraphs, type GraphResult } from "./graphs.ts";
import { distance, type Measured, measureNetwork } from "./network-measure.ts";
import { networks } from "./networks/index.ts";
import type { Network } from "./networks/network.ts";
import { aligned } from "./report.ts";
import { installRuntime } from "./runtimes.ts";
import { absenceOf } from "./sources.ts";

const options = scriptOptions(import.meta.url, {
  only: { type: "string" },
  target: { type: "string" },
  samples: { type: "string" },
  "no-graphs": { type: "boolean" },
  "no-browser": { type: "boolean" },
  json: { type: "boolean" },
  strict: { type: "boolean" },
});

/** Of the largest value of the reference; more is another result, unless ORT's own on wasm is about as far away. */
const closeEnough = 1e-3;
const asFar = 2;
const graphArchive = "burn-onnx-models.tar.gz";

interface Line {
  readonly network: Network;
  readonly absent?: string;
  readonly measured: readonly Measured[];
}

function chosenTarget(): OurTarget {
  const target = (options.target ?? "wasm") as OurTarget;
  if (!targetNames.includes(target))
    throw new RangeError(`models: no target ${target}; there are ${targetNames}`);
  return target;
}

const of = (line: Line, engine: EngineName): Measured | undefined =>
  line.measured.find((m) => m.engine === engine);

function differenceOf(line: Line, engine: EngineName): ReturnType<typeof distance> | string {
  const [own, reference] = [of(line, engine), of(line, "onnxruntime-node")];
  if (!own?.setup) return "failed";
  if (!reference?.setup) return "no reference";
  return distance(own.setup.results, reference.setup.results) ?? "other shapes";
}

/** What is wrong with a network on the target, if anything. */
function trouble(line: Line, target: OurTarget): string | undefined {
  if (line.absent) return line.absent;
  const own = of(line, target);
  if (own?.error !== undefined) return own.error;
  const apart = differenceOf(line, target);
  if (typeof apart === "string") return apart;
  const web = differenceOf(line, "onnxruntime-web");
  const bound = web && typeof web !== "string" ? asFar * web.absolute : 0;
  if (apart && !(apart.relative <= closeEnough || apart.absolute <= bound))
    return `differs by ${apart.relative.toExponential(1)}, at most ${closeEnough} is equal`;
  const kernels = own?.setup?.kernels;
  return typeof kernels === "string" ? `kernels: ${kernels}` : undefined;
}

const ms = (m: Measured | undefined): string =>
  m?.timing ? digits(m.timing.median) : m?.error === undefined ? "–" : "failed";

const megabytes = (m: Measured | undefined): string =>
  m?.peakBytes === undefined ? "–" : digits(Math.round(m.peakBytes / 1e6));

const small = (x: number): string => (x === 0 ? "0" : x.toExponential(1));

const head = [
  "network",
  "unit",
  "max error",
  "of largest",
  "ORT web's",
  "CPU ms",
  "ORT web",
  "ORT native",
  "of web",
  "kernels",
  "peak MB",
  "ORT web",
  "compile ms",
  "ORT web",
  "compiles",
  "more for sizes",
];

const compileMs = (m: Measured | undefined): string =>
  m?.setup && m.timing ? digits(Math.round(Math.max(0, m.setup.firstMs - m.timing.median))) : "–";

function cells(line: Line, target: OurTarget): string[] {
  const [own, web, native] = [target, "onnxruntime-web", "onnxruntime-node"].map((e) =>
    of(line, e as EngineName),
  );
  const apart = differenceOf(line, target);
  const webApart = differenceOf(line, "onnxruntime-web");
  const numbers = apart && typeof apart !== "string" ? [apart.absolute, apart.relative] : undefined;
  const compiles = own?.setup?.compiles;
  const ratio = own?.timing && web?.timing ? web.timing.median / own.timing.median : undefined;
  const kernels = own?.setup?.kernels;
  return [
    line.network.name,
    line.network.unit,
    ...(numbers?.map(small) ?? ["–", "–"]),
    webApart && typeof webApart !== "string" ? small(webApart.absolute) : "–",
    ms(own),
    ms(web),
    ms(native),
    ratio === undefined ? "–" : `${ratio.toPrecision(2)}×`,
    typeof kernels === "number" ? String(kernels) : "–",
    megabytes(own),
    megabytes(web),
    compileMs(own),
    compileMs(web),
    compiles ? String(compiles.first) : "–",
    compiles ? String(compiles.all - compiles.first) : "–",
  ];
}

/** What a line says that no column does. */
function remarks(line: Line, target: OurTarget): string[] {
  const wrong = trouble(line, target);
  const notes = line.measured.flatMap(({ engine, setup }) =>
    setup?.note ? [`${engine} ${setup.note}`] : [],
  );
  const failed = line.measured.filter((m) => m.engine !== target && m.error !== undefined);
  return [
    ...(notes.length ? [`${line.network.name}: ${notes.join("; ")}`] : []),
    ...failed.map((m) => `${line.network.name}: ${m.engine}: ${m.error?.slice(0, 300)}`),
    ...(line.absent ? [`${line.network.name}: not run: ${line.absent}`] : []),
    ...(wrong && !line.absent
      ? [`${line.network.name}: ${target}: WRONG: ${wrong.slice(0, 600)}`]
      : []),
  ];
}

async function lineOf(network: Network, target: OurTarget): Promise<Line> {
  const absent = absenceOf(network);
  if (absent) return { network, absent, measured: [] };
  const engines: EngineName[] = [target, "onnxruntime-web", "onnxruntime-node"];
  const effort = { samples: Number(options.samples ?? 7), budgetMs: 6000 };
  return { network, measured: await measureNetwork(network.name, engines, effort) };
}

const count = (results: readonly GraphResult[], status: GraphResult["status"]): number =>
  results.filter((r) => r.status === status).length;

function printGraphs(results: readonly GraphResult[] | undefined): void {
  if (!results) {
    console.log(`\nsmall graphs: no data: ${graphArchive}`);
    return;
  }
  if (results.length === 0) return;
  for (const r of results)
    if (r.status !== "agrees")
      console.log(`${r.status}: ${r.name}: ${r.detail?.split("\n")[0]?.slice(0, 240)}`);
  const [agree, excluded, without] = (["agrees", "excluded", "no reference"] as const).map((s) =>
    count(results, s),
  );
  console.log(
    `small graphs: ${agree} of ${results.length} agree with ONNX Runtime, ${count(results, "differs")} differ, ${count(results, "fails")} fail, ${excluded} are excluded for what they contain, ${without} ONNX Runtime does not run either`,
  );
}

function printPages(results: readonly PageResult[]): void {
  if (results.length === 0) return;
  const lines = results.map((r) => [
    r.network,
    r.target,
    r.relative === undefined ? "–" : small(r.relative),
    r.ms === undefined ? "–" : digits(r.ms),
    r.bytes === undefined ? "–" : digits(Math.round(r.bytes / 1000)),
    r.wrong?.slice(0, 300) ?? "",
  ]);
  const columns = ["in Chromium, strict policy", "target", "of largest", "ms", "kB", "wrong"];
  console.log(`\n${aligned([columns, ...lines])}`);
}

async function main(): Promise<void> {
  const target = chosenTarget();
  installRuntime("onnxruntime-node");
  installRuntime("onnxruntime-web");
  const pattern = new RegExp(options.only ?? "", "i");
  const lines: Line[] = [];
  for (const network of networks.filter(({ name }) => pattern.test(name))) {
    const line = await lineOf(network, target);
    lines.push(line);
    console.error([...cells(line, target), ...remarks(line, target)].join("  "));
  }
  const wanted = (path: string): boolean => !options.only || pattern.test(path);
  const graphs = options["no-graphs"] ? [] : await compareGraphs(graphArchive, target, wanted);
  const chosen = (name: string): boolean => pattern.test(name);
  const pages = options["no-browser"] ? [] : await pageResults(chosen);
  if (options.json) {
    const networkDocuments = lines.map((line) => ({
      name: line.network.name,
      wrong: trouble(line, target),
      difference: differenceOf(line, target),
      engines: line.measured.map(({ setup, ...m }) => ({ ...m, ...setup, results: undefined })),
    }));
    console.log(JSON.stringify({ target, networks: networkDocuments, graphs, pages }));
  } else {
    if (lines.length) {
      console.log(aligned([head, ...lines.map((line) => cells(line, target))]));
      for (const text of lines.flatMap((line) => remarks(line, target))) console.log(text);
    }
    if (!options["no-graphs"]) printGraphs(graphs);
    printPages(pages);
  }
  const wrong = lines.filter((line) => trouble(line, target) && !line.absent).length;
  const apart = (graphs ?? []).filter((g) => g.status === "differs" || g.status === "fails").length;
  const failed = wrong + apart + pages.filter((p) => p.wrong).length;
  if (options.strict && failed > 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
