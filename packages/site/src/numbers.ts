/** Speed and size as a page, from the rows that `npm run bench` kept and the bounds that tests hold. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { escaped, framed } from "./frame.ts";
import { documentOf } from "./markdown.ts";

interface Row {
  readonly case: string;
  readonly target?: string;
  readonly metric?: string;
  readonly value?: number;
  readonly unit?: string;
  readonly peer?: string;
  readonly peerValue?: number;
  readonly ratio?: number;
}

interface Results {
  readonly date: string;
  readonly commit: string;
  readonly machine: { readonly cpu?: string; readonly cores?: number; readonly node?: string };
  readonly rows: readonly Row[];
}

interface CardResults {
  readonly date: string;
  readonly commit: string;
  readonly machine: { readonly card: string; readonly api: string };
  readonly rows: readonly {
    readonly case: string;
    readonly ms: number;
    readonly launches?: number;
    readonly peers?: Readonly<Record<string, number>>;
  }[];
}

const read = <T>(root: string, name: string): T =>
  JSON.parse(readFileSync(join(root, "bench/results", `${name}.json`), "utf8"));

const three = (v: number | undefined): string =>
  v === undefined
    ? ""
    : Number(v.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 6 });

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<div class="table"><table class="figures"><thead><tr>${head.map((c) => `<th>${c}</th>`).join("")}</tr></thead><tbody>${rows
    .map((row) => `<tr>${row.map((c) => `<td>${c}</td>`).join("")}</tr>`)
    .join("")}</tbody></table></div>`;

/** A bar for how many times as fast, up to eight. */
const times = (ratio: number | undefined): string =>
  ratio === undefined
    ? ""
    : `<span class="ratio${ratio < 1 ? " less" : ""}"><i style="width:${Math.min(100, 12.5 * ratio)}%"></i>${three(ratio)}×</span>`;

const from = ({ date, commit, machine }: Results): string =>
  `<p class="note">${escaped(machine.cpu ?? "")}, ${machine.cores} cores, Node ${machine.node ?? ""}; ${date.slice(0, 10)}, commit ${commit}.</p>`;

const against = (rows: readonly Row[]): string =>
  table(
    ["case", "Kiln", "beside", "", "times as fast"],
    rows.map((r) => [
      escaped(`${r.case}${r.target && r.target !== "wasm" ? `, ${r.target}` : ""}`),
      `${three(r.value)} ${r.unit}`,
      escaped(r.peer ?? ""),
      `${three(r.peerValue)} ${r.unit}`,
      times(r.ratio),
    ]),
  );

function processor(root: string): string {
  const cpu = read<Results>(root, "cpu");
  const rows = cpu.rows.filter(
    (r) => r.target === "wasm" && r.metric === "time, 2 threads" && r.ratio,
  );
  return `<h2 id="processor">WebAssembly, two threads</h2>${against(rows)}${from(cpu)}`;
}

function models(root: string): string {
  const results = read<Results>(root, "models");
  const rows = results.rows.filter((r) => r.metric === "a run" && r.ratio);
  return `<h2 id="models">ONNX models, beside ONNX Runtime</h2><p>A run on one thread. The native runtime is there for scale.</p>${against(rows)}${from(results)}`;
}

function javascript(root: string): string {
  const results = read<Results>(root, "peers");
  return `<h2 id="javascript">JavaScript alone</h2>${against(results.rows)}${from(results)}`;
}

function card(root: string): string {
  const { machine, date, commit, rows } = read<CardResults>(root, "webgpu-h200");
  const peers = ["tfjs", "jax-js", "torch"];
  const body = rows
    .filter((r) => r.peers && Object.keys(r.peers).length)
    .map((r) => [escaped(r.case), three(r.ms), ...peers.map((p) => three(r.peers![p]))]);
  return `<h2 id="webgpu">WebGPU on a large card</h2><p>Milliseconds; torch is PyTorch with CUDA on the same card.</p>${table(["case", "Kiln", ...peers], body)}<p class="note">${escaped(machine.card)}, ${escaped(machine.api)}; ${date}, commit ${commit}.</p>`;
}

function networks(root: string): string {
  const { machine, date, commit, rows } = read<CardResults>(root, "webgpu-h200-networks");
  const body = rows.map(({ case: name, ms, launches, peers = {} }) => {
    const best = Math.min(...Object.values(peers));
    const ratio = Number.isFinite(best) ? best / ms : undefined;
    const torch = ["torch", "torch compile"].map((peer) => three(peers[peer]));
    return [escaped(name), three(ms), ...torch, times(ratio), three(launches)];
  });
  const head = ["network", "Kiln", "torch", "torch compile", "times as fast", "launches"];
  return `<h2 id="networks">Whole networks on that card</h2><p>Milliseconds of a step, beside the better of PyTorch with CUDA, eager and compiled. In half precision PyTorch uses instructions that WebGPU does not have.</p>${table(head, body)}<p class="note">${escaped(machine.card)}, ${escaped(machine.api)}; ${date}, commit ${commit}.</p>`;
}

/** Programs of ONNX Runtime and of TensorFlow.js that call Kiln in its place. */
function unchanged(root: string): string {
  const results = ["onnxruntime", "tfjs", "tfjs-webgpu-h200"].map((name) =>
    read<Results>(root, name),
  );
  const timed = /^(a run|a chunk|a prediction|a pass|a training epoch|create, the first)|^a run at/;
  const shown = ({ metric, ratio }: Row) => ratio !== undefined && timed.test(metric ?? "");
  const parts = results.map((r) => {
    const rows = r.rows
      .filter(shown)
      .map((row) => ({ ...row, case: `${row.case}: ${row.metric}` }));
    return `${against(rows)}${from(r)}`;
  });
  return `<h2 id="unchanged">People's programs, unchanged</h2><p>Written for ONNX Runtime or TensorFlow.js, with one line that puts Kiln in its place. Creating a session compiles the model.</p>${parts.join("")}`;
}

function fusion(root: string): string {
  const results = read<Results>(root, "fusion");
  const rows = results.rows.filter((r) => r.metric === "kernels");
  const body = rows.map((r) => [escaped(r.case), three(r.value), three(r.peerValue)]);
  return `<h2 id="fusion">Kernels, with fusion and without</h2>${table(["case", "fused", "one an operation"], body)}`;
}

/** The sizes that the package's README tells, which a test holds. */
export function sizes(root: string): string {
  const text = readFileSync(join(root, "packages/kiln/README.md"), "utf8");
  const section = /^## Sizes\n([\s\S]*?)(?=^ES modules)/m.exec(text)?.[1] ?? "";
  return documentOf(section, () => undefined).html;
}

export const numbersPage = (root: string): string =>
  framed({
    title: "Speed and size · Kiln",
    description: "What a page downloads, and how long programs take beside other runtimes",
    root: "",
    part: "Speed and size",
    kind: "doc",
    body: `<main class="page text"><h1>Speed and size</h1><p>Rows as <code>npm run bench</code> measured and kept them; a claim without a row is not made here.</p><h2 id="sizes">What a page downloads</h2>${sizes(root)}${processor(root)}${models(root)}${unchanged(root)}${javascript(root)}${card(root)}${networks(root)}${fusion(root)}</main>`,
  });
