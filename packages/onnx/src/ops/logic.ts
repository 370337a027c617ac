/**
 * Comparisons, logic, bits and choice.
 */
import {
  and,
  bytesOf,
  equal,
  greater,
  greaterEqual,
  less,
  lessEqual,
  or,
  select,
  type Tensor,
  xor,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { binaryOperands } from "./operands.ts";

const binary = (op: string, f: (x: Tensor, y: Tensor) => Tensor): Row =>
  row(op, (n) => f(...binaryOperands(n)));

/** A shift by as many bits as there are, or more, leaves nothing. */
function shift(n: NodeContext): Tensor {
  const [x, y] = binaryOperands(n);
  const direction = n.string("direction");
  if (direction !== "LEFT" && direction !== "RIGHT")
    return n.fail(`direction is "${direction}", not LEFT or RIGHT`);
  const bits = 8 * bytesOf(x.dtype);
  const fits = y.less(bits);
  const by = select(fits, y, 0);
  const shifted = direction === "LEFT" ? x.shiftLeft(by) : x.shiftRight(by);
  return select(fits, shifted, 0);
}

export const logicRows: readonly Row[] = [
  binary("Equal", equal),
  binary("Less", less),
  binary("LessOrEqual", lessEqual),
  binary("Greater", greater),
  binary("GreaterOrEqual", greaterEqual),
  binary("And", and),
  binary("Or", or),
  binary("Xor", xor),
  row("Not", (n) => n.tensor(0).not()),
  binary("BitwiseAnd", and),
  binary("BitwiseOr", or),
  binary("BitwiseXor", xor),
  row("BitwiseNot", (n) => n.tensor(0).bitwiseNot(), { wraps: true }),
  row("BitShift", shift, { wraps: true }),
  row("Where", (n) => select(n.tensor(0), n.tensor(1), n.tensor(2))),
];
