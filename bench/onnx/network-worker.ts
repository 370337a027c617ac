/**
 * A process that runs networks on one engine: sets one up, runs it for comparison, is timed, tells
 * its peak of memory. Started by `network-peer.ts`.
 */
import { peakBytes } from "../peak.ts";
import { type Engine, type EngineName, type Face, type Opened, openEngine } from "./engine.ts";
import { openFiles } from "./files.ts";
import type { Answer, Question, Setup } from "./network-protocol.ts";
import { networkNamed } from "./networks/index.ts";
import type { ModelRef, Network, Work } from "./networks/network.ts";
import { fileAt, filesOf } from "./sources.ts";

const [, , engineName, threadCount = "1", face] = process.argv;
const threads = Number(threadCount);
const engine: Engine = await openEngine(
  engineName as EngineName,
  face as Face | undefined,
  threads,
);
let work: Work | undefined;
let baseBytes = process.memoryUsage().rss;

/** Files in the folder of a model, by name. */
function filesBeside(files: ReturnType<typeof filesOf>, path: string): Map<string, Uint8Array> {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const names = files.names.filter(
    (n) =>
      n.startsWith(folder) &&
      n !== path &&
      /\.(data|bin)$/.test(n) &&
      !n.slice(folder.length).includes("/"),
  );
  return new Map(names.map((n) => [n.slice(folder.length), files.read(n)!]));
}

async function openModel({ from, path, dims }: ModelRef): Promise<Counted> {
  const files = filesOf(from);
  const full = files.names.find((n) => n === path || n.endsWith(`/${path}`)) ?? path;
  const bytes = fileAt(files, path);
  const file = { name: path, bytes, beside: filesBeside(files, full), ...(dims ? { dims } : {}) };
  return counted(await engine.open(file));
}

/** A model that remembers what its first run compiled. */
interface Counted extends Opened {
  readonly atFirst: () => number;
}

function counted(model: Opened): Counted {
  let first: number | undefined;
  return {
    ...model,
    run: async (inputs) => {
      const outputs = await model.run(inputs);
      first ??= model.compiles?.();
      return outputs;
    },
    atFirst: () => first ?? 0,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

async function kernelsOf(
  models: Readonly<Record<string, Opened>>,
  { inputs }: Work,
): Promise<number | string | undefined> {
  let kernels = 0;
  try {
    for (const [key, model] of Object.entries(models)) {
      if (!model.kernels) return undefined;
      kernels += await model.kernels(inputs[key]!);
    }
  } catch (error) {
    return (error as Error).message;
  }
  return kernels;
}

async function setUp(name: string): Promise<Setup> {
  const network = networkNamed(name);
  for (const { from } of Object.values(network.models)) filesOf(from);
  baseBytes = process.memoryUsage().rss;
  const start = now(true);
  const models = await openModels(network);
  const createMs = now(true) - start;
  work = await network.work(models);
  await work.unit();
  const firstMs = now(true) - start;
  const opened = Object.values(models);
  const { results, note } = await work.check();
  const first = sum(opened.map((m) => m.atFirst()));
  const all = sum(opened.map((m) => m.compiles?.() ?? 0));
  const kernels = await kernelsOf(models, work);
  const counts = opened[0]?.compiles ? { compiles: { first, all } } : {};
  return {
    results,
    firstMs,
    createMs,
    againMs: await again(network),
    ...counts,
    ...(note ? { note } : {}),
    ...(kernels === undefined ? {} : { kernels }),
  };
}

async function openModels(network: Network): Promise<Record<string, Counted>> {
  const models: Record<string, Counted> = {};
  for (const [key, ref] of Object.entries(network.models)) models[key] = await openModel(ref);
  return models;
}

/** What opening the same models takes once the engine has done it before. */
async function again(network: Network): Promise<number> {
  const start = now();
  const models = await openModels(network);
  const taken = now() - start;
  for (const model of Object.values(models)) await model.close();
  return taken;
}

/**
 * Milliseconds of CPU so far, of all threads: on a machine that others use too, the time of day
 * measures them. Several threads are measured by the time of day, for they are there to make it
 * shorter; so is what a compiler of C does, which is another process.
 */
function now(compiles = false): number {
  if (threads > 1 || (compiles && engineName === "native")) return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function timed(times: number): Promise<number> {
  const start = now();
  for (let i = 0; i < times; i++) await work!.unit();
  return (now() - start) / times;
}

async function runGraph({ archive, path, inputs }: Question & { ask: "graph" }) {
  const files = openFilesOnce(archive);
  const bytes = files.read(path);
  if (!bytes) throw new RangeError(`models: no ${path}`);
  const opened = await engine.open({ name: path, bytes, beside: filesBeside(files, path) });
  try {
    return await opened.run(inputs);
  } finally {
    await opened.close();
  }
}

let archiveFiles: ReturnType<typeof filesOf> | undefined;

function openFilesOnce(archive: string): ReturnType<typeof filesOf> {
  archiveFiles ??= openFiles(archive);
  return archiveFiles!;
}

async function answer(question: Question): Promise<Answer> {
  if (question.ask === "setup") return { setup: await setUp(question.network) };
  if (question.ask === "time") return { ms: await timed(question.times) };
  if (question.ask === "graph") return { outputs: await runGraph(question) };
  return { peakBytes: peakBytes() - baseBytes };
}

process.on("message", async (question: Question) => {
  const reply = await answer(question).catch((error: Error) => ({
    error: `${error.name}: ${error.message}`,
  }));
  process.send!(reply satisfies Answer);
});
// A stray rejection ends no measurement; the work it belongs to fails by itself.
process.on("unhandledRejection", () => {});
process.send!({ ready: true } satisfies Answer);
