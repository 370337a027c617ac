/**
 * What a compiled function keeps: one program for each structure of arguments and pattern of extents, and the choice
 * between them at a call. Every method expects its turn in the queue.
 */
import type { Artifact } from "@kiln-ml/artifact";
import type { Program } from "@kiln-ml/compiler";
import { type Dim, type Dtype, GraphError, ShapeError, Tensor } from "@kiln-ml/ir";
import type { DeviceArray, Input, KernelTiming } from "@kiln-ml/runtime/loader";
import { dimsAt } from "./automatic.ts";
import type { Check, Checked } from "./check.ts";
import { evaluateTensor, flush, hasPending, homeOf } from "./eager.ts";
import { type CodeOptions, codeOf, feed, Runner } from "./engine.ts";
import { type ExportOptions, exportProgram } from "./export.ts";
import { type Fed, feedOf, isFeed } from "./feed.ts";
import { declare, type InputSpec, inputTree, isSpec } from "./inputs.ts";
import { moveAll } from "./move.ts";
import { nominalDims } from "./placement.ts";
import {
  defaultTarget,
  isCurrent,
  type Session,
  sessionFor,
  type TargetOption,
} from "./session.ts";
import { fits, type Pattern, ShapeHistory } from "./shapes.ts";
import { isPinned, leafOf, pin, storedOf } from "./storage.ts";
import { type AnyFunction, stillHolds, type Traced, traceFunction } from "./traced.ts";
import { mapArguments } from "./tree.ts";
import type { Tuned, TuneOptions } from "./tune.ts";
import type { ThreadCount } from "./wasm-support.ts";

export interface CompileOptions extends CodeOptions {
  /** Where it runs; the default target, or where its parameters live, if not given. */
  readonly target?: TargetOption;
  /** Threads of the wasm device, as `setThreads` takes them. */
  readonly threads?: ThreadCount;
  /**
   * What every run looks for: "finite", numbers that are not where finite ones went in; "indices", indices and labels that are
   * outside. A call that finds one rejects with CheckError, which names the op, the line that built it and the module, and leaves
   * parameters as they were. Costs time and memory.
   */
  readonly check?: Check | readonly Check[];
  /** Types of the arguments, one entry each. Without them the first call decides, later ones widen. */
  readonly inputs?: readonly InputSpec[];
}

type Extents = readonly (readonly number[])[];

interface Variant {
  readonly key: string;
  readonly pattern: Pattern;
  readonly traced: Traced;
  /** The types that it was traced with. */
  readonly specs: readonly InputSpec[];
  runner: Runner;
}

/** A leaf of the declared arguments. */
interface Wanted {
  readonly path: readonly string[];
  readonly name: string;
  readonly type: { readonly dtype: Dtype; readonly shape: readonly (number | undefined)[] };
}

export class Compiler {
  compiles = 0;
  readonly #fn: AnyFunction;
  readonly #options: CompileOptions;
  readonly #code: CodeOptions;
  readonly #checks: ReadonlySet<Check>;
  readonly #checked = new WeakMap<Traced, Checked>();
  readonly #variants: Variant[] = [];
  readonly #histories = new Map<string, ShapeHistory>();
  #leaves: readonly Wanted[] | undefined;
  /** The last call whose arguments were its leaves; without their values, so that these are not kept. */
  #last: { readonly feeds: readonly Type[]; readonly variant: Variant } | undefined;

  constructor(fn: AnyFunction, options: CompileOptions) {
    this.#fn = fn;
    this.#options = options;
    const { target: _target, threads: _threads, inputs: _inputs, check, ...code } = options;
    this.#checks = checksOf(check);
    // Numbers that js keeps in double precision within a kernel would overflow where nobody looks.
    const rounding = this.#checks.has("finite") ? { rounding: "each-op" as const } : {};
    this.#code = { name: fn.name || "program", ...rounding, ...code };
  }

  get name(): string {
    return this.#code.name ?? "program";
  }

  async call(args: readonly unknown[]): Promise<unknown> {
    const { variant, inputs } = await this.#prepare(args);
    const arrays = await variant.runner.run(inputs);
    if (this.#checks.size) await this.#verify(variant, arrays);
    return variant.traced.result(arrays.map((a) => leafOf(variant.runner.session, a)));
  }

  /** Throws where the run found what it looked for. */
  async #verify({ traced }: Variant, arrays: readonly DeviceArray[]): Promise<void> {
    const [found] = await arrays.at(-1)!.data();
    try {
      this.#checked.get(traced)?.verify(Number(found));
    } catch (error) {
      for (const a of arrays) a.dispose();
      throw error;
    }
  }

  /** The program to run for `traced`: with what it looks for, where it looks for something. */
  async #programOf(traced: Traced): Promise<Program> {
    if (this.#checks.size === 0) return traced.program;
    const { checkProgram } = await import("./check.ts");
    const checked = this.#checked.get(traced) ?? checkProgram(traced.program, this.#checks);
    this.#checked.set(traced, checked);
    return checked.program;
  }

  async profile(args: readonly unknown[]): Promise<KernelTiming[]> {
    const { variant, inputs } = await this.#prepare(args);
    return variant.runner.profile(inputs);
  }

  async tune(args: readonly unknown[], options: TuneOptions): Promise<Tuned> {
    const { variant } = await this.#prepare(args);
    const { runner, traced } = variant;
    const extents = this.#feeds(args).map((f) => f.shape);
    const dims = { ...nominalDims(runner.artifact), ...dimsAt(runner.artifact, extents) };
    const { tuneProgram } = await import("./tune.ts");
    return tuneProgram(runner.session, traced.program, codeOf(this.#code), dims, options);
  }

  async artifact(options: ExportOptions): Promise<Artifact> {
    await flush();
    const none = this.#fn.length === 0 ? [] : undefined;
    const specs = options.inputs ?? this.#options.inputs ?? none;
    const traced = specs ? this.#traceDeclared(specs) : this.#latest();
    if (!traced)
      throw new GraphError(
        `artifact: ${this.name} has neither declared inputs nor been called\n  pass { inputs: [["N", 784]] }`,
      );
    const session = (await this.#home(traced)) ?? (await this.#compile(traced)).session;
    return exportProgram(session, traced.program, this.#code, options);
  }

  /** What was compiled last, as the function would define it now. */
  #latest(): Traced | undefined {
    const last = this.#variants.at(-1);
    if (!last || stillHolds(last.traced)) return last?.traced;
    return this.#traceDeclared(last.specs);
  }

  async #prepare(args: readonly unknown[]): Promise<{ variant: Variant; inputs: Input[] }> {
    // Awaiting what is there already would take longer than a small run.
    if (hasPending()) await flush();
    const feeds = this.#feeds(args);
    const variant = this.#options.inputs
      ? (this.#found("") ?? (await this.#declared(this.#options.inputs, feeds)))
      : await this.#learnt(args, feeds);
    if (!this.#stays(variant)) await this.#follow(variant);
    const { session } = variant.runner;
    const inputs: Input[] = [];
    for (const fed of feeds) inputs.push(residentIn(session, fed) ?? (await inputOf(session, fed)));
    return { variant, inputs };
  }

  /** The leaves of the arguments, in order. */
  #feeds(args: readonly unknown[]): Fed[] {
    const { inputs } = this.#options;
    const feeds: Fed[] = [];
    if (!inputs) {
      mapArguments(args, isFeed, (leaf, path) => feeds.push(feedOf(leaf, path)));
      return feeds;
    }
    if (args.length !== inputs.length)
      throw new GraphError(
        `run: ${this.name} takes ${inputs.length} arguments, got ${args.length}`,
      );
    for (const { path, name, type } of this.#wanted(inputs))
      feeds.push(feedOf(at(args, path), name, type));
    return feeds;
  }

  /** What the declared inputs ask of the leaves of the arguments. */
  #wanted(specs: readonly InputSpec[]): readonly Wanted[] {
    if (this.#leaves) return this.#leaves;
    const leaves: Wanted[] = [];
    mapArguments(specs, isSpec, (spec, path) => {
      const { name, dtype, shape } = declare(spec, path);
      leaves.push({ path: path.split("."), name, type: { dtype, shape: shape.map(staticExtent) } });
    });
    this.#leaves = leaves;
    return leaves;
  }

  #declared(specs: readonly InputSpec[], feeds: readonly Fed[]): Promise<Variant> {
    const extents = feeds.map((f) => f.shape);
    return this.#build("", [], specs, extents);
  }

  /** The program for these arguments, of those that were compiled while all settings were as they are. */
  #found(key: string, extents?: readonly number[]): Variant | undefined {
    return this.#variants.find(
      (v) => v.key === key && (!extents || fits(v.pattern, extents)) && stillHolds(v.traced),
    );
  }

  #traceDeclared(specs: readonly InputSpec[]): Traced {
    return traceFunction(this.#fn, inputTree(specs, isSpec, declare));
  }

  /** The variant for arguments of no declared type. Where the last call's were alike, so is what they lead to. */
  async #learnt(args: readonly unknown[], feeds: readonly Fed[]): Promise<Variant> {
    const plain = args.length === feeds.length && feeds.every(({ path }) => !path.includes("."));
    const last = this.#last;
    if (plain && last && areAlike(feeds, last.feeds) && stillHolds(last.variant.traced))
      return last.variant;
    const variant = await this.#chosen(args, feeds);
    const types = feeds.map(({ dtype, shape }) => ({ dtype, shape }));
    this.#last = plain ? { feeds: types, variant } : undefined;
    return variant;
  }

  async #chosen(args: readonly unknown[], feeds: readonly Fed[]): Promise<Variant> {
    const form = mapArguments(args, isFeed, () => 0);
    const key = JSON.stringify([form, feeds.map((f) => [f.dtype, f.shape.length])]);
    const extents = feeds.flatMap((f) => f.shape);
    const found = this.#found(key, extents);
    if (found) return found;
    const history = this.#histories.get(key) ?? new ShapeHistory();
    this.#histories.set(key, history);
    const pattern = history.patternFor(extents);
    const shapes = feeds.map((f) => f.shape);
    const build = (p: Pattern) => this.#build(key, p, specsOf(args, feeds, p), shapes);
    if (pattern.every((p) => typeof p === "number")) return build(pattern);
    try {
      return await build(pattern);
    } catch (error) {
      // Not every function can be symbolic: it is then compiled for the extents at hand, and fails there if it must.
      if (error instanceof ShapeError || error instanceof GraphError) return build(extents);
      throw error;
    }
  }

  async #build(
    key: string,
    pattern: Pattern,
    specs: readonly InputSpec[],
    extents: Extents,
  ): Promise<Variant> {
    const traced = this.#traceDeclared(specs);
    const runner = await this.#compile(traced, extents);
    this.compiles++;
    const variant = { key, pattern, specs, traced, runner };
    this.#variants.push(variant);
    return variant;
  }

  /** True where nothing can have moved: the target has a name, and its device is the one that was compiled for. */
  #stays({ runner }: Variant): boolean {
    const { target = "auto" } = this.#options;
    return target === runner.session.target && isCurrent(runner.session);
  }

  /** Compiles again where the parameters were moved to another device, unless a target was asked for. */
  async #follow(variant: Variant): Promise<void> {
    const { traced, runner } = variant;
    const stays = isCurrent(runner.session) ? runner.session : undefined;
    const session = (await this.#home(traced)) ?? stays;
    const { target = "auto" } = this.#options;
    if (target === "auto" && session) await this.#gather(traced, session);
    if (session === runner.session) return;
    runner.dispose();
    variant.runner = await this.#compile(traced);
    this.compiles++;
  }

  /** Brings along what a move left behind, such as the moments of moved parameters. */
  async #gather({ states }: Traced, session: Session): Promise<void> {
    const apart = states.filter((t) => {
      const home = storedOf(t)?.session;
      return t.op === "param" && home !== undefined && home !== session;
    });
    if (apart.length) await moveAll(apart, session);
  }

  /** The session of a target that was named, or where the states live; undefined if "auto" is to choose. */
  async #home({ states }: Traced): Promise<Session | undefined> {
    const { target = "auto" } = this.#options;
    if (target !== "auto") return sessionFor(target);
    return homeOf(states) ?? (defaultTarget() === "auto" ? undefined : sessionFor());
  }

  /** Compiles for a target that was named, else for the fastest, and takes along what lives elsewhere. */
  async #compile(traced: Traced, extents?: Extents): Promise<Runner> {
    const { states } = traced;
    const program = await this.#programOf(traced);
    const { target = "auto" } = this.#options;
    const home = await this.#home(traced);
    if (target !== "auto") pin(states);
    const chosen = target !== "auto" || defaultTarget() !== "auto" || states.some(isPinned);
    if (home && chosen) return Runner.compile(home, program, this.#code);
    const runner = await Runner.place(program, this.#code, home, extents);
    await this.#gather(traced, runner.session);
    return runner;
  }
}

const kinds: readonly unknown[] = ["finite", "indices"];

function checksOf(check: CompileOptions["check"] = []): ReadonlySet<Check> {
  const list = Array.isArray(check) ? check : [check];
  for (const kind of list)
    if (!kinds.includes(kind))
      throw new GraphError(`compile: check is "finite" or "indices", got ${JSON.stringify(kind)}`);
  return new Set(list);
}

type Type = Pick<Fed, "dtype" | "shape">;

const areAlike = (a: readonly Type[], b: readonly Type[]): boolean =>
  a.length === b.length &&
  a.every(({ dtype, shape }, i) => {
    const other = b[i]!;
    if (dtype !== other.dtype || shape.length !== other.shape.length) return false;
    return shape.every((d, axis) => d === other.shape[axis]);
  });

const staticExtent = (d: Dim): number | undefined => (typeof d === "number" ? d : undefined);

/** Types in place of the arguments, which are not kept. */
function specsOf(
  args: readonly unknown[],
  feeds: readonly Fed[],
  pattern: Pattern,
): readonly InputSpec[] {
  let i = 0;
  let axis = 0;
  return mapArguments(args, isFeed, () => {
    const { dtype, shape } = feeds[i++]!;
    const from = axis;
    axis += shape.length;
    return { dtype, shape: pattern.slice(from, axis) };
  }) as readonly InputSpec[];
}

/** What `path` leads to in the arguments; undefined where they lack it. */
function at(args: readonly unknown[], path: readonly string[]): unknown {
  let value: unknown = args;
  for (const part of path) value = (value as Record<string, unknown> | undefined)?.[part];
  return value;
}

/** The array of a value that is in the session. */
function residentIn(session: Session, { from }: Fed): Input | undefined {
  if (!(from instanceof Tensor) || from.op !== "data") return undefined;
  const known = storedOf(from);
  return known?.session === session ? known.array : undefined;
}

async function inputOf(session: Session, { from, shape }: Fed): Promise<Input> {
  if (!(from instanceof Tensor)) return { data: from, shape };
  if (from.op === "data") return feed(session, from);
  const array = await evaluateTensor(session, from);
  return array.device === session.device ? array : { data: await array.data(), shape };
}
