/**
 * What owns state by name: modules and optimizers. A base class of its own, so that the front door moves and saves
 * either without knowing layers or optimizers.
 */
import type { Tensor } from "./node.ts";

export abstract class Stateful {
  /** Everything that a checkpoint holds, by name. */
  abstract checkpoint(): Map<string, Tensor>;
}
