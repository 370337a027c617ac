/**
 * Derivatives of cumulative products and extremes, in both directions; those of sums are sums. What records and tangents need; the ops are in
 * `cumulative.ts`.
 */
import type { Tensor } from "../node.ts";
import type { OpRecord } from "../op.ts";
import type { Shape } from "../shape.ts";
import { apply, filled, range } from "./apply.ts";
import { scanAttrs } from "./loops.ts";

type Vjp = NonNullable<OpRecord["vjp"]>;

/** A gradient that is written for scans from the front, for those from the end as well. */
const fromFront =
  (vjp: (g: Tensor, y: Tensor, x: Tensor) => Tensor): Vjp =>
  (g, y, x) => {
    const attrs = scanAttrs(y);
    if (!attrs.reverse) return [vjp(g, y, x!)];
    const flip = (t: Tensor) => apply("reverse", [t], { axes: [attrs.axis] });
    const turned = apply(y.op, [flip(x!)], { ...attrs, reverse: false });
    return [flip(vjp(flip(g), turned, flip(x!)))];
  };

const iota = (axis: number, shape: Shape): Tensor =>
  apply("iota", [], { axis }, { dtype: "i32", shape });

/** Axis k of the element that is differentiated, before axis i of the results it has a part in. */
function productPairs(y: Tensor, x: Tensor) {
  const { axis, exclusive } = scanAttrs(y);
  const shape = [...x.shape.slice(0, axis + 1), ...x.shape.slice(axis)];
  const spread = (t: Tensor, own: number) => {
    const dims = range(x.rank).map((a) => (a < axis || (a === axis && own === 0) ? a : a + 1));
    return apply("broadcastInDim", [t], { dims }, { dtype: t.dtype, shape });
  };
  const [k, i] = [iota(axis, shape), iota(axis + 1, shape)];
  const after = apply("greater", [i, k]);
  const factors = apply("select", [after, spread(x, 1), filled(1, x.dtype, shape)]);
  const attrs = { axis: axis + 1, exclusive, reverse: false };
  const between = apply("cumprod", [factors], attrs);
  const counts = exclusive ? after : apply("greaterEqual", [i, k]);
  const before = apply("cumprod", [x], { axis, exclusive: true, reverse: false });
  /** The sum, over one axis of the pairs, of what is `of` the other one times the products between the two. */
  const weighted = (of: Tensor, own: number) => {
    const terms = apply("mul", [spread(of, own), between]);
    const kept = apply("select", [counts, terms, filled(0, x.dtype, shape)]);
    return apply("reduceSum", [kept], { axes: [axis + own] });
  };
  return { before, weighted };
}

/**
 * ∂/∂xₖ Σᵢ gᵢ Π_{j≤i} xⱼ = Π_{j<k} xⱼ · Σ_{i≥k} gᵢ Π_{k<j≤i} xⱼ (exclusive: j < i and i > k), without a division: right,
 * to every order, where elements are 0. Costs n² for n elements; the products are not stored where they fuse with the
 * sum.
 */
export const productVjp = fromFront((g, y, x) => {
  const { before, weighted } = productPairs(y, x);
  return apply("mul", [before, weighted(g, 1)]);
});

/** The same sum the other way: Σ_{k≤i} tₖ · Π_{j<k} xⱼ · Π_{k<j≤i} xⱼ. */
const productTangent = /* @__PURE__ */ fromFront((t, y, x) => {
  const { before, weighted } = productPairs(y, x);
  return weighted(apply("mul", [t, before]), 0);
});

/**
 * Each result's gradient is added to the element that the result is: the first of equals, or the first NaN. A place is the
 * latest so far at which the extreme changed; where there is none yet, the scatter drops the gradient.
 */
export const extremeVjp = fromFront((g, y, x) => {
  const places = placesAlong(y, x);
  const attrs = { axes: range(x.rank), mode: "add" };
  return apply("scatter", [filled(0, g.dtype, x.shape), g, ...places], attrs);
});

/** Which element each result is, as one index for each axis: outside of the tensor where there is none yet. */
function placesAlong(y: Tensor, x: Tensor): Tensor[] {
  const { axis, exclusive } = scanAttrs(y);
  const at = iota(axis, x.shape);
  const zero = filled(0, "i32", x.shape);
  const before = apply(y.op, [x], { axis, exclusive: true, reverse: false });
  const better = apply(y.op === "cummax" ? "greater" : "less", [x, before]);
  const nan = apply("and", [apply("notEqual", [x, x]), apply("equal", [before, before])]);
  const first = apply("equal", [at, zero]);
  const changes = apply("or", [apply("or", [better, nan]), first]);
  const kept = apply("select", [changes, at, zero]);
  const place = apply("cummax", [kept], { axis, exclusive, reverse: false });
  return range(x.rank).map((a) => (a === axis ? place : iota(a, x.shape)));
}

/** Each result's tangent is that of the element which the result is. */
const extremeTangent = /* @__PURE__ */ fromFront((t, y, x) => {
  const places = placesAlong(y, x);
  const { axis } = scanAttrs(y);
  const taken = apply("gather", [t, ...places], { axes: range(x.rank) });
  const there = apply("greaterEqual", [places[axis]!, filled(0, "i32", x.shape)]);
  return apply("select", [there, taken, filled(0, t.dtype, x.shape)]);
});

/** The tangent of a cumulative op from that of its operand. */
export function cumulativeTangent(t: Tensor, y: Tensor, x: Tensor): Tensor {
  if (y.op === "cumsum") return apply("cumsum", [t], y.attrs);
  const rule = y.op === "cumprod" ? productTangent : extremeTangent;
  return rule(t, y, x)[0]!;
}
