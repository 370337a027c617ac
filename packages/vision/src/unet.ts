/**
 * U-Net: a network that narrows an image and widens it again, with a bridge at each size; one score a class and pixel. Ronneberger et al.
 * 2015, with padding and batch normalisation, so that the result has the size of the image.
 */
import {
  checkOptions,
  concat,
  GraphError,
  isStatic,
  kindOf,
  type OptionNames,
  printShape,
  relu,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import type { Backend } from "@kiln-ml/train";
import { type ModelOptions, optionsOf, VisionModel } from "./model.ts";
import { ConvNorm } from "./parts.ts";

export interface UNetOptions extends ModelOptions {
  /** Channels at the size of the image, doubled with each halving; 64 by default. */
  readonly width?: number;
  /** How often the image is halved; 4 by default. */
  readonly depth?: number;
}

const unetOptions: OptionNames<UNetOptions> = {
  classes: 1,
  channels: 1,
  backend: 1,
  width: 1,
  depth: 1,
};

const twice = (inputs: number, outputs: number): nn.Sequential =>
  new nn.Sequential(
    new ConvNorm(inputs, outputs, { activation: relu }),
    new ConvNorm(outputs, outputs, { activation: relu }),
  );

/**
 * x: f32[N, channels, H, W] → scores f32[N, classes, H, W]; H and W are multiples of 2^depth.
 * Throws ShapeError if they are not.
 */
export class UNet extends VisionModel {
  readonly down: nn.Sequential[];
  readonly bottom: nn.Sequential;
  readonly up: nn.ConvTranspose2d[];
  readonly join: nn.Sequential[];
  readonly head: nn.Conv2d;
  readonly pool = new nn.MaxPool2d(2);

  constructor(options: UNetOptions = {}) {
    const { classes = 1, backend, channels = 3, width = 64, depth = 4 } = options;
    super(backend, [options]);
    for (const [what, n] of [["width", width] as const, ["depth", depth] as const])
      if (!(Number.isInteger(n) && n > 0))
        throw new GraphError(`unet: ${what} must be a whole number of 1 or more, got ${kindOf(n)}`);
    if (width * 2 ** depth > 2 ** 30)
      throw new GraphError(
        `unet: width ${width} doubles with each of depth ${depth}, to more than 2^30 channels`,
      );
    const widths = Array.from({ length: depth }, (_, i) => width << i);
    this.down = widths.map((w, i) => twice(i ? w / 2 : channels, w));
    this.bottom = twice(widths.at(-1)!, 2 * widths.at(-1)!);
    this.up = widths.map((w) => new nn.ConvTranspose2d(2 * w, w, 2, { stride: 2 }));
    this.join = widths.map((w) => twice(2 * w, w));
    this.head = new nn.Conv2d(width, classes, 1);
  }

  protected override compute(x: Tensor): Tensor {
    const step = 2 ** this.down.length;
    if (x.shape.slice(2).some((d) => isStatic(d) && d % step))
      throw new ShapeError(
        `unet: images are ${printShape(x.shape)}, not of multiples of ${step}\n  crop or pad them, or make the model with less depth`,
      );
    const bridges: Tensor[] = [];
    let y = x;
    for (const layer of this.down) {
      const wide = layer.forward(y);
      bridges.push(wide);
      y = this.pool.forward(wide);
    }
    y = this.bottom.forward(y);
    for (let i = this.down.length - 1; i >= 0; i--)
      y = this.join[i]!.forward(concat([bridges[i]!, this.up[i]!.forward(y)], 1));
    return this.head.forward(y);
  }
}

/**
 * 31 million parameters with the default width and depth. x: f32[N, channels, H, W] → scores f32[N, classes, H, W]; one class by default,
 * for a mask. Ronneberger et al. 2015.
 *
 *     const net = vision.unet("wasm", { channels: 1, width: 16, depth: 3 });
 */
export function unet(backend?: Backend | UNetOptions, options?: UNetOptions): UNet {
  const given = typeof backend === "string" ? options : backend;
  const all = optionsOf("unet", backend, options);
  checkOptions("unet", all, unetOptions);
  return new UNet({ ...all, classes: given?.classes ?? 1 });
}
