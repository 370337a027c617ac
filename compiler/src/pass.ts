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
   * `choices` decides between alternatives. `bindings` is the most tensors that one kernel may
   * bind; 8 if absent.
   */
  run(program: Program, choices?: Choices, bindings?: number): Program;
}
