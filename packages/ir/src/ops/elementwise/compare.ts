/**
 * Comparisons, which yield bool and stop gradients, and `select`, which reads bool. NaN compares false, except
 * that it is not equal to anything.
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

/** x = y. */
export const equal: Binary = comparison("equal", "==", (x, y) => x === y);
/** x ≠ y. */
export const notEqual: Binary = comparison("notEqual", "!=", (x, y) => x !== y);
/** x < y. */
export const less: Binary = comparison("less", "<", (x, y) => x < y);
/** x ≤ y. */
export const lessEqual: Binary = comparison("lessEqual", "<=", (x, y) => x <= y);
/** x > y. */
export const greater: Binary = comparison("greater", ">", (x, y) => x > y);
/** x ≥ y. */
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

/** x where the condition holds, y elsewhere. All three broadcast; a number as condition is true unless 0. */
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
