/**
 * Choices between ways to compute the same, such as tiles of a product: the compiler's own, or
 * those of a table that a tuner has made. Says which there are, so that they can be timed; times
 * nothing.
 */
import type { Artifact } from "@kiln-ml/artifact";
import { input, type Tensor, withOperands } from "@kiln-ml/ir";
import type { Program } from "./program.ts";

/**
 * The option to take at each choice, by the choice's key. Keys and options that the compiler does
 * not know are left alone.
 */
export type Tuning = Readonly<Record<string, string>>;

/** A choice that came up while a program was compiled. */
export interface Decision {
  /**
   * What decides which option is the best: equal in every process, and in every program with such a
   * kernel.
   */
  readonly key: string;
  /**
   * Whether of kernels for a node, which decides what other choices there are, or of one kernel's
   * schedule.
   */
  readonly of: "node" | "kernel";
  /** The compiler's own choice first. */
  readonly options: readonly string[];
  readonly chosen: string;
  /** The kernel or op it is about, for people. */
  readonly name: string;
  /**
   * The artifact of nothing else, with this option. Inputs called `dim.N` have N elements, to tell
   * it.
   */
  artifact(option: string): Artifact;
}

/** A decision without the artifact, which only those know who see the whole kernel. */
export type Choice = Pick<Decision, "key" | "options" | "chosen">;

export class Choices {
  readonly #table: Tuning;
  readonly #compile: ((program: Program, table: Tuning) => Artifact) | undefined;
  readonly #decisions = new Map<string, Decision>();

  /**
   * `compile` makes artifacts of parts of the program, as the whole is compiled but for the table.
   */
  constructor(table: Tuning, compile?: (program: Program, table: Tuning) => Artifact) {
    this.#table = table;
    this.#compile = compile;
  }

  /** The table's choice where it is an option, else the first. */
  among(key: string, options: readonly string[]): Choice {
    const wanted = Object.hasOwn(this.#table, key) ? this.#table[key] : undefined;
    const chosen = wanted !== undefined && options.includes(wanted) ? wanted : options[0]!;
    return { key, options, chosen };
  }

  note(decision: Decision): void {
    if (!this.#decisions.has(decision.key)) this.#decisions.set(decision.key, decision);
  }

  /** Notes a choice of how to compute one node. */
  noteNode(choice: Choice, node: Tensor): void {
    const compile = this.#compile;
    if (!compile) return;
    const inputs = node.operands.map((t, i) => input(`x${i}`, t.dtype, t.shape));
    const outputs = [{ name: "y", value: withOperands(node, inputs) }];
    const program = { inputs, outputs, updates: [] };
    const artifact = (option: string) => compile(program, { [choice.key]: option });
    this.note({ ...choice, of: "node", name: node.op, artifact });
  }

  /** One for each key, in the order in which they came up. */
  get decisions(): readonly Decision[] {
    return [...this.#decisions.values()];
  }
}
