/**
 * Padding as layers, over the last one to three axes, with PyTorch's order of sides: those of the
 * last axis first. A negative number crops, where the mode allows it.
 */
import { checkTensor, type Dim, printShape, ShapeError, type Tensor } from "@kiln-ml/ir";
import { Module } from "./module.ts";
import { extended, type PaddingMode } from "./padding.ts";
import { checkCount, checkLength, checkRank } from "./parameter.ts";

/**
 * A number for all sides, or before and after of the last axis, of the one before it, and so on.
 */
export type PadSizes = number | readonly number[];

class PadLayer extends Module {
  readonly sides: readonly (readonly [number, number])[];
  readonly mode: PaddingMode;
  readonly value: number;
  private readonly op: string;

  constructor(op: string, axes: number, padding: PadSizes, mode: PaddingMode, value = 0) {
    super(value ? [padding, value] : [padding]);
    this.op = op;
    const list = typeof padding === "number" ? new Array<number>(2 * axes).fill(padding) : padding;
    checkLength(op, "padding", list, 2 * axes);
    for (const p of list) checkCount(op, "padding", p, mode === "zeros" ? -Infinity : 0);
    this.sides = Array.from({ length: axes }, (_, i) => {
      const at = 2 * (axes - 1 - i);
      return [list[at]!, list[at + 1]!] as const;
    });
    this.mode = mode;
    this.value = value;
  }

  override forward(x: Tensor): Tensor {
    const { sides, mode, value } = this;
    if (mode !== "zeros") {
      checkRank(this.op, x, sides.length + 1, sides.length + 2);
      return extended(this.op, x, sides, mode);
    }
    checkTensor(this.op, x);
    if (x.rank < sides.length)
      throw new ShapeError(
        `${this.op}: input needs rank ${sides.length} or more, got ${printShape(x.shape)}\n  take the layer of fewer axes`,
      );
    const none = new Array<Dim>(x.rank - sides.length).fill(0);
    return x.pad(value, [...none, ...sides.map((s) => s[0])], [...none, ...sides.map((s) => s[1])]);
  }

  override describe(): string {
    return this.sides.map((s) => s.join("+")).join("×");
  }
}

/**
 * `value`, 0 by default, beyond the ends of the last axis. x: f32[..., L] → longer by the sides.
 * `torch.nn.ConstantPad1d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   new nn.ConstantPad1d([1, 2], 9).forward(tensor([[1, 2]])) // [[9, 1, 2, 9, 9]]
 */
export class ConstantPad1d extends PadLayer {
  constructor(padding: PadSizes, value = 0) {
    super("constantPad1d", 1, padding, "zeros", value);
  }
}

/**
 * As `ConstantPad1d` over two axes. x: f32[..., H, W] → longer by the sides.
 * `torch.nn.ConstantPad2d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @param value What is put beyond the ends.
 * @example
 *   new nn.ConstantPad2d(1, 9).forward(tensor([[5]])) // [[9, 9, 9], [9, 5, 9], [9, 9, 9]]
 */
export class ConstantPad2d extends PadLayer {
  constructor(padding: PadSizes, value = 0) {
    super("constantPad2d", 2, padding, "zeros", value);
  }
}

/**
 * As `ConstantPad1d` over three axes. x: f32[..., D, H, W] → longer by the sides.
 * `torch.nn.ConstantPad3d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @param value What is put beyond the ends.
 * @example
 *   new nn.ConstantPad3d(1, 9).forward(ones([1, 4, 4, 4])).shape // [1, 6, 6, 6]
 */
export class ConstantPad3d extends PadLayer {
  constructor(padding: PadSizes, value = 0) {
    super("constantPad3d", 3, padding, "zeros", value);
  }
}

/**
 * Zeros beyond the ends of the last axis. x: f32[..., L] → longer by the sides.
 * `torch.nn.ZeroPad1d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   new nn.ZeroPad1d([1, 2]).forward(tensor([[1, 2]])) // [[0, 1, 2, 0, 0]]
 */
export class ZeroPad1d extends PadLayer {
  constructor(padding: PadSizes) {
    super("zeroPad1d", 1, padding, "zeros");
  }
}

/**
 * As `ZeroPad1d` over two axes. x: f32[..., H, W] → longer by the sides. `torch.nn.ZeroPad2d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   new nn.ZeroPad2d(1).forward(tensor([[5]])) // [[0, 0, 0], [0, 5, 0], [0, 0, 0]]
 */
export class ZeroPad2d extends PadLayer {
  constructor(padding: PadSizes) {
    super("zeroPad2d", 2, padding, "zeros");
  }
}

/**
 * As `ZeroPad1d` over three axes. x: f32[..., D, H, W] → longer by the sides. `torch.nn.ZeroPad3d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   new nn.ZeroPad3d(1).forward(ones([1, 4, 4, 4])).shape // [1, 6, 6, 6]
 */
export class ZeroPad3d extends PadLayer {
  constructor(padding: PadSizes) {
    super("zeroPad3d", 3, padding, "zeros");
  }
}

/**
 * x mirrored at its ends, without the end itself; by less than the extent, else ShapeError. x:
 * f32[..., L] → longer by the sides. `torch.nn.ReflectionPad1d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   new nn.ReflectionPad1d(2).forward(tensor([[1, 2, 3]])) // [[3, 2, 1, 2, 3, 2, 1]]
 */
export class ReflectionPad1d extends PadLayer {
  constructor(padding: PadSizes) {
    super("reflectionPad1d", 1, padding, "reflect");
  }
}

/**
 * As `ReflectionPad1d` over two axes. x: f32[..., H, W] → longer by the sides.
 * `torch.nn.ReflectionPad2d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   const y = new nn.ReflectionPad2d(1).forward(tensor([[[1, 2], [3, 4]]]));
 *   y.get(0, 0) // [4, 3, 4, 3]; the row above the first
 */
export class ReflectionPad2d extends PadLayer {
  constructor(padding: PadSizes) {
    super("reflectionPad2d", 2, padding, "reflect");
  }
}

/**
 * As `ReflectionPad1d` over three axes. x: f32[..., D, H, W] → longer by the sides.
 * `torch.nn.ReflectionPad3d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   new nn.ReflectionPad3d(1).forward(ones([1, 4, 4, 4])).shape // [1, 6, 6, 6]
 */
export class ReflectionPad3d extends PadLayer {
  constructor(padding: PadSizes) {
    super("reflectionPad3d", 3, padding, "reflect");
  }
}

/**
 * The first and the last element repeated. x: f32[..., L] → longer by the sides.
 * `torch.nn.ReplicationPad1d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   new nn.ReplicationPad1d([2, 1]).forward(tensor([[1, 2, 3]])) // [[1, 1, 1, 2, 3, 3]]
 */
export class ReplicationPad1d extends PadLayer {
  constructor(padding: PadSizes) {
    super("replicationPad1d", 1, padding, "replicate");
  }
}

/**
 * As `ReplicationPad1d` over two axes. x: f32[..., H, W] → longer by the sides.
 * `torch.nn.ReplicationPad2d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   const y = new nn.ReplicationPad2d(1).forward(tensor([[[1, 2], [3, 4]]]));
 *   y.get(0, 0) // [1, 1, 2, 2]; the row above the first
 */
export class ReplicationPad2d extends PadLayer {
  constructor(padding: PadSizes) {
    super("replicationPad2d", 2, padding, "replicate");
  }
}

/**
 * As `ReplicationPad1d` over three axes. x: f32[..., D, H, W] → longer by the sides.
 * `torch.nn.ReplicationPad3d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   new nn.ReplicationPad3d(1).forward(ones([1, 4, 4, 4])).shape // [1, 6, 6, 6]
 */
export class ReplicationPad3d extends PadLayer {
  constructor(padding: PadSizes) {
    super("replicationPad3d", 3, padding, "replicate");
  }
}

/**
 * The elements of the other end; by at most the extent, else ShapeError. x: f32[..., L] → longer by
 * the sides. `torch.nn.CircularPad1d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   new nn.CircularPad1d(1).forward(tensor([[1, 2, 3]])) // [[3, 1, 2, 3, 1]]
 */
export class CircularPad1d extends PadLayer {
  constructor(padding: PadSizes) {
    super("circularPad1d", 1, padding, "circular");
  }
}

/**
 * As `CircularPad1d` over two axes. x: f32[..., H, W] → longer by the sides.
 * `torch.nn.CircularPad2d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   const y = new nn.CircularPad2d(1).forward(tensor([[[1, 2], [3, 4]]]));
 *   y.get(0, 0) // [4, 3, 4, 3]; the row above the first
 */
export class CircularPad2d extends PadLayer {
  constructor(padding: PadSizes) {
    super("circularPad2d", 2, padding, "circular");
  }
}

/**
 * As `CircularPad1d` over three axes. x: f32[..., D, H, W] → longer by the sides.
 * `torch.nn.CircularPad3d`.
 *
 * @param padding A number for all sides, or before and after for the last axis, the one before it,
 *   and so on.
 * @example
 *   new nn.CircularPad3d(1).forward(ones([1, 4, 4, 4])).shape // [1, 6, 6, 6]
 */
export class CircularPad3d extends PadLayer {
  constructor(padding: PadSizes) {
    super("circularPad3d", 3, padding, "circular");
  }
}
