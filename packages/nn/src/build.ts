/** Building layers that take their sizes from their inputs, before there is one. */
import { type Dtype, input, type Shape, trace } from "@kiln-ml/ir";
import { checkModule, type Module } from "./module.ts";

/** The shape of an input, of f32, or with its dtype. */
export type BuildInput = Shape | { readonly shape: Shape; readonly dtype: Dtype };

/**
 * Builds what is not built of a network, by a graph of its forward pass for inputs like these,
 * which is dropped: parameters can then be counted, loaded and given to an optimizer. The network
 * is returned. `torch.nn.LazyLinear` and the like after a dry run.
 *
 * Throws GraphError unless net is a module, and what its forward throws.
 *
 * @param net A module.
 * @param inputs Shapes of what forward takes, or `{ shape, dtype }`.
 * @example
 *   const net = new nn.Sequential(new nn.Conv2d(8, 3), new nn.ReLU());
 *   nn.build(net, [1, 3, 28, 28]).parameterCount // 224; 8·3·3·3 + 8
 */
export function build<M extends Module>(net: M, ...inputs: readonly BuildInput[]): M {
  checkModule("build", net);
  const { forward } = net as { forward(...xs: unknown[]): unknown };
  const xs = inputs.map((given, i) => {
    const { shape, dtype } = "shape" in given ? given : { shape: given, dtype: "f32" as const };
    return input(`x${i}`, dtype, shape);
  });
  trace(() => forward.call(net, ...xs));
  return net;
}
