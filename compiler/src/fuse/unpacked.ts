/**
 * What products read of integers in few bytes: from the words or bytes that memory holds up to the
 * floats that they stand for. These nodes are computed in the loops of who reads them and never
 * stored, since the floats would take two to eight times the memory that they come from, which is
 * what such products are bound by.
 */
import { bytesOf, isFloat, isMovement, opRecord, sizeOf, type Tensor } from "@kiln-ml/ir";
import { isLeaf, isPointwise } from "../access.ts";

/** The floats of a product's operands that are made of narrower integers, with all between. */
export function unpackedIn(
  order: Iterable<Tensor>,
  required: ReadonlySet<Tensor>,
): ReadonlySet<Tensor> {
  const found = new Set<Tensor>();
  const without = new Set<Tensor>();
  for (const t of order)
    if (opRecord(t.op).family === "contraction")
      for (const o of t.operands)
        for (const s of chainOf(o, without)) if (!required.has(s)) found.add(s);
  return found;
}

const bytes = (t: Tensor): number => {
  const size = sizeOf(t.shape);
  return typeof size === "number" ? size * bytesOf(t.dtype) : Number.NaN;
};

/** What a value is read from, without the movements and casts between: scales are few. */
function sourceBytes(t: Tensor): number {
  let least = bytes(t);
  for (let s = t; !isLeaf(s) && (isMove(s) || s.op === "convert"); ) {
    s = s.operands[0]!;
    least = Math.min(least, bytes(s));
  }
  return least;
}

const isMove = (t: Tensor): boolean => isMovement(t) && t.operands.length === 1;

/** Nodes from a value down to the floats that integers are widened to, and what is read beside. */
interface Chain {
  readonly nodes: Tensor[];
  readonly beside: Tensor[];
  readonly widened: Tensor;
}

/**
 * The nodes of a value that takes at least twice the memory of all that it is made of: a mask times
 * a tensor of its extents is not worth computing twice.
 */
function chainOf(value: Tensor, without: Set<Tensor>): Tensor[] {
  const found = floatsOf(value, without);
  if (!found) return [];
  const { nodes, beside, widened } = found;
  const sources = integersOf(widened, nodes);
  const narrow = [...sources, ...beside].reduce((sum, t) => sum + sourceBytes(t), 0);
  return 2 * narrow <= bytes(value) ? nodes : [];
}

/**
 * Down to what widens integers, past scales and offsets, which are not part of the chain. What has
 * none is noted: a graph has more paths than nodes.
 */
function floatsOf(value: Tensor, without: Set<Tensor>): Chain | undefined {
  if (isLeaf(value) || without.has(value)) return undefined;
  const [x, y] = value.operands as [Tensor, Tensor];
  const over = (from: Tensor, beside: readonly Tensor[] = []): Chain | undefined => {
    const below = floatsOf(from, without);
    below?.nodes.push(value);
    below?.beside.push(...beside);
    return below;
  };
  const find = (): Chain | undefined => {
    if (value.op === "convert")
      return isFloat(x.dtype) ? over(x) : { nodes: [value], beside: [], widened: value };
    if (isMove(value)) return over(x);
    if (value.op !== "mul" && value.op !== "add" && value.op !== "sub") return undefined;
    return over(x, [y]) ?? over(y, [x]);
  };
  const found = find();
  if (!found) without.add(value);
  return found;
}

/** What integers are made of by cheap arithmetic on integers. */
function integersOf(widened: Tensor, nodes: Tensor[]): Tensor[] {
  const sources = new Set<Tensor>();
  const seen = new Set<Tensor>();
  const visit = (t: Tensor): void => {
    if (seen.has(t)) return;
    seen.add(t);
    const inside = isMove(t) || (isPointwise(t) && t.op !== "randomBits");
    const cheap = inside && opRecord(t.op).costly !== true;
    if (isLeaf(t) || !cheap || t.operands.some((o) => isFloat(o.dtype))) {
      if (t.op !== "iota" && t.op !== "constant") sources.add(t);
      return;
    }
    nodes.push(t);
    t.operands.forEach(visit);
  };
  widened.operands.forEach(visit);
  return [...sources];
}
