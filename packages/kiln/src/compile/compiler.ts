/**
 * What a compiled function keeps: one program for each structure of arguments and pattern of extents, and the choice
 * between them at a call. Every method expects its turn in the queue.
 */
import type { Artifact } from "@kiln-ml/artifact";
import type { Program } from "@kiln-ml/compiler";
import type { Inspection } from "@kiln-ml/inspector";
import { GraphError, ShapeError } from "@kiln-ml/ir";
import type { DeviceArray, Input, KernelTiming, RunOptions } from "@kiln-ml/runtime/loader";
import { type CodeOptions, codeOf, Runner } from "../devices/engine.ts";
import { engineSession } from "../devices/external.ts";
import { claim, gather } from "../devices/move.ts";
import { defaultTarget, isCurrent, type Session, sessionFor } from "../devices/session.ts";
import { settings } from "../devices/settings.ts";
import { drop, isPinned, leafOf } from "../devices/storage.ts";
import { flush, hasPending, homeOf } from "../eager/eager.ts";
import type { InspectOptions } from "../inspect/inspect.ts";
import type { Tuned, TuneOptions } from "../tune/tune.ts";
import {
  areAlike,
  at,
  formOf,
  type Given,
  givenOf,
  isPlain,
  type Kind,
  kindOf,
  specsOf,
} from "./arguments.ts";
import type { Check, Checked } from "./check.ts";
import { type CompileOptions, checksOf } from "./compile-options.ts";
import { type ExportOptions, exportProgram } from "./export.ts";
import { type Fed, feedOf } from "./feed.ts";
import { declare, type InputSpec, inputTree, isSpec, undeclared } from "./inputs.ts";
import { inputOf, residentIn } from "./resident.ts";
import { fits, isSymbolic, type Pattern, ShapeHistory, valuesIn } from "./shapes.ts";
import { isStatic, keyOfStatic } from "./static.ts";
import { type AnyFunction, stillHolds, type Traced, traceFunction } from "./traced.ts";
import { type Extents, extentsKey, shapesOf, type Variant } from "./variant.ts";
import { type Wanted, wantedOf } from "./wanted.ts";

/** As long as no extents were found to differ, so many are looked at. */
const mostCompared = 16;

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
  #last: { readonly kind: Kind; readonly variant: Variant } | undefined;
  #saidApart = false;

  constructor(fn: AnyFunction, options: CompileOptions) {
    this.#fn = fn;
    this.#options = options;
    const { target: _, engine: _engine, threads: _threads, ...more } = options;
    const { inputs: _inputs, tap: _tap, check, ...code } = more;
    this.#checks = checksOf(check);
    // Numbers that js keeps in double precision within a kernel would overflow where nobody looks.
    const rounding = this.#checks.has("finite") ? { rounding: "each-op" as const } : {};
    this.#code = { name: fn.name || "program", ...rounding, ...code };
  }

  get name(): string {
    return this.#code.name ?? "program";
  }

  /** Reads the arguments: the caller may change them once this is done. */
  given(args: readonly unknown[]): Given {
    const { inputs } = this.#options;
    return inputs ? this.#declaredFeeds(inputs, args) : givenOf(args);
  }

  async call(given: Given, options?: RunOptions): Promise<unknown> {
    const { variant, inputs } = await this.#prepare(given);
    const arrays = await variant.runner.run(inputs, options);
    if (this.#checks.size) await this.#verify(variant, inputs, arrays);
    return variant.traced.result(arrays.map((a) => leafOf(variant.runner.session, a)));
  }

  /** Throws where the run found what it looked for. */
  async #verify({ traced, runner }: Variant, inputs: readonly Input[], arrays: DeviceArray[]) {
    const [found] = await arrays.at(-1)!.data();
    const run = { session: runner.session, code: this.#code, inputs };
    try {
      await this.#checked.get(traced)?.verify(Number(found), run);
    } catch (error) {
      for (const a of arrays) a.dispose();
      throw error;
    }
  }

  /** The program to run for `traced`: with what it looks for, where it looks for something. */
  async #programOf(traced: Traced): Promise<Program> {
    if (this.#checks.size === 0) return traced.watched;
    const { checkProgram } = await import("./check.ts");
    const checked = this.#checked.get(traced) ?? checkProgram(traced.watched, this.#checks);
    this.#checked.set(traced, checked);
    return checked.program;
  }

  /** Compiles and loads what declared inputs lead to. */
  async prepare(): Promise<void> {
    const { inputs } = this.#options;
    if (!inputs) throw undeclared("prepare", this.name);
    const variant = this.#found("") ?? (await this.#build("", [], inputs));
    if (!variant.runner.session.external) await variant.runner.executable();
  }

  /** Frees the programs, and on the device what only they read. Parameters that a run has changed stay. */
  dispose(): void {
    for (const { runner, traced } of this.#variants.splice(0)) {
      runner.dispose();
      for (const leaf of traced.states) drop(leaf);
    }
    this.#last = undefined;
  }

  async profile(given: Given): Promise<KernelTiming[]> {
    const { variant, inputs } = await this.#prepare(given);
    return variant.runner.profile(inputs);
  }

  async tune(given: Given, options: TuneOptions): Promise<Tuned> {
    const { traced, session } = await this.#looked(given);
    const extents = given.feeds.map((f) => f.shape);
    const { tuneProgram } = await import("../tune/tune.ts");
    return tuneProgram(session, traced.program, codeOf(this.#code), extents, options);
  }

  async artifact(options: ExportOptions): Promise<Artifact> {
    const { traced, session } = await this.#source("artifact", options.inputs);
    return exportProgram(session, traced.program, this.#code, options);
  }

  async inspect(options: InspectOptions): Promise<Inspection> {
    const { inspectProgram, runsOf } = await import("../inspect/inspect.ts");
    runsOf(options);
    const args = options.profile && this.given(options.profile);
    const source = args ? this.#looked(args) : this.#source("inspect", options.inputs);
    const { traced, session } = await source;
    const program = await this.#programOf(traced);
    const run = args && (() => this.profile(args));
    return inspectProgram({ program, session, code: codeOf(this.#code), run }, options);
  }

  /** What a call runs, and where: not compiled yet where both are told before, to be looked on. */
  async #looked(given: Given): Promise<{ traced: Traced; session: Session }> {
    const { inputs } = this.#options;
    await flush();
    const traced = inputs && !this.#found("") && this.#traceDeclared(inputs);
    const session = traced && (await this.#home(traced));
    if (traced && session && !session.external) return { traced, session };
    const { variant } = await this.#prepare(given);
    // Throws where an engine from outside has it.
    void variant.runner.artifact;
    return { traced: variant.traced, session: variant.runner.session };
  }

  /** The program as it is declared or was called last, and where it would run. */
  async #source(op: string, inputs: readonly InputSpec[] | undefined) {
    await flush();
    const none = this.#fn.length === 0 ? [] : undefined;
    const specs = inputs ?? this.#options.inputs ?? none;
    const traced = specs ? this.#traceDeclared(specs) : this.#latest();
    if (!traced) throw undeclared(op, this.name);
    return {
      traced,
      session: (await this.#home(traced)) ?? (await this.#compile(traced)).session,
    };
  }

  /** What was compiled last, as the function would define it now. */
  #latest(): Traced | undefined {
    const last = this.#variants.at(-1);
    if (!last || stillHolds(last.traced)) return last?.traced;
    return this.#traceDeclared(last.specs);
  }

  async #prepare(given: Given): Promise<{ variant: Variant; inputs: Input[] }> {
    // Awaiting what is there already would take longer than a small run.
    if (hasPending()) await flush();
    const { feeds } = given;
    const variant = this.#options.inputs
      ? (this.#found("") ?? (await this.#declared(this.#options.inputs, feeds)))
      : await this.#learnt(given);
    if (!this.#stays(variant)) await this.#follow(variant);
    const { session } = variant.runner;
    const inputs: Input[] = [];
    for (const fed of feeds) inputs.push(residentIn(session, fed) ?? (await inputOf(session, fed)));
    return { variant, inputs };
  }

  /** The leaves of the arguments, in order, for declared inputs. */
  #declaredFeeds(inputs: readonly InputSpec[], args: readonly unknown[]): Given {
    if (args.length !== inputs.length)
      throw new GraphError(
        `run: ${this.name} takes ${inputs.length} arguments, got ${args.length}\n  pass one for each of the declared inputs`,
      );
    const leaves = this.#leaves ?? wantedOf(inputs);
    this.#leaves = leaves;
    const feeds: Fed[] = [];
    for (const { path, name, type } of leaves) {
      const value = at(args, path);
      if (typeof type !== "string") feeds.push(feedOf(value, name, type));
      else if (!isStatic(value) || keyOfStatic(value) !== type)
        throw new GraphError(
          `run: argument ${path.join(".")} of ${this.name} is declared as ${type}`,
        );
    }
    return { args, feeds, statics: [] };
  }

  #declared(specs: readonly InputSpec[], feeds: readonly Fed[]): Promise<Variant> {
    const extents = feeds.map((f) => f.shape);
    return this.#build("", [], specs, extents);
  }

  /** The program for these arguments, of those that were compiled while all settings were as they are. */
  #found(key: string, extents?: readonly number[]): Variant | undefined {
    return this.#variants.find(
      (v) =>
        v.key === key &&
        !isSymbolic(v.pattern) &&
        (!extents || fits(v.pattern, extents)) &&
        stillHolds(v.traced),
    );
  }

  /** `like` is a trace of the same function whose random numbers of JavaScript are drawn again. */
  #traceDeclared(specs: readonly InputSpec[], like?: Traced): Traced {
    const tree = inputTree(specs, isSpec, declare);
    return traceFunction(this.#fn, tree, like?.drawn, this.#options.tap);
  }

  /** The variant for arguments of no declared type. Where the last call's were alike, so is what they lead to. */
  async #learnt(given: Given): Promise<Variant> {
    const plain = isPlain(given);
    const last = this.#last;
    if (plain && last && areAlike(given, last.kind) && stillHolds(last.variant.traced))
      return last.variant;
    const variant = await this.#chosen(given);
    this.#last = plain ? { kind: kindOf(given), variant } : undefined;
    return variant;
  }

  async #chosen(given: Given): Promise<Variant> {
    const key = formOf(given);
    const extents = given.feeds.flatMap((f) => f.shape);
    const own = this.#found(key, extents);
    if (own) return own;
    const wide = this.#variants.filter(
      (v) => v.key === key && fits(v.pattern, extents) && stillHolds(v.traced),
    );
    for (const variant of wide) if (await this.#agrees(variant, given)) return variant;
    if (wide[0]) return this.#narrowed(key, wide[0].pattern, given);
    const history = this.#histories.get(key) ?? new ShapeHistory();
    this.#histories.set(key, history);
    const pattern = history.patternFor(extents);
    return isSymbolic(pattern) ? this.#widened(key, pattern, given) : this.#plain(key, given);
  }

  /**
   * Where a program with symbols is not that of the numbers: another, in which extents of 1 are 1. An axis of 1 stretches and
   * drops out of sums, so that graphs differ there for no fault of the script.
   */
  async #narrowed(key: string, pattern: Pattern, given: Given): Promise<Variant> {
    const extents = given.feeds.flatMap((f) => f.shape);
    const narrow = pattern.map((p, i) => (extents[i] === 1 ? 1 : p));
    if (!isSymbolic(narrow)) return this.#plain(key, given);
    const ones = extents.includes(1) && narrow.some((p, i) => p !== pattern[i]);
    return ones ? this.#widened(key, narrow, given) : this.#apart(key, given, looked);
  }

  /** A program with symbols, if the function has one that is the same as that of the numbers. */
  async #widened(key: string, pattern: Pattern, given: Given): Promise<Variant> {
    let why: string | undefined;
    try {
      const specs = specsOf(given, pattern);
      const traced = this.#traceDeclared(specs);
      if (await this.#areSame(traced, pattern, given)) {
        const variant = await this.#made({ key, pattern, specs, traced }, shapesOf(given));
        variant.agrees.set(extentsKey(given), true);
        return variant;
      }
    } catch (error) {
      // Not every function can be symbolic: it is then compiled for the extents at hand, and fails there if it must.
      if (!(error instanceof ShapeError || error instanceof GraphError)) throw error;
      why = error.message.split("\n")[0]!;
    }
    return why === undefined ? this.#narrowed(key, pattern, given) : this.#apart(key, given, why);
  }

  /** Compiles for the numbers, and says once why. */
  async #apart(key: string, given: Given, why: string): Promise<Variant> {
    const variant = await this.#plain(key, given);
    if (!this.#saidApart)
      console.warn(
        `compile: ${this.name} is compiled for these extents alone: with symbols in their place ${why}`,
      );
    this.#saidApart = true;
    return variant;
  }

  #plain(key: string, given: Given): Promise<Variant> {
    const extents = given.feeds.flatMap((f) => f.shape);
    return this.#build(key, extents, specsOf(given, extents), shapesOf(given));
  }

  /** Whether a program with symbols is that of the numbers for these extents. */
  async #agrees({ traced, pattern, agrees }: Variant, given: Given): Promise<boolean> {
    const key = extentsKey(given);
    const known = agrees.get(key);
    if (known !== undefined) return known;
    if (agrees.size >= mostCompared && ![...agrees.values()].includes(false)) return true;
    const same = await this.#areSame(traced, pattern, given);
    agrees.set(key, same);
    return same;
  }

  async #areSame(traced: Traced, pattern: Pattern, given: Given): Promise<boolean> {
    const extents = given.feeds.flatMap((f) => f.shape);
    const plain = this.#traceDeclared(specsOf(given, extents), traced);
    const { agree } = await import("./agreement.ts");
    return agree(traced.program, plain.program, valuesIn(pattern, extents));
  }

  #build(
    key: string,
    pattern: Pattern,
    specs: readonly InputSpec[],
    extents?: Extents,
  ): Promise<Variant> {
    return this.#made({ key, pattern, specs, traced: this.#traceDeclared(specs) }, extents);
  }

  async #made(parts: Omit<Variant, "runner" | "agrees">, extents?: Extents): Promise<Variant> {
    const runner = await this.#compile(parts.traced, extents);
    this.compiles++;
    const variant = { ...parts, runner, agrees: new Map() };
    settings.compiled?.(this.name, variant, this.#variants);
    this.#variants.push(variant);
    return variant;
  }

  /** True where nothing can have moved: the target has a name, and its device is the one that was compiled for. */
  #stays({ runner }: Variant): boolean {
    const { target = "auto", engine } = this.#options;
    if (engine) return runner.session.external !== undefined && isCurrent(runner.session);
    return target === runner.session.target && isCurrent(runner.session);
  }

  /** Compiles again where the parameters were moved to another device, unless a target was asked for. */
  async #follow(variant: Variant): Promise<void> {
    const { traced, runner } = variant;
    const stays = isCurrent(runner.session) ? runner.session : undefined;
    const session = (await this.#home(traced)) ?? stays;
    const { target = "auto", engine } = this.#options;
    if (target === "auto" && !engine && session) await gather(traced.states, session);
    if (session === runner.session) return;
    runner.dispose();
    variant.runner = await this.#compile(traced);
    settings.compiled?.(this.name, variant, [variant]);
    this.compiles++;
  }

  /** The session of a target that was named, or where the states live; undefined if "auto" is to choose. */
  async #home({ states }: Traced): Promise<Session | undefined> {
    const { target = "auto", engine } = this.#options;
    if (engine) return engineSession(engine);
    if (target !== "auto") return sessionFor(target);
    return homeOf(states) ?? (defaultTarget() === "auto" ? undefined : sessionFor());
  }

  /** Compiles for a target that was named, else for the fastest, and takes along what lives elsewhere. */
  async #compile(traced: Traced, extents?: Extents): Promise<Runner> {
    const { states } = traced;
    const program = await this.#programOf(traced);
    const { target = "auto" } = this.#options;
    const home = await this.#home(traced);
    const outside = home?.external !== undefined;
    if (home && (target !== "auto" || this.#options.engine)) await claim(states, home);
    else if (home && outside) await gather(states, home);
    const chosen =
      outside || target !== "auto" || defaultTarget() !== "auto" || states.some(isPinned);
    if (home && chosen) return Runner.compile(home, program, this.#code);
    const runner = await Runner.place(program, this.#code, home, extents);
    await gather(states, runner.session);
    return runner;
  }
}

const looked = "it is another program, as the script looks at an extent itself";
