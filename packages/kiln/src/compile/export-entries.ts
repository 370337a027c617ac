/**
 * Several functions as one artifact: a program for each and each target, over one table of the
 * parameters and data that any of them reads or writes. What two functions share is there once.
 */

import type { Artifact, StateSpec, TargetName } from "@kiln-ml/artifact";
import { artifactVersion } from "@kiln-ml/artifact";
import { type ArtifactEntries, type Weight, weightOf } from "@kiln-ml/artifact/entries";
import { checkTargetName } from "@kiln-ml/compiler/program";
import { checkOptions, GraphError, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { arraysOf } from "../devices/engine.ts";
import { inOrder } from "../devices/session.ts";
import type { TuningTable } from "../tune/table.ts";
import { type CompiledFunction, compile } from "./compile.ts";
import { constantOf, sourceOf } from "./export.ts";
import type { InputSpec } from "./inputs.ts";

/** A function with the types of its arguments, or one that `compile` made with them. */
export type EntryFunction =
  | CompiledFunction<never, unknown>
  | { readonly fn: (...args: never[]) => unknown; readonly inputs: readonly InputSpec[] };

export interface ExportEntriesOptions {
  /** What it is compiled for, one or several; that of the session by default. */
  readonly targets?: TargetName | readonly TargetName[];
  /** Whether values of parameters and data go along; default true. */
  readonly weights?: boolean;
  /** "program" by default. */
  readonly name?: string;
  /** As for `exportArtifact`. */
  readonly tuning?: TuningTable;
  /** A part of the name of the adapter whose choices hold. */
  readonly adapter?: string;
}

const exportEntriesOptions: OptionNames<ExportEntriesOptions> = {
  targets: 1,
  weights: 1,
  name: 1,
  tuning: 1,
  adapter: 1,
};

/**
 * The artifact of several functions that share parameters, such as a step for prompts and one for
 * tokens: each parameter once, with its current value. `loadEntries` of `@kiln-ml/runtime/entries`
 * runs it, `writeEntries` of `kiln-ml/node` writes it. Rejects with GraphError unless the types of
 * all inputs are known. No counterpart in PyTorch.
 *
 * @param functions By name, an identifier each: compiled with declared inputs, or `{ fn, inputs }`.
 * @example
 *   const total = param([0], { name: "total" });
 *   const all = await exportEntries({
 *     add: { fn: (x) => assign(total, total.add(x)), inputs: [[1]] },
 *     twice: { fn: () => total.mul(2), inputs: [] },
 *   }, { targets: "js" });
 *   all.states.length // 1
 */
export async function exportEntries(
  functions: Readonly<Record<string, EntryFunction>>,
  options: ExportEntriesOptions = {},
): Promise<ArtifactEntries> {
  const told = checkOptions("exportEntries", options, exportEntriesOptions);
  const { targets, weights = true, name = "program", ...code } = told;
  const list = targets === undefined ? [undefined] : [targets].flat();
  for (const target of list) if (target !== undefined) checkTargetName(target);
  const table = new Table();
  const entries: Record<string, Artifact[]> = {};
  for (const [entry, given] of Object.entries(functions)) {
    checkName(entry);
    const made: Artifact[] = [];
    for (const target of list) {
      const how = { ...code, ...(target ? { target } : {}), weights: false, name: entry };
      made.push(table.renamed(await compiledOf(entry, given).artifact(how)));
    }
    entries[entry] = made;
  }
  if (Object.keys(entries).length === 0)
    throw new GraphError(
      "exportEntries: got no functions\n  give them by name: { prefill: …, decode: … }",
    );
  const { states } = table;
  const values = weights ? await inOrder(() => table.values()) : {};
  return { version: artifactVersion, name, states, entries, weights: values };
}

/** Names of entries are names of folders too. */
function checkName(entry: string): void {
  if (/^[A-Za-z_]\w*$/.test(entry)) return;
  throw new GraphError(
    `exportEntries: an entry is called ${JSON.stringify(entry)}, which is no identifier\n  call it ${entry.replace(/\W/g, "_").replace(/^(?=\d|$)/, "_")}`,
  );
}

function compiledOf(entry: string, given: EntryFunction): CompiledFunction {
  if (typeof given === "function" && "artifact" in given) return given as CompiledFunction;
  const { fn, inputs } = (given ?? {}) as Exclude<EntryFunction, CompiledFunction<never, unknown>>;
  if (typeof fn !== "function" || !Array.isArray(inputs))
    throw new GraphError(
      `exportEntries: ${entry} is neither a compiled function nor { fn, inputs }\n  give { fn: (x) => x.relu(), inputs: [["N", 4]] }`,
    );
  return compile(fn, { inputs: inputs as readonly InputSpec[], name: entry }) as CompiledFunction;
}

/**
 * States by the parameters that they are of; names are those of the first program, made distinct.
 */
class Table {
  readonly #rows = new Map<Tensor, StateSpec>();
  readonly #artifacts: Artifact[] = [];

  get states(): readonly StateSpec[] {
    return [...this.#rows.values()];
  }

  /** The artifact with the names of the table. */
  renamed(artifact: Artifact): Artifact {
    const { states: leaves } = sourceOf(artifact)!;
    const taken = new Set(this.states.map((s) => s.name));
    const states = artifact.signature.states.map((spec, i) => {
      const known = this.#rows.get(leaves[i]!);
      const name = known?.name ?? free(spec.name, taken);
      taken.add(name);
      this.#rows.set(leaves[i]!, {
        ...spec,
        name,
        written: spec.written || known?.written === true,
      });
      return { ...spec, name };
    });
    this.#artifacts.push(artifact);
    return { ...artifact, signature: { ...artifact.signature, states } };
  }

  async values(): Promise<Record<string, Weight>> {
    const values: Record<string, Weight> = {};
    for (const artifact of this.#artifacts) {
      const { session, states } = sourceOf(artifact)!;
      const fresh = states.filter((t) => !Object.hasOwn(values, this.#rows.get(t)!.name));
      for (const [i, array] of (await arraysOf(session, fresh)).entries())
        values[this.#rows.get(fresh[i]!)!.name] = weightOf(await constantOf(array));
    }
    return values;
  }
}

function free(name: string, taken: ReadonlySet<string>): string {
  let found = name;
  for (let n = 2; taken.has(found); n++) found = `${name}.${n}`;
  return found;
}
