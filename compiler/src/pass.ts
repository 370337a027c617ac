/**
 * What a graph pass is: a pure function from program to program that keeps its meaning, bit for
 * bit unless it says that it reassociates. A pass never mutates and never looks at a target; the order of passes is `pipeline.ts`'s alone.
 */
import type { Choices } from "./choices.ts";
import type { Program } from "./program.ts";

export interface Pass {
  readonly name: string;
  /**
   * Sums are added in another order, so that results keep within the error of a sum rather than
   * every bit. Only passes that a target asks for do.
   */
  readonly reassociates?: true;
  /**
   * Where it has a choice, `choices` is asked. A kernel may bind so many tensors; at least eight if
   * that is not said.
   */
  run(program: Program, choices?: Choices, bindings?: number): Program;
}
