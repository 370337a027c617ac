/**
 * An inspection of a program: compiles it once more, looks on, and writes down what it saw. Behind
 * an `import()`, so that whoever never inspects does not download it. The form is that of
 * `@kiln-ml/inspector`.
 */
import { type Artifact, evaluateExtent, printShape, storageBytes } from "@kiln-ml/artifact";
import { compileProgram, loadTarget, nodesOf, type Program, type Stage } from "@kiln-ml/compiler";
import { Refusals } from "@kiln-ml/compiler/explain";
import {
  type InspectedStage,
  type Inspection,
  inspectionVersion,
  type TensorType,
} from "@kiln-ml/inspector";
import { checkOptions, GraphError, type OptionNames, type Tensor } from "@kiln-ml/ir";
import type { KernelTiming } from "@kiln-ml/runtime/loader";
import { keepProgram } from "../cache/compile-once.ts";
import { compileOptionsOf } from "../compile/automatic.ts";
import type { InputSpec } from "../compile/inputs.ts";
import type { CodeOptions } from "../devices/engine.ts";
import { nominalDims } from "../devices/placement.ts";
import type { Session } from "../devices/session.ts";
import { version } from "../version.ts";
import { edgesOf, kernelsOf, launched } from "./kernels.ts";
import { livesOf, memoryOf } from "./memory.ts";
import { NodeTable } from "./nodes.ts";
import { type Limits, nominalLimits, profileOf } from "./profile.ts";

export interface InspectOptions {
  /** Types of the arguments, if `compile` was given none or others. */
  readonly inputs?: readonly InputSpec[];
  /**
   * What it is compiled for, which need not be present here; the target of the session by default.
   */
  readonly target?: Artifact["target"];
  /** Values of symbols, for sizes; their largest, or 32, by default. */
  readonly dims?: Readonly<Record<string, number>>;
  /**
   * Arguments to time every kernel with, `runs` times (5). As with `profile`, parameters change.
   */
  readonly profile?: readonly unknown[];
  readonly runs?: number;
  /**
   * Bytes and operations a second that the machine can do, for the profile; a table's values by
   * default.
   */
  readonly limits?: Limits;
  /** How a script's line is shown; as it is by default. */
  readonly site?: (site: string) => string;
}

export const inspectOptions: OptionNames<InspectOptions> = {
  inputs: 1,
  target: 1,
  dims: 1,
  profile: 1,
  runs: 1,
  limits: 1,
  site: 1,
};

export interface Inspected {
  readonly program: Program;
  readonly session: Session;
  readonly code: CodeOptions;
  /** Runs it once with every kernel timed; absent if no times are asked for. */
  readonly run?: (() => Promise<readonly KernelTiming[]>) | undefined;
}

/** How often it is run for its times, of options that are checked. */
export function runsOf(options: InspectOptions): number {
  const { runs = 5 } = checkOptions("inspect", options, inspectOptions);
  if (!Number.isInteger(runs) || runs < 1)
    throw new GraphError(
      `inspect: runs must be an integer of 1 or more, got ${runs}\n  leave it out for 5`,
    );
  return runs;
}

async function timed(
  runs: number,
  run: NonNullable<Inspected["run"]>,
): Promise<(readonly KernelTiming[])[]> {
  // The first run of a program is slower than those after it.
  await run();
  const timings: (readonly KernelTiming[])[] = [];
  for (let i = 0; i < runs; i++) timings.push(await run());
  return timings;
}

interface Seen {
  readonly name: string;
  readonly at: number;
  readonly state: Stage;
}

/**
 * Compiles before it runs, so that the runs find what was compiled. Throws what compiling throws.
 */
export async function inspectProgram(
  { program, session, code, run }: Inspected,
  options: InspectOptions,
): Promise<Inspection> {
  const target = options.target ?? session.target;
  if (run && target !== session.target)
    throw new GraphError(
      `inspect: a profile is of ${session.target}, on which it runs, and not of ${target}\n  leave one of them out, or compile it with { target: "${target}" }`,
    );
  await loadTarget(target);
  const { tuning: _tuning, ...plain } = code;
  const { cache, ...given } =
    target === session.target ? await compileOptionsOf(session, code) : { ...plain, target };
  const refusals = new Refusals();
  const seen: Seen[] = [];
  const started = performance.now();
  const { artifact } = compileProgram(program, {
    ...given,
    observe: (name, state) => seen.push({ name, at: performance.now(), state }),
    refused: refusals.note,
  });
  const ended = performance.now();
  await keepProgram(program, artifact, given, cache);
  const timings = run ? await timed(runsOf(options), run) : [];
  const dims = { ...nominalDims(artifact), ...options.dims };
  const nodes = new NodeTable();
  const stages = stagesOf(program, seen, { started, ended, texts: artifact.kernels.length }, nodes);
  const last = seen.find(({ name }) => name === "emit")!.state;
  const fusion = seen.findLast(({ name }) => name === "fuse")?.state.fusion;
  const place = launched(last.launches!);
  const kernels = kernelsOf(artifact, place, nodes, dims);
  const edges = edgesOf(place, nodes, refusals, fusion);
  const lives = livesOf(place.launches, artifact, nodes, dims);
  const limits = options.limits ? { ...options.limits, from: "given" } : nominalLimits(session);
  const final = new Set<Tensor>(nodesOf(last.program ?? program));
  return {
    ...headOf(artifact, dims, code.fusion !== false),
    nodes: nodes.nodes(final, options.site ?? ((site) => site)),
    kernels,
    edges,
    texts: textsOf(artifact),
    memory: memoryOf(artifact, signatureOf(artifact, dims), lives, dims),
    stages,
    compileMs: ended - started,
    ...(timings.length
      ? { profile: profileOf(timings, artifact, kernels, session.device.name, limits) }
      : {}),
  };
}

/** What an artifact tells by itself: no nodes, edges or stages. */
export function inspectArtifact(
  artifact: Artifact,
  given: Readonly<Record<string, number>> = {},
): Inspection {
  const dims = { ...nominalDims(artifact), ...given };
  const nodes = new NodeTable();
  return {
    ...headOf(artifact, dims, true),
    nodes: [],
    kernels: kernelsOf(artifact, { launches: [], homes: new Map() }, nodes, dims),
    edges: [],
    texts: textsOf(artifact),
    memory: memoryOf(artifact, signatureOf(artifact, dims), [], dims),
    stages: [],
  };
}

type Dims = Readonly<Record<string, number>>;

const headOf = (artifact: Artifact, dims: Dims, fusion: boolean) =>
  ({
    format: "kiln-inspection",
    version: inspectionVersion,
    kiln: version,
    name: artifact.name,
    target: artifact.target,
    fusion,
    dims: artifact.signature.dims.map((d) => ({ ...d, value: dims[d.name]! })),
    signature: signatureOf(artifact, dims),
  }) as const;

function signatureOf({ signature, target }: Artifact, dims: Dims) {
  const typeOf = ({ name, dtype, shape }: Artifact["signature"]["inputs"][number]): TensorType => ({
    name,
    dtype,
    shape: printShape(shape),
    bytes: shape.reduce<number>((n, e) => n * evaluateExtent(e, dims), storageBytes(dtype, target)),
  });
  return {
    inputs: signature.inputs.map(typeOf),
    outputs: signature.outputs.map(typeOf),
    states: signature.states.map(typeOf),
  };
}

const languages = { js: "js", wasm: "wat", native: "c", webgpu: "wgsl" } as const;

const textsOf = ({ kernels, target }: Artifact) =>
  kernels.map(({ name, text }) => ({ name, language: languages[target], text }));

/** Each stage with the time since the one before, and what it did to the nodes. */
function stagesOf(
  program: Program,
  seen: readonly Seen[],
  { started, ended, texts }: { started: number; ended: number; texts: number },
  nodes: NodeTable,
): InspectedStage[] {
  let before = new Set<Tensor>(nodesOf(program));
  nodes.idsOf(before);
  const stages: InspectedStage[] = [{ name: "graph", ms: 0, size: before.size }];
  let at = started;
  for (const { name, at: now, state } of seen) {
    const ms = now - at;
    at = now;
    // The hook of "emit" is called when the plan is made, and before texts are.
    const stage = name === "emit" ? "plan" : name === "fuse" ? "fuse, lower" : name;
    // Fusion is settled once its kernels are lowered: both are told then.
    if (name === "lower") continue;
    const isPass = state.program && !state.fusion && !state.kernels;
    if (!isPass) {
      const size = state.launches ?? state.kernels ?? state.fusion?.groups ?? [];
      stages.push({ name: stage, ms, size: size.length });
      continue;
    }
    const after = new Set<Tensor>(nodesOf(state.program!));
    const removed = nodes.idsOf([...before].filter((t) => !after.has(t)));
    const added = nodes.idsOf([...after].filter((t) => !before.has(t)));
    stages.push({ name, ms, size: after.size, removed, added });
    before = after;
  }
  stages.push({ name: "emit", ms: ended - at, size: texts });
  return stages;
}
