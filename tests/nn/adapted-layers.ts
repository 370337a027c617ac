/** Layers of several arguments or results, as layers of one. */
import { type Tensor, tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";

/** A graph layer over four nodes in a ring. */
export class OnRing extends nn.Module {
  readonly layer: nn.Module & { forward(x: Tensor, edges: Tensor): Tensor };
  readonly #edges = tensor([0, 1, 2, 3, 1, 2, 3, 0], { shape: [2, 4], dtype: "i32" });
  constructor(layer: OnRing["layer"]) {
    super([layer]);
    this.layer = layer;
  }
  override forward(x: Tensor): Tensor {
    return this.layer.forward(x, this.#edges);
  }
}

export class HiddenOf extends nn.Module {
  readonly cell: nn.LSTMCell;
  constructor(cell: nn.LSTMCell) {
    super([cell]);
    this.cell = cell;
  }
  override forward(x: Tensor): Tensor {
    return this.cell.forward(x).h;
  }
}

/** A deformable convolution whose offsets come from x. */
export class SelfMoved extends nn.Module {
  readonly offsets = new nn.Conv2d(3, 8, 2);
  readonly layer = new nn.DeformConv2d(3, 2, 2);
  override forward(x: Tensor): Tensor {
    return this.layer.forward(x, this.offsets.forward(x));
  }
}
