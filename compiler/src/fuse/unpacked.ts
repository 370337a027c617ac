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
  for (const t of order)
    if (opRecord(t.op).family === "contraction")
      for (const o of t.operands) for (const s of chainOf(o)) if (!required.has(s)) found.add(s);
  return found;
}

const bytes = (t: Tensor): number => {
  const size = sizeOf(t.shape);
  return typeof size === "number" ? size * bytesOf(t.dtype) : Number.NaN;
};

/** The nodes of a value that takes at least twice the memory of the integers it is made of. */
function chainOf(value: Tensor): Tensor[] {
  const chain: Tensor[] = [];
  const widened = floatsOf(value, chain);
  if (!widened) return [];
  const sources = integersOf(widened, chain);
  const narrow = sources.reduce((sum, t) => sum + bytes(t), 0);
  return 2 * narrow <= bytes(value) ? chain : [];
}

/** Down to what widens integers, past scales and offsets; those are not part of the chain. */
function floatsOf(t: Tensor, chain: Tensor[]): Tensor | undefined {
  if (isLeaf(t)) return undefined;
  chain.push(t);
  const [x, y] = t.operands as [Tensor, Tensor];
  if (t.op === "convert") return isFloat(x.dtype) ? floatsOf(x, chain) : t;
  if (isMovement(t) && t.operands.length === 1) return floatsOf(x, chain);
  if (t.op !== "mul" && t.op !== "add" && t.op !== "sub") return undefined;
  for (const side of [x, y]) {
    const own: Tensor[] = [];
    const found = floatsOf(side, own);
    if (!found) continue;
    chain.push(...own);
    return found;
  }
  return undefined;
}

/** What integers are made of by arithmetic on integers. */
function integersOf(widened: Tensor, chain: Tensor[]): Tensor[] {
  const sources = new Set<Tensor>();
  const seen = new Set<Tensor>();
  const visit = (t: Tensor): void => {
    if (seen.has(t)) return;
    seen.add(t);
    const inside = isPointwise(t) || (isMovement(t) && t.operands.length === 1);
    const made = inside && !isLeaf(t) && t.operands.every((o) => !isFloat(o.dtype));
    if (!made) {
      if (t.op !== "iota" && t.op !== "constant") sources.add(t);
      return;
    }
    chain.push(t);
    t.operands.forEach(visit);
  };
  widened.operands.forEach(visit);
  return [...sources];
}
