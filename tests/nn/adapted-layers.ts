/** Layers of several arguments or results, as layers of one. */
import { type Tensor, tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";

/** A graph layer over four nodes in a ring. */
export class OnRing extends nn.Module {
  readonly layer: nn.Module & { forward(x: Tensor, edges: Tensor): Tensor };
  readonly #edges = tensor([0, 1, 2, 3, 1, 2, 3, 0], { shape: [2, 4], dtype: "i32" });
  constructor(layer: OnRing["layer"]) {
    super();
    this.layer = layer;
  }
  override forward(x: Tensor): Tensor {
    return this.layer.forward(x, this.#edges);
  }
}

export class HiddenOf extends nn.Module {
  readonly cell: nn.LSTMCell;
  constructor(cell: nn.LSTMCell) {
    super();
    this.cell = cell;
  }
  override forward(x: Tensor): Tensor {
    return this.cell.forward(x).h;
  }
}
