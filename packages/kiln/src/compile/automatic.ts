/**
 * "auto" for a program: compiled once for its counts, then placed. What has been placed moves only
 * to a faster kind of target, and only for a clear gain, so that two functions never carry their
 * parameters back and forth.
 */
import type { Artifact, TargetName } from "@kiln-ml/artifact";
import type { Compiled, Program } from "@kiln-ml/compiler";
import { nodesOf } from "@kiln-ml/compiler/program";
import { type Dim, DtypeError, evaluateDim, GraphError, symbolsIn } from "@kiln-ml/ir";
import { compileOnce, type OnceOptions } from "../cache/compile-once.ts";
import type { CodeOptions } from "../devices/engine.ts";
import {
  type Counts,
  countsOf,
  type Machine,
  nominalDims,
  nominalExtent,
  type Placement,
  place,
} from "../devices/placement.ts";
import {
  adapterHere,
  cpuTarget,
  type Session,
  sessionFor,
  threadsHere,
} from "../devices/session.ts";
import { wasmMissing } from "../devices/wasm-support.ts";

/** A program compiled for a session. */
export interface Placed {
  readonly session: Session;
  readonly compiled: Compiled;
}

type Stage = Parameters<NonNullable<CodeOptions["observe"]>>;
type Extents = readonly (readonly number[])[];

const speed: Readonly<Record<TargetName, number>> = { js: 0, wasm: 1, native: 2, webgpu: 3 };
/** Less gain than this is within the error of the estimates. */
const clearGain = 1.5;

/**
 * Compiles `program` for the target that takes the least time; `home` is where its parameters live.
 * `extents` are those of the inputs at hand, which the estimate is for.
 */
export async function compilePlaced(
  program: Program,
  code: CodeOptions,
  home?: Session,
  extents?: Extents,
): Promise<Placed> {
  // An adapter may come and go; the CPU is always there.
  const first = isTiny(program) ? "js" : cpuTarget();
  const stages: Stage[] = [];
  const { tuning: _tuning, ...plain } = code;
  const watching = code.observe && { observe: (...stage: Stage) => void stages.push(stage) };
  const compiled = await compileOnce(program, { ...plain, ...watching, target: first });
  const target = await choose(compiled.artifact, home?.target, extents);
  const session = home?.target === target ? home : await sessionFor(target);
  if (target !== first) {
    const other = await tryCompile(program, await compileOptionsOf(session, code));
    if (other) return { session, compiled: other };
  }
  for (const stage of stages) code.observe?.(...stage);
  return { session: target === first ? session : await sessionFor(first), compiled };
}

/** What a program for this session is compiled with. */
export async function compileOptionsOf(
  { target, device }: Session,
  { tuning: table, ...code }: CodeOptions,
): Promise<OnceOptions> {
  const options =
    target === "webgpu"
      ? { ...code, target, limits: device.limits, features: [...device.features] }
      : target === "native"
        ? { ...code, target, features: [...device.features] }
        : { ...code, target };
  if (!table) return options;
  const { tuningFor } = await import("../tune/table.ts");
  const tuning = tuningFor(table, device);
  return tuning ? { ...options, tuning } : options;
}

/** Undefined where the target refuses a program that another one takes. */
async function tryCompile(program: Program, options: OnceOptions): Promise<Compiled | undefined> {
  try {
    return await compileOnce(program, options);
  } catch (error) {
    if (error instanceof GraphError || error instanceof DtypeError) return undefined;
    throw error;
  }
}

/** So little work that loading wasm would take longer: js is asked for first. */
function isTiny(program: Program): boolean {
  let elements = 0;
  for (const t of nodesOf(program)) {
    elements += t.shape.reduce<number>((n, d) => n * nominal(d), 1);
    if (elements > 4096) return false;
  }
  return true;
}

function nominal(d: Dim): number {
  if (typeof d === "number") return d;
  const values = [...symbolsIn(d).keys()].map((name) => [name, nominalExtent] as const);
  return evaluateDim(d, Object.fromEntries(values));
}

async function choose(
  artifact: Artifact,
  home: TargetName | undefined,
  extents: Extents | undefined,
): Promise<TargetName> {
  const counts = countsOf(artifact, { ...nominalDims(artifact), ...dimsAt(artifact, extents) });
  const { target, estimates } = await placeHere(counts);
  const [best, now] = [target, home].map((t) => estimates.find((e) => e.target === t)?.total);
  if (!home || now === undefined || best === undefined) return target;
  return speed[target] > speed[home] && best * clearGain < now ? target : home;
}

/**
 * Places on this machine. An adapter takes long to open: it is asked for only where the fastest
 * kind would win.
 */
export async function placeHere(counts: Counts): Promise<Placement> {
  const wasm = wasmMissing() ?? { threads: threadsHere() };
  const hopeful = place(counts, { wasm, webgpu: "discrete" });
  if (hopeful.target !== "webgpu")
    return place(counts, { wasm, webgpu: "an adapter would gain nothing" });
  const machine: Machine = { wasm, webgpu: await adapterHere() };
  return place(counts, machine);
}

/** The dims that are extents of inputs. */
export function dimsAt({ signature }: Artifact, extents: Extents = []): Record<string, number> {
  const dims: Record<string, number> = {};
  for (const [i, { shape }] of signature.inputs.entries())
    for (const [axis, e] of shape.entries()) {
      const extent = extents[i]?.[axis];
      if (typeof e === "string" && extent !== undefined) dims[e] = extent;
    }
  return dims;
}
