/**
 * Values of the middle of a program, by name: who traces it asks for them. A mark beside the graph,
 * not an op: a program that nobody watches is what it would be without.
 */
import { GraphError } from "./errors.ts";
import { kindOf } from "./kind.ts";
import type { Tensor } from "./node.ts";
import { checkTensor } from "./ops/apply.ts";
import { currentScope, type Scope } from "./scope.ts";
import { currentValue } from "./trace.ts";

export interface Tapped {
  readonly name: string;
  readonly value: Tensor;
  /** In whose course it was tapped. */
  readonly scope: Scope | undefined;
}

let watched: Tapped[] | undefined;

/** Runs `define` and says what was tapped in it, in order. */
export function withTaps<T>(define: () => T): {
  readonly value: T;
  readonly taps: readonly Tapped[];
} {
  const before = watched;
  const taps: Tapped[] = [];
  watched = taps;
  try {
    return { value: define(), taps };
  } finally {
    watched = before;
  }
}

/**
 * x, whose value every run tells to `compile(fn, { tap: (name, value) => … })`. The value is one
 * more result of the program; without that option, and outside of `compile`, nothing is done.
 * `jax.debug.callback`, a forward hook of PyTorch.
 *
 * Throws DtypeError unless x is a tensor, GraphError unless the name is text. In the body of a
 * loop, a branch or a transform a value is not one but many: `compile` refuses such a tap.
 *
 * @param x The tensor.
 * @param name What the listener is told.
 * @example
 *   const told = [];
 *   const options = { tap: async (name, y) => told.push([name, await y.toList()]) };
 *   await compile((x) => tap(x.exp(), "weights").sum(), options)([0, 0]) // 2
 *   told // [["weights", [1, 1]]]
 */
export function tap(x: Tensor, name: string): Tensor {
  checkTensor("tap", x);
  if (typeof name !== "string" || name === "")
    throw new GraphError(
      `tap: the name must be text, got ${kindOf(name)}\n  name the value: tap(x, "logits")`,
    );
  watched?.push({ name, value: currentValue(x), scope: currentScope() });
  return x;
}
