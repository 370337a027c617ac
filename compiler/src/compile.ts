/**
 * Compiles a program to an artifact: graph passes, then fuse → lower → order → plan → emit. Pure:
 * touches no device and no file.
 */
import {
  type Artifact,
  type Step as ArtifactStep,
  artifactVersion,
  type Limits,
  type TargetName,
} from "@kiln-ml/artifact";
import {
  GraphError,
  input,
  keyOfDim,
  minOfDim,
  printDim,
  printShape,
  ShapeError,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";
import { noteChoice } from "./alone.ts";
import { Choices, type Decision, type Tuning } from "./choices.ts";
import { checkCompileOptions } from "./compile-options.ts";
import { fuse } from "./fuse/fuse.ts";
import type { Group } from "./fuse/group.ts";
import { storedNodes } from "./fuse/materialise.ts";
import type { Fusion, FusionLimits, Refused } from "./fuse/state.ts";
import { toExtent } from "./kernel/extent.ts";
import type { Kernel } from "./kernel/kernel.ts";
import { lowerCustom } from "./lower/custom.ts";
import { type Lowered, Lowering } from "./lower/lower.ts";
import type { Pass } from "./pass.ts";
import { hasRegions, inRegions } from "./passes/in-regions.ts";
import { graphPasses } from "./pipeline.ts";
import { type Context, copyOf, isLaunch, lowerControl, type Step } from "./plan/control.ts";
import { groupsOver } from "./plan/count-bindings.ts";
import { flowOf } from "./plan/flow.ts";
import { type Ordered, order } from "./plan/order.ts";
import { plan } from "./plan/plan.ts";
import {
  type CopyKernel,
  launchesOf,
  type PlannedLaunch,
  type PlannedStep,
} from "./plan/planned.ts";
import { bindingsOf, Reliefs } from "./plan/relieve.ts";
import { allAtStart, type Started, shareStarts, startBytes } from "./plan/share.ts";
import { unifyKernels } from "./plan/unify.ts";
import { nodesOf, type Program, statesOf } from "./program.ts";
import { dimNames, signatureOf } from "./signature.ts";
import type { Target } from "./target.ts";
import { targetOf } from "./targets/index.ts";
import { TextTable } from "./text-table.ts";

export interface CompileOptions {
  readonly target: TargetName;
  readonly name?: string;
  /** One kernel a node when false; that is how fusion is measured. Default true. */
  readonly fusion?: boolean;
  /** Where f32 values are rounded on js; default "on-store". */
  readonly rounding?: "each-op" | "on-store";
  /** The adapter's limits; WebGPU's guaranteed ones by default. */
  readonly limits?: Limits;
  readonly features?: readonly string[];
  /**
   * What to choose where several ways are right, as a tuner found out; `{}` to learn what there is
   * to choose.
   */
  readonly tuning?: Tuning;
  /** Called after each stage, for inspection. */
  readonly observe?: (stage: string, state: Stage) => void;
  /**
   * Called with each kernel that a schedule makes; it throws where one is wrong. `verifyKernel`, in
   * development: no bundle is to have it.
   */
  readonly verify?: (kernel: Kernel, target: TargetName) => void;
  /** Called where fusion looked at a group for a node and did not take it, for inspection. */
  readonly refused?: Refused;
}

export interface Stage {
  readonly program?: Program;
  readonly fusion?: Fusion;
  readonly kernels?: readonly Lowered[];
  /** The kernels as they are printed, and where they begin. */
  readonly started?: readonly Started[];
  /**
   * What each step of the plan launches, those of regions too, with the places of all parameters.
   */
  readonly launches?: readonly PlannedLaunch[];
}

export interface Compiled {
  readonly artifact: Artifact;
  /** The parameter or data leaf of each state of the signature. */
  readonly states: readonly Tensor[];
  /** The choices there were; none without `tuning`. */
  readonly decisions: readonly Decision[];
}

/** Options with what is asked at each choice. */
interface Options extends CompileOptions {
  readonly choices: Choices | undefined;
}

/**
 * The artifact of a program, and which leaf each of its states is. Throws GraphError for an unbound
 * symbol.
 */
export function compileProgram(source: Program, given: CompileOptions): Compiled {
  checkCompileOptions(given);
  const target = targetOf(given.target);
  const options: Options = { ...given, choices: choicesOf(given) };
  const observe = options.observe ?? (() => {});
  let program = source;
  const { bindings } = fusionLimitsOf(target, options);
  for (const pass of passesFor(source, target)) {
    program = pass.run(program, options.choices, bindings);
    observe(pass.name, { program });
  }
  const states = statesOf(source);
  const ordered = fuseAndLower(program, target, options);
  const kernels = ordered.steps.filter(isLaunch);
  observe("order", { program, kernels });
  const planned = plan(program, states, ordered, target.name, copyKernels(target, options));
  const texts = new TextTable(target, options);
  const started = startedKernels(planned.steps, target);
  observe("emit", {
    program,
    kernels,
    started: started.map((s) => s.started),
    launches: launchesOf(planned.steps),
  });
  const steps = started.map((s) => stepOf(s, target, texts));
  const artifact: Artifact = {
    version: artifactVersion,
    target: target.name,
    name: options.name ?? "program",
    signature: signatureOf(source, states),
    kernels: texts.kernels,
    ...(target.link ? { modules: target.link(texts.kernels) } : {}),
    plan: { slots: planned.slots, steps, ...flowOf(planned.steps), copies: planned.copies },
    constants: [],
    weights: {},
    limits: options.limits ?? target.defaultLimits,
    features: options.features ?? [],
  };
  return { artifact, states, decisions: options.choices?.decisions ?? [] };
}

function choicesOf({ tuning, ...given }: CompileOptions): Choices | undefined {
  const { observe: _observe, refused: _refused, ...options } = given;
  if (!tuning) return undefined;
  return new Choices(
    tuning,
    (part, table) => compileProgram(part, { ...options, tuning: { ...tuning, ...table } }).artifact,
  );
}

const fusionLimitsOf = (target: Target, { limits, features = [] }: Options): FusionLimits =>
  target.fusionLimits(limits ?? target.defaultLimits, features);

const passesFor = (program: Program, target: Target): readonly Pass[] => {
  const passes = [...graphPasses, ...target.passes];
  return hasRegions(program) ? passes.map(inRegions) : passes;
};

type Starting = { readonly started: Started; readonly args: ArtifactStep["args"] };

/**
 * The kernels of a plan's steps: one name for one place, one kernel for several that begin
 * elsewhere.
 */
function startedKernels(planned: readonly PlannedStep[], target: Target): Starting[] {
  const launches = launchesOf(planned);
  for (const { lowered } of launches) checkSizes(lowered);
  const unified = unifyKernels(
    launches.map(({ lowered }) => lowered.kernel),
    launches.map(({ places }) => places),
  );
  const kernels = unified.map((u) => u.kernel);
  const all = target.startsAnywhere ? shareStarts(kernels) : allAtStart(kernels);
  return all.map((started, i) => ({ started, args: unified[i]!.args }));
}

const stepOf = ({ started, args }: Starting, target: Target, texts: TextTable): ArtifactStep => ({
  kernel: texts.add(started),
  args,
  ...startBytes(started, target.name),
  bytes: toExtent(started.kernel.bytes),
  flops: toExtent(started.kernel.flops),
});

/** Kernels count elements in i32. */
const mostElements = 2 ** 31 - 1;

function checkSizes({ kernel, tensors }: Lowered): void {
  for (const [i, p] of kernel.params.entries()) {
    const t = tensors[i];
    if (!t || minOfDim(p.size) <= mostElements) continue;
    const where = t.site ? ` (${t.site})` : "";
    throw new ShapeError(
      `compile: ${t.op} ${printShape(t.shape)} has ${printDim(p.size)} elements, a tensor may have ${mostElements}${where}`,
    );
  }
}

/**
 * Fuses and lowers; where a kernel binds too many tensors, its last member starts a kernel of its
 * own, and again.
 */
function fuseAndLower(
  program: Program,
  target: Target,
  options: Options,
  nesting: Nesting = { depth: 0, dims: dimNames(program) },
): Ordered {
  const observe = options.observe ?? (() => {});
  const limits = fusionLimitsOf(target, options);
  const relief = new Reliefs();
  const controls = new Map<Tensor | undefined, Step>();
  const lowering = new Lowering(target.schedule, {
    limits: options.limits ?? target.defaultLimits,
    features: options.features ?? [],
    choices: options.choices,
    verify: (kernel) => options.verify?.(kernel, target.name),
  });
  const lower = (fusion: Fusion, g: Group, stored: ReadonlySet<Tensor>): Step => {
    if (g.kind !== "control") return lowering.lower(fusion, g, stored);
    const known =
      controls.get(g.anchor) ??
      (g.anchor?.op === "customKernel"
        ? lowerCustom(g, target.name)
        : lowerControl(g, inside(nesting, target, options)));
    controls.set(g.anchor, known);
    return { ...known, group: g };
  };
  for (;;) {
    const fusion = fuse(program, limits, options.fusion ?? true, relief, options.refused);
    const stored = storedNodes(fusion, nodesOf(program));
    if (limits.bindings < Infinity) {
      const over = groupsOver(fusion, stored, (g) => lower(fusion, g, stored));
      if (over && relief.addAll(over, fusion, stored)) continue;
    }
    const steps = fusion.groups.map((g) => lower(fusion, g, stored));
    const kernels = steps.filter(isLaunch);
    if (relief.part(kernels.flatMap((k) => k.apart ?? []))) continue;
    const ordered = order(program, steps);
    const over = kernels.filter((k) => bindingsOf(k, ordered).size > limits.bindings);
    const groups = new Map(over.map((k) => [k.group, bindingsOf(k, ordered).size]));
    if (!relief.addAll({ groups, inPlace: ordered.inPlace }, fusion, stored)) {
      for (const k of over)
        throw new GraphError(
          `compile: kernel ${k.kernel.name} binds ${bindingsOf(k, ordered).size} tensors, the target allows ${limits.bindings}`,
        );
      for (const k of kernels) noteChoice(k, target, options);
      observe("fuse", { program, fusion });
      observe("lower", { program, fusion, kernels });
      return ordered;
    }
  }
}

interface Nesting {
  readonly depth: number;
  /** Names of symbols that steps may not take. */
  readonly dims: ReadonlySet<string>;
}

/** How what is in a region is lowered: with a symbol of its own for the step. */
function inside({ depth, dims }: Nesting, target: Target, options: Options): Context {
  let symbol = `step${depth}`;
  while (dims.has(symbol)) symbol += "_";
  const nesting = { depth: depth + 1, dims };
  const quiet = { ...options, observe: () => {} };
  return { symbol, lower: (program) => fuseAndLower(program, target, quiet, nesting) };
}

function copyKernels(target: Target, options: Options): CopyKernel {
  const known = new Map<string, Lowered>();
  const quiet = { ...options, observe: () => {} };
  return ({ dtype, shape }) => {
    const size = sizeOf(shape);
    const key = `${dtype} ${keyOfDim(size)}`;
    const found = known.get(key);
    if (found) return found;
    const x = input("x", dtype, [size]);
    const program = { inputs: [x], outputs: [{ name: "y", value: copyOf(x) }], updates: [] };
    const [lowered] = fuseAndLower(program, target, quiet).steps as [Lowered];
    const made = { ...lowered, kernel: { ...lowered.kernel, name: "copy" } };
    known.set(key, made);
    return made;
  };
}
