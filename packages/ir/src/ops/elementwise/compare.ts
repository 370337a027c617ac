/**
 * Comparisons, which yield bool and stop gradients, and `select`, which reads bool. NaN compares
 * false, except that it is not equal to anything.
 */
import { DtypeError, ShapeError } from "../../errors.ts";
import { makeNode, type Tensor } from "../../node.ts";
import { defineOp, type OpRecord } from "../../op.ts";
import { broadcastShapes, printShape, sameShape } from "../../shape.ts";
import { checkCount } from "../apply.ts";
import { asTensor, broadcastOperands, broadcastTo, type Operand } from "../broadcast.ts";
import { convert } from "./convert.ts";
import { type Binary, binary } from "./define.ts";

const comparison = (
  name: string,
  infix: string,
  holds: (x: number, y: number) => boolean,
): Binary =>
  binary(name, {
    on: "any",
    test: true,
    eval: (x, y) => Number(holds(x!, y!)),
    infix,
    vjp: () => [undefined, undefined],
    domain: [-10, 10],
    ulp: 0,
  });

/**
 * x = y. `torch.eq`.
 *
 * @param x Numbers of any dtype, any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   equal(tensor([1, 2, 3]), 2) // [false, true, false]
 */
export const equal: Binary = comparison("equal", "==", (x, y) => x === y);
/**
 * x ≠ y. `torch.ne`.
 *
 * @param x Numbers of any dtype, any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   notEqual(tensor([1, 2, 3]), 2) // [true, false, true]
 */
export const notEqual: Binary = comparison("notEqual", "!=", (x, y) => x !== y);
/**
 * x < y. `torch.lt`.
 *
 * @param x Numbers of any dtype, any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   less(tensor([1, 2, 3]), 2) // [true, false, false]
 */
export const less: Binary = comparison("less", "<", (x, y) => x < y);
/**
 * x ≤ y. `torch.le`.
 *
 * @param x Numbers of any dtype, any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   lessEqual(tensor([1, 2, 3]), 2) // [true, true, false]
 */
export const lessEqual: Binary = comparison("lessEqual", "<=", (x, y) => x <= y);
/**
 * x > y. `torch.gt`.
 *
 * @param x Numbers of any dtype, any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   greater(tensor([1, 2, 3]), 2) // [false, false, true]
 */
export const greater: Binary = comparison("greater", ">", (x, y) => x > y);
/**
 * x ≥ y. `torch.ge`.
 *
 * @param x Numbers of any dtype, any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   greaterEqual(tensor([1, 2, 3]), 2) // [false, true, true]
 */
export const greaterEqual: Binary = comparison("greaterEqual", ">=", (x, y) => x >= y);

export const selectRecord: OpRecord = defineOp({
  name: "select",
  family: "elementwise",
  infer: (operands) => {
    checkCount("select", operands, 3);
    const [c, x, y] = operands;
    if (c!.dtype !== "bool")
      throw new DtypeError(`select: condition must be bool, got ${c!.dtype}`);
    if (x!.dtype !== y!.dtype)
      throw new DtypeError(`select: dtypes differ: ${x!.dtype} and ${y!.dtype}`);
    for (const t of [c!, y!])
      if (!sameShape(t.shape, x!.shape))
        throw new ShapeError(
          `select: shapes differ: ${printShape(x!.shape)} and ${printShape(t.shape)}`,
        );
    return { dtype: x!.dtype, shape: x!.shape };
  },
  eval: (c, x, y) => (c ? x! : y!),
  spell: (c, x, y) => `((${c}) ? (${x}) : (${y}))`,
  vjp: (g, _y, c) => [undefined, select(c!, g, 0), select(c!, 0, g)],
  domain: [-10, 10],
  ulp: 0,
});

/**
 * x where the condition holds, y elsewhere. All three broadcast; a number as condition is true
 * unless 0. `torch.where`.
 *
 * @param condition bool, or numbers of which those but 0 are true.
 * @param x Where it is true.
 * @param y Where it is false.
 * @example
 *   select(tensor([true, false]), tensor([1, 2]), 0) // [1, 0]
 */
export function select(condition: Operand, x: Operand, y: Operand): Tensor {
  const c = convert(asTensor(condition), "bool");
  const [a, b] = broadcastOperands("select", [x, y]) as [Tensor, Tensor];
  const shape = broadcastShapes("select", c.shape, a.shape);
  const operands = [c, a, b].map((t) => broadcastTo(t, shape, "select"));
  return makeNode({
    op: "select",
    operands,
    attrs: {},
    ...selectRecord.infer(operands, {}),
  });
}
