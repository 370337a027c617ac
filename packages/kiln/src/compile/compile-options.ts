/**
 * The options of `compile`, and the names that it takes for them.
 */
import { GraphError, kindOf, type OptionNames } from "@kiln-ml/ir";
import type { CodeOptions } from "../devices/engine.ts";
import type { ExternalEngine } from "../devices/external.ts";
import type { TargetOption } from "../devices/session.ts";
import type { ThreadCount } from "../devices/wasm-support.ts";
import type { Check } from "./check.ts";
import type { InputSpec } from "./inputs.ts";
import type { TapListener } from "./traced.ts";

export interface CompileOptions extends CodeOptions {
  /** Where it runs; the default target, or where its parameters live, if not given. */
  readonly target?: TargetOption;
  /**
   * An engine from outside that runs it on devices of its own, in place of a target: `xla({ mesh
   * })` of `@kiln-ml/xla`.
   */
  readonly engine?: ExternalEngine;
  /** Threads of the wasm device, as `setThreads` takes them. */
  readonly threads?: ThreadCount;
  /**
   * What every run looks for: "finite", numbers that are not where finite ones went in; "indices", indices and labels that are
   * outside. A call that finds one rejects with CheckError, which names the op, the line that built it and the module, and leaves
   * parameters as they were. Costs time and memory.
   */
  readonly check?: Check | readonly Check[];
  /** Called at every run with the name and the value of each `tap` in the function, and the path of the module that it is in. */
  readonly tap?: TapListener;
  /** Types of the arguments, one entry each. Without them the first call decides, later ones widen. */
  readonly inputs?: readonly InputSpec[];
}

export const compileOptions: OptionNames<CompileOptions> = {
  target: 1,
  engine: 1,
  threads: 1,
  inputs: 1,
  check: 1,
  tap: 1,
  fusion: 1,
  rounding: 1,
  name: 1,
  observe: 1,
  tuning: 1,
  cache: 1,
};

/** Throws GraphError for an engine that is none, or one beside a target. */
export function checkEngine({ engine, target, check }: CompileOptions): void {
  if (engine === undefined) return;
  if (typeof engine?.open !== "function")
    throw new GraphError(
      `compile: the engine is ${kindOf(engine)}, which runs nothing\n  give one of @kiln-ml/xla: xla({ mesh: mesh({ data: 8 }) })`,
    );
  if (target !== undefined || check !== undefined)
    throw new GraphError(
      `compile: the engine ${engine.name} takes no ${target === undefined ? "check" : "target"} beside it\n  leave one of them out`,
    );
}

const kinds: readonly unknown[] = ["finite", "indices"];

/** What every run looks for. Throws GraphError for an unknown kind. */
export function checksOf(check: CompileOptions["check"] = []): ReadonlySet<Check> {
  const list = Array.isArray(check) ? check : [check];
  for (const kind of list)
    if (!kinds.includes(kind))
      throw new GraphError(`compile: check is "finite" or "indices", got ${JSON.stringify(kind)}`);
  return new Set(list);
}
