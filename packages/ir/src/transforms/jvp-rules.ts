/**
 * Tangents of results from those of operands. Most ops need no rule of their own: what is linear is applied to the tangents; the Jacobian
 * of an elementwise op is diagonal, and that of a reduction has one entry for each element, so that the `vjp` of the record, read across,
 * is the direct rule and costs no more. What remains is by name.
 */
import { isFloat } from "../dtype.ts";
import { GraphError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { opRecord } from "../op.ts";
import { apply, filled, numbersOf } from "../ops/apply.ts";
import { cumulativeTangent } from "../ops/cumulative-gradient.ts";
import { scatterTangent } from "../ops/scatter-gradient.ts";
import { printShape } from "../shape.ts";

type Tangents = readonly (Tensor | undefined)[];

const zeroOf = (t: Tensor): Tensor => filled(0, t.dtype, t.shape);

/** The tangent of y from those of its operands, of which there is one at least; undefined where it is zero. */
export function tangentOf(y: Tensor, tangents: Tangents): Tensor | undefined {
  if (!isFloat(y.dtype)) return undefined;
  const record = opRecord(y.op);
  switch (record.family) {
    case "elementwise":
      return elementwise(y, tangents);
    case "movement":
      return linear(y, tangents);
    case "reduce":
      return record.name === "fold" || record.reducer === "sum"
        ? linear(y, tangents)
        : reduction(y, tangents[0]!);
    case "contraction":
      return bilinear(y, tangents);
    case "scan":
      return cumulativeTangent(tangents[0]!, y, y.operands[0]!);
    case "gather":
      return apply("gather", [tangents[0]!, ...y.operands.slice(1)], y.attrs);
    case "scatter": {
      const [x, updates] = y.operands as [Tensor, Tensor];
      return scatterTangent(y, tangents[0] ?? zeroOf(x), tangents[1] ?? zeroOf(updates));
    }
    default:
      return refuse(y);
  }
}

function refuse(y: Tensor): never {
  const where = y.site ? ` (${y.site})` : "";
  throw new GraphError(
    `jvp: ${y.op} has no derivative: ${y.dtype}${printShape(y.shape)}${where}\n  put stopGradient around it if it is to count as a constant`,
  );
}

/** Σ over the operands of ∂y/∂x · tangent, both diagonal: what the reverse rule gives x for that tangent. */
function elementwise(y: Tensor, tangents: Tangents): Tensor | undefined {
  if (y.op === "convert") return apply("convert", [tangents[0]!], {}, y);
  if (y.op === "select") return select(y, tangents);
  const { vjp } = opRecord(y.op);
  if (!vjp) return refuse(y);
  const terms = tangents.flatMap((t, i) => (t ? (vjp(t, y, ...y.operands)[i] ?? []) : []));
  return terms.length ? terms.reduce((a, b) => apply("add", [a, b])) : undefined;
}

function select(y: Tensor, [, then, otherwise]: Tangents): Tensor {
  const [c, a, b] = y.operands as [Tensor, Tensor, Tensor];
  return apply("select", [c, then ?? zeroOf(a), otherwise ?? zeroOf(b)]);
}

const linear = (y: Tensor, tangents: Tangents): Tensor =>
  apply(
    y.op,
    y.operands.map((x, i) => tangents[i] ?? zeroOf(x)),
    y.attrs,
    y,
  );

function bilinear(y: Tensor, [s, t]: Tangents): Tensor {
  const [a, b] = y.operands as [Tensor, Tensor];
  const terms = [
    ...(s ? [apply(y.op, [s, b], y.attrs)] : []),
    ...(t ? [apply(y.op, [a, t], y.attrs)] : []),
  ];
  return terms.reduce((p, q) => apply("add", [p, q]));
}

/** Σ of slope · tangent; the slope of an extreme is 1 at one element and 0 elsewhere, where the tangent is not read. */
function reduction(y: Tensor, t: Tensor): Tensor {
  const { vjp, reducer } = opRecord(y.op);
  const x = y.operands[0]!;
  const slope = vjp!(filled(1, y.dtype, y.shape), y, x)[0]!;
  const terms =
    reducer === "prod"
      ? apply("mul", [slope, t])
      : apply("select", [apply("notEqual", [slope, zeroOf(slope)]), t, zeroOf(t)]);
  return apply("reduceSum", [terms], { axes: [...numbersOf(y.attrs.axes)] });
}
