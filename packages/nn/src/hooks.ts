/** Looking at a module's results from outside, or changing them. */
import { GraphError, kindOf } from "@kiln-ml/ir";
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
  const plain = module.forward as (...inputs: unknown[]) => unknown;
  const own = Object.hasOwn(module, "forward");
  let on = true;
  const forward = (...inputs: unknown[]): unknown => {
    const output = plain.apply(module, inputs);
    if (!on) return output;
    const changed = hook(inputs, output);
    return changed === undefined ? output : changed;
  };
  Object.defineProperty(module, "forward", { value: forward, configurable: true, writable: true });
  return () => {
    on = false;
    // One that was put later keeps calling this one, which passes everything.
    if (module.forward !== forward) return;
    if (own)
      Object.defineProperty(module, "forward", {
        value: plain,
        configurable: true,
        writable: true,
      });
    else delete (module as { forward?: unknown }).forward;
  };
}
