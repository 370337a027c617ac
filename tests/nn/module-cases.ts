/**
 * Cases of `modules.json`: the class by name, with its arguments, and what PyTorch's counterpart gives.
 */
import type { Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { fixture, type LayerCase, type Named, type Packed, tensorOf } from "./fixture.ts";

export interface ModuleCase extends LayerCase {
  readonly type: string;
  readonly args: readonly unknown[];
  readonly train: boolean;
  /** A second input. */
  readonly other?: Packed;
  /** The state after the pass, where it moves. */
  readonly after?: Named;
}

export const cases: Readonly<Record<string, ModuleCase>> = fixture("modules");

type OneInput = nn.Module & { forward(x: Tensor): Tensor };

/** The layer of a case, in its mode. */
export function layerOf(c: ModuleCase): OneInput {
  const Type = (nn as unknown as Record<string, new (...args: unknown[]) => OneInput>)[c.type]!;
  const layer = new Type(...c.args).train(c.train);
  if (!c.other) return layer;
  const second = tensorOf(c.other);
  const { forward } = layer as { forward(...x: Tensor[]): Tensor };
  return Object.defineProperty(layer, "forward", {
    configurable: true,
    value: (x: Tensor) => forward.call(layer, x, second),
  });
}
