/**
 * A run as one page without scripts or links: configuration, curves as SVG, a table of epochs, the
 * model. Written anew at each epoch.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomic } from "@kiln-ml/artifact/node";
import type { ProgramFacts } from "../front.ts";
import { type Callback, type EpochRecord, modeOf, type Run } from "../run.ts";
import { duration, shortNumber } from "./terminal.ts";

const escaped = (s: string): string =>
  s.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);

const width = 420;
const height = 200;
const left = 52;
const bottom = 22;

interface Curve {
  readonly name: string;
  readonly values: readonly number[];
}

/** Numbers that curves have in common, with some room where they are all one. */
function rangeOf(curves: readonly Curve[]): readonly [number, number] {
  const finite = curves.flatMap(({ values }) => values.filter(Number.isFinite));
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  if (!finite.length) return [0, 1];
  return low === high ? [low - Math.max(0.5, Math.abs(low) / 2), high + 0.5] : [low, high];
}

/**
 * Round numbers within a range, so that four to eight lines are drawn: steps of 1, 2 or 5 times a
 * power of 10.
 */
function ticksOf(low: number, high: number): number[] {
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([5, 2].find((by) => by * power <= rough) ?? 1);
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(10)));
}

const colours = ["var(--first)", "var(--second)"];

/** One diagram: training and validation of one measure, by epoch. */
function diagram(title: string, curves: readonly Curve[]): string {
  const [low, high] = rangeOf(curves);
  const count = Math.max(...curves.map(({ values }) => values.length));
  const x = (i: number): number => left + ((width - left - 10) * i) / Math.max(1, count - 1);
  const y = (v: number): number => 10 + (height - bottom - 10) * (1 - (v - low) / (high - low));
  const grid = ticksOf(low, high).map(
    (v) =>
      `<line x1="${left}" x2="${width - 10}" y1="${y(v).toFixed(1)}" y2="${y(v).toFixed(1)}" class="grid"/><text x="${left - 6}" y="${(y(v) + 4).toFixed(1)}" text-anchor="end">${escaped(shortNumber(v))}</text>`,
  );
  const lines = curves.map(({ values }, i) => {
    const points = values.flatMap((v, at) => (Number.isFinite(v) ? [[x(at), y(v)] as const] : []));
    const path = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" ");
    const dots = points.map(
      ([px, py]) =>
        `<circle cx="${px.toFixed(1)}" cy="${py.toFixed(1)}" r="2.5" fill="${colours[i]}"/>`,
    );
    return `<polyline points="${path}" fill="none" stroke="${colours[i]}" stroke-width="2"/>${dots.join("")}`;
  });
  const legend = curves
    .map(({ name }, i) => `<span style="color:${colours[i]}">● ${escaped(name)}</span>`)
    .join(" ");
  const axis = `<text x="${left}" y="${height - 4}">1</text><text x="${width - 10}" y="${height - 4}" text-anchor="end">epoch ${count}</text>`;
  return `<figure><figcaption>${escaped(title)} <small>${legend}</small></figcaption><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)} by epoch">${grid.join("")}${lines.join("")}${axis}</svg></figure>`;
}

const numberIn = ({ logs }: EpochRecord, name: string): number =>
  typeof logs[name] === "number" ? logs[name] : NaN;

function diagrams(run: Run): string[] {
  const own = run.names.filter((name) => !name.startsWith("val."));
  return own
    .map((name) => {
      const both = [name, `val.${name}`].filter((n) => run.names.includes(n));
      const curves = both.map((n, i) => ({
        name: i ? "validation" : "training",
        values: run.records.map((record) => numberIn(record, n)),
      }));
      return { name, curves };
    })
    .filter(({ curves }) => curves.some(({ values }) => values.some(Number.isFinite)))
    .map(({ name, curves }) => diagram(name, curves));
}

const row = (cells: readonly string[], tag = "td"): string =>
  `<tr>${cells.map((c) => `<${tag}>${escaped(c)}</${tag}>`).join("")}</tr>`;

/**
 * A number of a column: four digits, zeros at the end too, so that points stand below each other.
 */
function aligned(x: number): string {
  const short = shortNumber(x);
  return Number.isFinite(x) && !Number.isInteger(x) && !short.includes("e")
    ? x.toPrecision(4)
    : short;
}

const thousands = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, "\u2009");

/** What a run came to: the last value of each measure, and the best of those that are watched. */
function outcome({ names, records }: Run): string {
  const last = records.at(-1);
  if (!last) return "";
  const said = names
    .filter((name) => Number.isFinite(numberIn(last, name)))
    .map((name) => {
      const values = records.map((r) => numberIn(r, name));
      const finite = values.filter(Number.isFinite);
      const best = modeOf(name) === "min" ? Math.min(...finite) : Math.max(...finite);
      const at = records[values.indexOf(best)]!.epoch;
      return `<tr><td>${escaped(name)}</td><td>${aligned(values.at(-1)!)}</td><td>${aligned(best)}</td><td>${at}</td></tr>`;
    });
  const seconds = records.reduce((sum, r) => sum + r.seconds, 0);
  return `<p>${thousands(last.step)} steps in ${duration(seconds)}</p><table>${row(["", "last", "best", "in epoch"], "th")}${said.join("")}</table>`;
}

function epochTable(run: Run): string {
  const scalars = run.names.filter((n) => run.records.some((r) => Number.isFinite(numberIn(r, n))));
  const head = row(["epoch", "step", ...scalars, "time", "samples/s"], "th");
  const rows = run.records.map((r) =>
    row([
      String(r.epoch),
      String(r.step),
      ...scalars.map((n) => aligned(numberIn(r, n))),
      duration(r.seconds),
      thousands(Math.round(r.samplesPerSecond)),
    ]),
  );
  return `<div class="wide"><table>${head}${rows.join("")}</table></div>`;
}

const style = `:root{color-scheme:light dark;--text:#1b1f24;--back:#fff;--soft:#57606a;--line:#d8dee4;--fill:#f6f8fa;--first:#1f6feb;--second:#d9480f}
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--back:#0d1117;--soft:#9198a1;--line:#30363d;--fill:#161b22;--first:#58a6ff;--second:#ff9d57}}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:var(--text);background:var(--back)}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}.curves{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(20rem,100%),1fr));gap:1rem}figure{margin:0}
svg{width:100%;border:1px solid var(--line);border-radius:6px;font-size:11px}svg text{fill:var(--soft)}.grid{stroke:var(--line);stroke-width:.6}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line)}
td{white-space:nowrap}.facts td{white-space:normal}td:first-child,th:first-child,.facts td{text-align:left}.kernels{line-height:2}code,pre{background:var(--fill);border-radius:4px}code{padding:.1rem .3rem}.wide,pre{overflow-x:auto}pre{padding:1rem}`;

function sized(bytes: number): string {
  if (bytes < 2 ** 10) return `${bytes} B`;
  const [unit, by] = bytes < 2 ** 20 ? (["KiB", 2 ** 10] as const) : (["MiB", 2 ** 20] as const);
  return `${Number((bytes / by).toPrecision(3))} ${unit}`;
}

/** What a step came to: kernels in their order, and memory. */
function programPart({ target, kernels, memory }: ProgramFacts): string {
  const facts = [
    ["target", target],
    ["kernels a step", String(kernels.length)],
    ["parameters and other state", sized(memory.stateBytes)],
    ["a batch", sized(memory.inputBytes)],
    ["temporary buffers", sized(memory.temporaryBytes)],
  ];
  const names = kernels.map(({ name }) => `<code>${escaped(name)}</code>`).join(" → ");
  return `<h2>Program</h2><table class="facts">${facts.map((f) => row(f)).join("")}</table><p class="kernels">${names}</p>`;
}

/** The page of a run, with what its step is compiled to where that is known. */
export function reportPage(run: Run, program?: ProgramFacts): string {
  const settings = Object.entries(run.configuration).map((entry) => row(entry));
  const state = run.stopped ?? (run.records.length >= run.epochs ? "finished" : "running");
  const best = run.records.length
    ? `${run.records.length} of ${run.epochs} epochs`
    : "no epoch yet";
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escaped(run.net.constructor.name)}: training</title><style>${style}</style>
<h1>${escaped(run.net.constructor.name)}: ${escaped(best)}, ${escaped(state)}</h1>
${outcome(run)}
<h2>Curves</h2><div class="curves">${diagrams(run).join("")}</div>
<h2>Epochs</h2>${epochTable(run)}
<h2>Configuration</h2><table class="facts">${settings.join("")}</table>
${program ? programPart(program) : ""}<h2>Model</h2><pre>${escaped(String(run.net))}</pre></html>
`;
}

/** Keeps the page of the run at `path`, self-contained. */
export function report(path: string): Callback {
  let program: ProgramFacts | undefined;
  const write = async (run: Run): Promise<void> => {
    mkdirSync(dirname(path), { recursive: true });
    await writeFileAtomic(path, new TextEncoder().encode(reportPage(run, program)));
  };
  return {
    name: "report",
    onEpochEnd: write,
    async onEnd(run, error) {
      if (error !== undefined) return;
      // At the end, when nobody waits for a step.
      if (run.step) program = await run.program();
      await write(run);
    },
  };
}
