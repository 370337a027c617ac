/**
 * The elements of a small node whose operands' elements are known, from its record alone: the value
 * of one element, and where an element comes from. Leaves products, index tensors and random bits
 * to the run.
 */
import {
  type Dim,
  evaluateElement,
  isOp,
  opRecord,
  type Reducer,
  reductionExtents,
  roundTo,
  type Tensor,
} from "@kiln-ml/ir";

/** Elements in row-major order, rounded to the dtype. */
export type Elements = readonly number[];

/**
 * The elements of a node of static shape; undefined where its record does not say, or an operand is
 * not known.
 */
export function elementsOf(
  node: Tensor,
  known: ReadonlyMap<Tensor, Elements>,
): Elements | undefined {
  if (isOp(node, "iota"))
    return coordinates(node.shape).map((c) => roundTo(node.dtype, c[node.attrs.axis]!));
  const operands = node.operands.flatMap((t) => [known.get(t) ?? []]);
  if (!operands.length || !node.operands.every((t) => known.has(t))) return undefined;
  const at = coordinates(node.shape);
  const record = opRecord(node.op);
  const reduce = record.reducer && reducers[record.reducer];
  if (record.family === "elementwise" && record.eval)
    return at.map((_, i) =>
      evaluateElement(
        record,
        node.operands[0]!.dtype,
        node.dtype,
        operands.map((x) => x[i]!),
      ),
    );
  if (record.family === "movement") return settled(at.map((c) => moved(node, operands, c)));
  // `fold` adds its terms in another order than the reference.
  if (!reduce || record.family !== "reduce" || node.op === "fold") return undefined;
  const terms = coordinates(reductionExtents(node));
  if (!terms.length) return undefined;
  return settled(
    at.map((c) => reduce(terms.map((k) => moved(node, operands, [...c, ...k])) as number[])),
  )?.map((x) => roundTo(node.dtype, x));
}

/**
 * By reducer, what becomes of one or more elements. The others do not occur in what people write of
 * constants.
 */
const reducers: { readonly [K in Reducer]?: (x: number[]) => number } = {
  sum: (x) => x.reduce((a, b) => a + b, 0),
  max: (x) => Math.max(...x),
  min: (x) => Math.min(...x),
  any: (x) => Math.max(...x),
  all: (x) => Math.min(...x),
};

/** Every coordinate tuple of a static shape, in row-major order. */
const coordinates = (shape: readonly Dim[]): number[][] =>
  shape.reduce<number[][]>(
    (all, extent) =>
      all.flatMap((at) => Array.from({ length: extent as number }, (_, i) => [...at, i])),
    [[]],
  );

/** The element that the first piece to hold names; undefined where an attribute is symbolic. */
function moved(node: Tensor, operands: readonly Elements[], at: readonly number[]) {
  for (const { operand, coords, when } of opRecord(node.op).pieces!(node, at)) {
    if ([...coords, ...when.map((c) => c.value)].some((d) => typeof d !== "number"))
      return undefined;
    if (!when.every(({ value, test }) => (test === "zero" ? value === 0 : (value as number) >= 0)))
      continue;
    const { shape } = node.operands[operand]!;
    const offset = coords.reduce<number>(
      (sum, c, axis) => sum * (shape[axis] as number) + (c as number),
      0,
    );
    return operands[operand]![offset];
  }
  return undefined;
}

const settled = (list: readonly (number | undefined)[]): Elements | undefined =>
  list.includes(undefined) ? undefined : (list as Elements);
