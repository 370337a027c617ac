/** Looking at a module's results from outside, or changing them. */
import { GraphError, kindOf } from "@kiln-ml/ir";
import { wrapForward } from "./forwards.ts";
import { Module } from "./module.ts";

/**
 * Gets the arguments and the result of a call; what it returns, unless undefined, takes the place
 * of the result.
 */
export type ForwardHook = (inputs: readonly unknown[], output: unknown) => unknown;

/**
 * Calls `hook` after each `forward` of a module. The result takes it away again; hooks run in the
 * order in which they were put. `torch.nn.Module.register_forward_hook`.
 *
 * Throws GraphError unless both are what they should be.
 *
 * @param module The module to watch.
 * @example
 *   const net = { fc1: new nn.Linear(2, 4) };
 *   const shapes = [];
 *   const off = nn.hook(net.fc1, (_, y) => { shapes.push(y.shape); });
 *   net.fc1.forward(ones([1, 2]));
 *   off();
 *   shapes // [[1, 4]]
 */
export function hook(module: Module, hook: ForwardHook): () => void {
  if (!(module instanceof Module) || typeof hook !== "function")
    throw new GraphError(
      `hook: takes a module and a function, got ${kindOf(module)} and ${kindOf(hook)}`,
    );
  let on = true;
  const off = wrapForward(module, (plain, inputs) => {
    const output = plain(...inputs);
    // One that takes itself off within the call has no say in its result.
    if (!on) return output;
    const changed = hook(inputs, output);
    return changed === undefined ? output : changed;
  });
  return () => {
    on = false;
    off();
  };
}
