/**
 * What a graph pass is: a pure function from program to program that keeps its meaning. A pass
 * never mutates and never looks at a target; the order of passes is `pipeline.ts`'s alone.
 */
import type { Choices } from "./choices.ts";
import type { Program } from "./program.ts";

export interface Pass {
  readonly name: string;
  /**
   * `choices` decides between alternatives. `bindings` is the most tensors that one kernel may
   * bind; 8 if absent.
   */
  run(program: Program, choices?: Choices, bindings?: number): Program;
}
