/**
 * Compiles a program to an artifact: graph passes, then fuse → lower → order → plan → emit. Pure: touches no device
 * and no file.
 */
import {
  type Artifact,
  artifactVersion,
  type KernelText,
  type Limits,
  type Signature,
  type Step,
  type TargetName,
  type TensorSpec,
} from "@kiln-ml/artifact";
import {
  collectSymbols,
  type DimSymbol,
  GraphError,
  input,
  keyOfDim,
  linearIn,
  minOfDim,
  printDim,
  printShape,
  ShapeError,
  sizeOf,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";
import { isLeaf, isPointwise } from "./access.ts";
import { noteChoice } from "./alone.ts";
import { Choices, type Decision, type Tuning } from "./choices.ts";
import { checkCompileOptions } from "./compile-options.ts";
import { boundsIn, tellingOf } from "./dim-bounds.ts";
import { fuse } from "./fuse/fuse.ts";
import type { Group } from "./fuse/group.ts";
import { terminals } from "./fuse/reads.ts";
import { storedNodes } from "./fuse/settle.ts";
import { type Fusion, type FusionLimits, isSingle } from "./fuse/state.ts";
import { toExtent } from "./kernel/extent.ts";
import type { Kernel } from "./kernel/kernel.ts";
import { type Context, copyOf, lowerControl } from "./lower/control.ts";
import { type Lowered, Lowering } from "./lower/lower.ts";
import { allAtStart, type Started, shareStarts, startBytes } from "./lower/share.ts";
import { unifyKernels } from "./lower/unify.ts";
import type { Pass } from "./pass.ts";
import { flowOf } from "./passes/flow.ts";
import { hasRegions, inRegions } from "./passes/in-regions.ts";
import { type Ordered, order } from "./passes/order.ts";
import { plan } from "./passes/plan.ts";
import { type CopyKernel, launchesOf, type PlannedStep } from "./passes/planned.ts";
import { graphPasses } from "./pipeline.ts";
import { nodesOf, type Program, statesOf } from "./program.ts";
import { requirementsOf } from "./requirements.ts";
import type { Target } from "./target.ts";
import { targetOf } from "./targets/index.ts";

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
  /** What to choose where several ways are right, as a tuner found out; `{}` to learn what there is to choose. */
  readonly tuning?: Tuning;
  /** Called after each stage, for inspection. */
  readonly observe?: (stage: string, state: Stage) => void;
}

export interface Stage {
  readonly program?: Program;
  readonly fusion?: Fusion;
  readonly kernels?: readonly Lowered[];
  /** The kernels as they are printed, and where they begin. */
  readonly started?: readonly Started[];
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

/** The artifact of a program, and which leaf each of its states is. Throws GraphError for an unbound symbol. */
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
  observe("order", { program, kernels: ordered.kernels });
  const planned = plan(program, states, ordered, target.name, copyKernels(target, options));
  const texts = new TextTable(target, options);
  const started = startedKernels(planned.steps, target);
  observe("emit", { kernels: ordered.kernels, started: started.map((s) => s.started) });
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

function choicesOf({ tuning, observe: _observe, ...options }: CompileOptions): Choices | undefined {
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

type Starting = { readonly started: Started; readonly args: Step["args"] };

/** The kernels of a plan's steps: one name for one place, one kernel for several that begin elsewhere. */
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

const stepOf = ({ started, args }: Starting, target: Target, texts: TextTable): Step => ({
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

/** Fuses and lowers; where a kernel binds too many tensors, its last member starts a kernel of its own, and again. */
function fuseAndLower(
  program: Program,
  target: Target,
  options: Options,
  nesting: Nesting = { depth: 0, dims: dimNames(program) },
): Ordered {
  const observe = options.observe ?? (() => {});
  const limits = fusionLimitsOf(target, options);
  const [apart, kept] = [new Set<Tensor>(), new Set<Tensor>()];
  const controls = new Map<Tensor | undefined, Lowered>();
  const lowering = new Lowering(target.schedule, {
    limits: options.limits ?? target.defaultLimits,
    features: options.features ?? [],
    choices: options.choices,
  });
  const lower = (fusion: Fusion, g: Group, stored: ReadonlySet<Tensor>): Lowered => {
    if (g.kind !== "control") return lowering.lower(fusion, g, stored);
    const known = controls.get(g.anchor) ?? lowerControl(g, inside(nesting, target, options));
    controls.set(g.anchor, known);
    return { ...known, group: g };
  };
  for (;;) {
    const fusion = fuse(program, limits, options.fusion ?? true, apart, kept);
    const stored = storedNodes(fusion, nodesOf(program));
    const kernels = fusion.groups.map((g) => lower(fusion, g, stored));
    const ordered = order(program, kernels);
    const over = kernels.filter((k) => bindingsOf(k, ordered).size > limits.bindings);
    const before = apart.size + kept.size;
    for (const k of over) relieve(k, fusion, apart, kept);
    if (apart.size + kept.size === before) {
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
    const [lowered] = fuseAndLower(program, target, quiet).kernels;
    const made = { ...lowered!, kernel: { ...lowered!.kernel, name: "copy" } };
    known.set(key, made);
    return made;
  };
}

/**
 * Makes a kernel that binds too many tensors bind fewer: single numbers made of several others, such as the norm of all
 * gradients, are stored by a kernel of their own; else the member that joined last is; else what runs beside it does not;
 * else any part of what is inlined is stored.
 */
function relieve(k: Lowered, fusion: Fusion, apart: Set<Tensor>, kept: Set<Tensor>): void {
  const parts = inlinedParts(k, fusion);
  const joined = lastJoined(k, apart);
  const beside = besideOf(k).find((t) => !apart.has(t));
  const single = parts.find((t) => isSingle(t));
  if (single) kept.add(single);
  else if (joined) apart.add(joined);
  else if (beside) apart.add(beside);
  else if (parts[0]) kept.add(parts[0]);
}

/** Inlined nodes that read several tensors, but no more than one kernel may, the widest first. */
function inlinedParts(k: Lowered, fusion: Fusion): Tensor[] {
  const found = new Map<Tensor, number>();
  const seen = new Set<Tensor>();
  const enter = (root: Tensor): void => {
    const left = [root];
    for (let t = left.pop(); t; t = left.pop()) {
      if (seen.has(t) || isLeaf(t) || fusion.groupOf.has(t)) continue;
      seen.add(t);
      const width = terminals(fusion, t).size;
      if ((isPointwise(t) || t.op === "concat") && width > 1 && width < fusion.limits.bindings)
        found.set(t, width);
      left.push(...[...t.operands].reverse());
    }
  };
  for (const g of [k.group, ...k.group.sideSums.map((s) => s.group), ...k.group.scalars])
    for (const m of g.members.keys()) for (const o of m.operands) enter(o);
  return [...found].sort((a, b) => b[1] - a[1]).map(([t]) => t);
}

/** What a kernel binds once updates in place share the binding of what they overwrite. */
const bindingsOf = (k: Lowered, { inPlace }: Ordered): Set<unknown> =>
  new Set(k.tensors.map((t, i) => (t ? (inPlace.get(t) ?? t) : i)));

/** What runs beside the members of a kernel's group. */
const besideOf = ({ group }: Lowered): Tensor[] =>
  [...group.scalars, ...group.sideSums.map((s) => s.group)].flatMap((g) => [...g.members.keys()]);

function lastJoined(k: Lowered, apart: ReadonlySet<Tensor>): Tensor | undefined {
  const parts = [k.group, ...k.group.sideSums.map((s) => s.group), ...k.group.scalars];
  const joined = parts.flatMap((g) => [...g.members.keys()].slice(1)).filter((t) => !apart.has(t));
  return joined.sort((a, b) => b.id - a.id)[0];
}

/** Kernel texts, those of equal kernels once, with names unique in the artifact. */
class TextTable {
  readonly kernels: KernelText[] = [];
  private readonly byKey = new Map<string, number>();
  private readonly names = new Set<string>();
  private readonly target: Target;
  private readonly options: CompileOptions;

  constructor(target: Target, options: CompileOptions) {
    this.target = target;
    this.options = options;
  }

  add({ kernel, key }: Started): number {
    const known = this.byKey.get(key) ?? this.print(kernel);
    this.byKey.set(key, known);
    return known;
  }

  private print(kernel: Kernel): number {
    let name = kernel.name;
    for (let i = 2; this.names.has(name); i++) name = `${kernel.name}${i}`;
    this.names.add(name);
    const { rounding = "on-store", features = [] } = this.options;
    this.kernels.push(this.target.emit({ ...kernel, name }, { rounding, features }));
    return this.kernels.length - 1;
  }
}

/** The symbols in the shapes of a program, those of its regions included. */
function symbolsOf(program: Program): Map<string, DimSymbol> {
  const symbols = new Map<string, DimSymbol>();
  const collect = (nodes: readonly Tensor[]) => {
    for (const t of nodes) {
      for (const d of t.shape) collectSymbols(d, symbols);
      for (const { shape } of t.results ?? []) for (const d of shape) collectSymbols(d, symbols);
      for (const { params, results } of t.regions)
        collect([...params, ...topologicalOrder(results)]);
    }
  };
  collect([...program.inputs, ...nodesOf(program)]);
  return symbols;
}

const dimNames = (program: Program): ReadonlySet<string> =>
  hasRegions(program) ? new Set(symbolsOf(program).keys()) : new Set();

function signatureOf(program: Program, states: readonly Tensor[]): Signature {
  const symbols = symbolsOf(program);
  const requirements = requirementsOf(program);
  const bounds = boundsIn(requirements, symbols);
  const telling = tellingOf(requirements, symbols, bounds).map(({ value, text }) => ({
    value: toExtent(value),
    text,
  }));
  const told = new Set(program.inputs.flatMap((t) => t.shape.map((d) => linearIn(d)?.symbol.name)));
  for (const name of symbols.keys())
    if (!told.has(name))
      throw new GraphError(
        `compile: symbol ${name} is no dim of an input, so that a run cannot know its value\n  give an input an axis of that symbol, or write a number`,
      );
  const spec = (t: Tensor, name: string): TensorSpec => ({
    name,
    dtype: t.dtype,
    shape: t.shape.map(toExtent),
  });
  const written = new Set(program.updates.map(([param]) => param));
  const names = new Set<string>();
  const unique = (wanted: string): string => {
    let name = wanted;
    for (let i = 2; names.has(name); i++) name = `${wanted}.${i}`;
    names.add(name);
    return name;
  };
  return {
    dims: [...bounds].map(([name, { min, max }]) => ({
      name,
      min,
      max: Number.isFinite(max) ? max : null,
    })),
    ...(telling.length ? { requirements: telling } : {}),
    inputs: program.inputs.map((t) => spec(t, String(t.attrs.name))),
    outputs: program.outputs.map((o) => spec(o.value, o.name)),
    states: states.map((t) => ({
      ...spec(t, unique(String(t.attrs.name ?? "data"))),
      shape: t.shape.map((d) => {
        if (typeof d !== "number") throw new GraphError(`compile: state has extent ${printDim(d)}`);
        return d;
      }),
      trainable: t.attrs.trainable === true,
      written: written.has(t),
    })),
  };
}
