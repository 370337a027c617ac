/**
 * `npm run conformance [-- --data FOLDER|ARCHIVE] [--only PATTERN] [--op NAME] [--target TARGET]
 * [--every N] [--limit SECONDS] [--no-peer] [--face onnxruntime] [--ops] [--json] [--strict]`: the
 * ONNX backend suite on our targets, next to ONNX Runtime. `--face` asks the targets through an
 * interface of others. `--strict` fails below 95 % of the cases a target can hold. Cases are left
 * out for what they contain, never by name. `--tfjs` runs the specs of tfjs-core on its backend.
 */

import { cpus } from "node:os";
import { scriptOptions } from "../../packages/tools/src/script-options.ts";
import { casesOf } from "./cases.ts";
import { type EngineName, type Face, faceNames, type OurTarget, targetNames } from "./engine.ts";
import { dataPath, openFiles } from "./files.ts";
import type { Verdict } from "./judge.ts";
import { judgeAll } from "./pool.ts";
import {
  type Column,
  conformanceDocument,
  exclusionTable,
  failureDetails,
  failureList,
  fewNodes,
  folderTable,
  opTable,
  peerName,
  percentage,
  summary,
  tally,
  unsupportedTable,
} from "./report.ts";
import { installRuntime } from "./runtimes.ts";
import { type Surveyed, survey } from "./survey.ts";

const options = scriptOptions(import.meta.url, {
  data: { type: "string" },
  only: { type: "string" },
  op: { type: "string" },
  target: { type: "string", multiple: true },
  every: { type: "string" },
  limit: { type: "string" },
  "no-peer": { type: "boolean" },
  face: { type: "string" },
  ops: { type: "boolean" },
  json: { type: "boolean" },
  strict: { type: "boolean" },
  tfjs: { type: "boolean" },
});

const goal = 95;
const limitMs = 1000 * Number(options.limit ?? 30);
/** Up to so many failures are told in detail. */
const detailed = 60;

/** Whole networks have more time: they are as many ops as hundreds of cases. */
const networkFactor = 5;

/**
 * Of a full run's cases with more nodes than a few, the software adapter gets one in this many, and
 * no networks: it compiles pipelines for minutes.
 */
const adapterShare = 6;

/** A number that depends on the name alone and looks like chance. */
function hash(name: string): number {
  let h = 2166136261;
  for (const c of name) h = Math.imul(h ^ c.charCodeAt(0), 16777619) >>> 0;
  return (h ^ (h >>> 15)) >>> 0;
}

function chosenTargets(): OurTarget[] {
  // A C compiler takes a second for each of thousands of models: native is run where it is named.
  const asked = options.target ?? targetNames.filter((t) => t !== "native");
  const unknown = asked.find((t) => !targetNames.includes(t as OurTarget));
  if (unknown) throw new RangeError(`conformance: no target ${unknown}; there are ${targetNames}`);
  return asked as OurTarget[];
}

function chosenFace(): Face | undefined {
  const { face } = options;
  if (face === undefined || faceNames.includes(face as Face)) return face as Face | undefined;
  throw new RangeError(`conformance: no face ${face}; there are ${faceNames}`);
}

const narrowed = options.only !== undefined || options.op !== undefined;

function shareOf(engine: EngineName): number {
  if (engine !== "webgpu") return 1;
  return Number(options.every ?? (narrowed ? 1 : adapterShare));
}

const inSample = (s: Surveyed, share: number): boolean =>
  share === 1 || (!s.case.made && (s.nodes <= fewNodes || hash(s.case.name) % share === 0));

function progress(engine: EngineName, of: number): (name: string, verdict: Verdict) => void {
  let [done, passed] = [0, 0];
  return (_, verdict) => {
    done++;
    if (verdict.passed) passed++;
    if (done % 100 === 0 || done === of)
      console.error(`${engine}: ${done} of ${of}, ${passed} passed`);
  };
}

async function columnOf(
  engine: EngineName,
  cases: readonly Surveyed[],
  data: string,
  face: Face | undefined,
): Promise<Column> {
  const share = shareOf(engine);
  // The peer is asked about all: what it passes of the whole suite is a figure too.
  const names = cases
    .filter((s) => engine === peerName || !s.excludedOn(engine))
    .filter((s) => inSample(s, share))
    .map((s) => s.case.name);
  const networks = new Set(cases.filter((s) => s.case.made).map((s) => s.case.name));
  const limitOf = (name: string) => limitMs * (networks.has(name) ? networkFactor : 1);
  try {
    if (engine === peerName) installRuntime(peerName);
    const tell = progress(engine, names.length);
    return {
      engine,
      share,
      verdicts: await judgeAll(engine, names, {
        data,
        face,
        limitOf,
        progress: tell,
      }),
    };
  } catch (error) {
    return { engine, share, verdicts: new Map(), absent: (error as Error).message };
  }
}

/** Columns in the order asked for, so many at a time as there are cores. */
async function columnsOf(
  engines: readonly EngineName[],
  cases: readonly Surveyed[],
  data: string,
): Promise<Column[]> {
  const face = chosenFace();
  const columns: Column[] = [];
  const waiting = [...engines.entries()];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      columns[next[0]] = await columnOf(next[1], cases, data, face);
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(3, cpus().length)) }, lane));
  return columns;
}

function print(cases: readonly Surveyed[], columns: readonly Column[]): void {
  const ours = columns.filter(({ engine }) => engine !== peerName);
  if (options.ops ?? !narrowed) console.log(`${opTable(cases, columns)}\n`);
  for (const column of ours) {
    const { failed } = tally(cases, column);
    if (failed > detailed || failed === 0) continue;
    console.log(`${failureDetails(cases, column)}\n`);
  }
  for (const column of ours) console.log(`${failureList(cases, column)}\n`);
  process.stdout.write(unsupportedTable(cases, ours));
  console.log(`${folderTable(cases, columns)}\n\n${exclusionTable(cases, columns)}\n`);
  for (const column of columns) console.log(summary(cases, column));
}

/** What a strict run wants and did not get. */
function shortfalls(cases: readonly Surveyed[], columns: readonly Column[]): string[] {
  return columns
    .filter(({ engine }) => engine !== peerName)
    .flatMap((column) => {
      if (column.absent) return [`${column.engine}: ${column.absent}`];
      const reached = percentage(tally(cases, column));
      return column.share === 1 && reached < goal
        ? [`${column.engine}: ${reached.toFixed(1)} %, at least ${goal} % are wanted`]
        : [];
    });
}

/** The specs of tfjs-core in place of the cases of ONNX. */
async function mainTfjs(): Promise<void> {
  const { conformTfjs } = await import("../tfjs/suite.ts");
  const { target = ["wasm"], only, json = false, strict = false } = options;
  const peer = !options["no-peer"];
  for (const name of target) await conformTfjs({ target: name, only, peer, json, strict });
}

async function main(): Promise<void> {
  if (options.tfjs) return mainTfjs();
  const data = options.data ?? dataPath("onnx-backend-tests.tar.gz");
  const files = openFiles(data);
  if (!files) throw new RangeError(`conformance: no data at ${data}\n  name some with --data`);
  const pattern = new RegExp(options.only ?? "");
  const all = casesOf(files).filter(({ name }) => pattern.test(name));
  const surveyed = survey(all, files).filter((s) => !options.op || s.ops.includes(options.op));
  if (surveyed.length === 0) throw new RangeError(`conformance: no case in ${data} is meant`);
  const engines: EngineName[] = options["no-peer"]
    ? chosenTargets()
    : [...chosenTargets(), peerName];
  const columns = await columnsOf(engines, surveyed, data);
  if (options.json) console.log(JSON.stringify(conformanceDocument(surveyed, columns)));
  else print(surveyed, columns);
  const short = shortfalls(surveyed, columns);
  if (options.strict && short.length > 0) {
    console.error(short.join("\n"));
    process.exitCode = 1;
  }
}

try {
  await main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
