/** A pre-norm transformer block with causal attention. */
import { gelu, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";

export class Block extends nn.Module {
  readonly norm1: nn.LayerNorm;
  readonly norm2: nn.LayerNorm;
  readonly attention: nn.MultiHeadAttention;
  readonly up: nn.Linear;
  readonly down: nn.Linear;

  constructor(width: number, heads: number) {
    super();
    this.norm1 = new nn.LayerNorm(width);
    this.norm2 = new nn.LayerNorm(width);
    this.attention = new nn.MultiHeadAttention(width, heads);
    this.up = new nn.Linear(width, 4 * width);
    this.down = new nn.Linear(4 * width, width);
  }

  override forward(x: Tensor): Tensor {
    const mixed = x.add(this.attention.forward(this.norm1.forward(x), { causal: true }));
    return mixed.add(this.down.forward(gelu(this.up.forward(this.norm2.forward(mixed)))));
  }
}
