/**
 * `compile`: a function of tensors as a program that runs in one go. It is traced at the first
 * call, or for declared inputs; calls with other extents make the changed axes symbolic once, and
 * then compile nothing more.
 */
import type { Artifact } from "@kiln-ml/artifact";
import type { Inspection } from "@kiln-ml/inspector";
import { checkOptions, GraphError, isTracing } from "@kiln-ml/ir";
import type { KernelTiming, RunOptions } from "@kiln-ml/runtime/loader";
import { checkTarget, inOrder, prefetch, setThreads } from "../devices/session.ts";
import type { InspectOptions } from "../inspect/inspect.ts";
import type { Tuned, TuneOptions } from "../tune/tune.ts";
import { type CompileOptions, checkEngine, compileOptions } from "./compile-options.ts";
import { Compiler } from "./compiler.ts";
import { type ExportOptions, exportOptions } from "./export.ts";
import type { Feed } from "./feed.ts";
import type { AnyFunction } from "./traced.ts";

export type Feeds<A extends readonly unknown[]> = { [K in keyof A]: Feed<A[K]> };

/** A function whose calls run a compiled program. */
export interface CompiledFunction<A extends readonly unknown[] = readonly unknown[], R = unknown> {
  (...args: Feeds<A>): Promise<R>;
  /** Programs compiled so far. */
  readonly compiles: number;
  /**
   * As a call, with a signal that ends it and a bound on the trips of its loops, for programs that
   * are not trusted to end. Parameters are then as they were.
   */
  run(args: Feeds<A>, options?: RunOptions): Promise<R>;
  /**
   * Compiles and loads now what the first call would. Needs declared inputs, none of which only a
   * call can tell.
   */
  prepare(): Promise<void>;
  /**
   * Gives back what its programs take on the device, and the weights that they read and no run has
   * changed; other functions load these again. A later call compiles again.
   */
  dispose(): Promise<void>;
  /** Runs once, with every kernel timed. */
  profile(...args: Feeds<A>): Promise<KernelTiming[]>;
  /**
   * Times the compiler's choices for this function's kernels on the device, for arguments like
   * these, and resolves to what it found; `compile` takes the table as `tuning`. Takes seconds,
   * runs kernels on made-up values, and changes no parameter.
   */
  tune(args: Feeds<A>, options?: TuneOptions): Promise<Tuned>;
  /**
   * The program as an artifact, weights and all. Needs declared inputs, here or in `compile`, or
   * one call before.
   */
  artifact(options?: ExportOptions): Promise<Artifact>;
  /**
   * What it is compiled to and why, as data: nodes, kernels, reasons, memory, stages and, with
   * arguments to run, times. Needs what `artifact` needs. `inspectionPage` of `kiln-ml/node` makes
   * a page of it.
   */
  inspect(options?: InspectOptions): Promise<Inspection>;
}

/**
 * Compiles `fn`, which takes tensors, or arrays and objects of them, and returns the same. Where it
 * takes a tensor, a call may pass a number, nested lists, a typed array, or `{ data, shape }`.
 * Assignments in it, such as an optimizer's step, happen at every call.
 *
 * A call rejects with ShapeError, DtypeError or GraphError if the arguments do not fit, and with
 * what `fn` throws. `torch.compile`, `jax.jit`.
 *
 * @example
 *   const norm = compile((x) => x.square().sum().sqrt());
 *   await norm([3, 4]) // 5
 *   await norm([1, 2, 2]) // 3; other shapes compile anew
 */
export function compile<A extends readonly unknown[], R>(
  fn: (...args: A) => R,
  options: CompileOptions = {},
): CompiledFunction<A, R> {
  if (typeof fn !== "function")
    throw new GraphError(
      `compile: takes a function, got ${typeof fn}\n  pass a function of tensors: compile((x) => x.relu())`,
    );
  checkOptions("compile", options, compileOptions);
  checkTarget(options.target ?? "auto");
  checkEngine(options);
  if (options.threads !== undefined) setThreads(options.threads);
  if (options.target && options.target !== "auto") prefetch(options.target);
  const state = new Compiler(fn as unknown as AnyFunction, options);
  const run = async (args: readonly unknown[], how?: RunOptions): Promise<unknown> => {
    if (isTracing())
      throw new GraphError(
        `compile: ${state.name} is called while another function is traced\n  call the function that was given to compile`,
      );
    const given = state.given(args);
    return inOrder(() => state.call(given, how));
  };
  const call = (...args: unknown[]): Promise<unknown> => run(args);
  Object.defineProperty(call, "name", { value: options.name ?? fn.name });
  Object.defineProperty(call, "compiles", { get: () => state.compiles });
  return Object.assign(call, {
    run,
    prepare: () => inOrder(() => state.prepare()),
    dispose: () => inOrder(async () => state.dispose()),
    profile: async (...args: unknown[]) => {
      const given = state.given(args);
      return inOrder(() => state.profile(given));
    },
    tune: async (args: readonly unknown[], how: TuneOptions = {}) => {
      const given = state.given(args);
      return inOrder(() => state.tune(given, how));
    },
    artifact: (how: ExportOptions = {}) =>
      inOrder(() => state.artifact(checkOptions("artifact", how, exportOptions))),
    inspect: (how: InspectOptions = {}) => inOrder(() => state.inspect(how)),
  }) as unknown as CompiledFunction<A, R>;
}

/**
 * The artifact of a function, compiled or not, with the current values of its parameters as
 * weights; inference and training steps alike. Rejects with GraphError unless the types of the
 * inputs are known. `torch.export.export`.
 *
 * @param fn A function, compiled or not.
 * @example
 *   const w = param([2, 3]);
 *   const artifact = await exportArtifact((x) => x.mul(w).sum(), { inputs: [[2]] });
 *   artifact.signature.inputs.length // 1; a file is `encodeArtifact(artifact)` of kiln-ml/artifact
 */
export function exportArtifact<A extends readonly unknown[], R>(
  fn: CompiledFunction<A, R> | ((...args: A) => R),
  options: ExportOptions = {},
): Promise<Artifact> {
  const compiled = "artifact" in fn ? fn : compile(fn);
  return compiled.artifact(options);
}
