/**
 * Derivatives of `scatter`, in both directions: which elements of x and of the updates a result is made of, for each mode. What a record
 * and a tangent need of it; the type rule and the functions are in `gather.ts`.
 */
import { type Dim, isStatic, subDim } from "../dim.ts";
import { maxOf, minOf } from "../dtype.ts";
import type { Tensor } from "../node.ts";
import { sizeOf } from "../shape.ts";
import { apply, filled, numbersOf, range } from "./apply.ts";
import { dimValue } from "./create.ts";
import { convert } from "./elementwise/convert.ts";
import { broadcastInDim, reshape } from "./movement.ts";
import { constant } from "./source.ts";

type Mode = "add" | "mul" | "max" | "min" | "set";

/** extent − 1 in every element of a tensor like `like`, or the largest of its dtype if that is less. */
export function lastIndex(like: Tensor, extent: Dim): Tensor {
  const { dtype, shape } = like;
  const most = maxOf(dtype);
  if (isStatic(extent)) return filled(Math.min(extent - 1, most), dtype, shape);
  const last = dimValue(subDim(extent, 1));
  const held = most < maxOf("i32") ? apply("minimum", [last, constant(most, "i32")]) : last;
  return broadcastInDim(convert(held, dtype), shape, []);
}

const zerosOf = (t: Tensor): Tensor => filled(0, t.dtype, t.shape);

/** True at the updates whose place is inside x. */
function landed(x: Tensor, updates: Tensor, indices: readonly Tensor[], axes: readonly number[]) {
  const tests = indices.flatMap((v, k) => {
    const below = apply("lessEqual", [v, lastIndex(v, x.shape[axes[k]!]!)]);
    return minOf(v.dtype) < 0 ? [below, apply("greaterEqual", [v, zerosOf(v)])] : [below];
  });
  const all = tests.reduce((a, b) => apply("and", [a, b]));
  return broadcastInDim(all, updates.shape, range(all.rank));
}

/** The row-major number of each update among those that go to one place. */
function updateNumbers(updates: Tensor, indices: readonly Tensor[]): Tensor {
  const { shape } = indices[0]!;
  const flat = apply("iota", [], { axis: 0 }, { dtype: "i32", shape: [sizeOf(shape)] });
  return broadcastInDim(reshape(flat, shape), updates.shape, range(shape.length));
}

/**
 * add: g passes to x and to every update that landed; mul: the same, times the other factors of the place. The other modes choose one value for each
 * place, and its gradient goes to that one: for set, the last update, or x where there is none; for
 * max and min, x if it equals the result, else the first update that does.
 */
export function scatterVjp(g: Tensor, y: Tensor): readonly (Tensor | undefined)[] {
  const [x, updates, ...indices] = y.operands as [Tensor, Tensor, ...Tensor[]];
  const [axes, mode] = [[...numbersOf(y.attrs.axes)], y.attrs.mode as Mode];
  const back = (t: Tensor) => apply("gather", [t, ...indices], { axes });
  const none = indices.map(() => undefined);
  const inX = landed(x, updates, indices, axes);
  const masked = (mask: Tensor) => apply("select", [mask, back(g), zerosOf(updates)]);
  if (mode === "add") return [g, masked(inX), ...none];
  if (mode === "mul") {
    const { ofX, ofUpdates } = factorsOf(y);
    return [apply("mul", [g, ofX]), apply("mul", [masked(inX), ofUpdates]), ...none];
  }
  const { fromX, chosen } = sourcesOf(y);
  return [apply("select", [fromX, g, zerosOf(x)]), masked(chosen), ...none];
}

/** Of a scatter with mode mul: what x, and what each update, is multiplied by. */
function factorsOf(y: Tensor): { ofX: Tensor; ofUpdates: Tensor } {
  const { shape, dtype } = y.operands[0]!;
  const ofX = apply("scatter", [filled(1, dtype, shape), ...y.operands.slice(1)], y.attrs);
  return { ofX, ofUpdates: otherFactors(y) };
}

/** Of a scatter that chooses: where the result is x, and which updates it is elsewhere. */
function sourcesOf(y: Tensor): { fromX: Tensor; chosen: Tensor } {
  const [x, updates, ...indices] = y.operands as [Tensor, Tensor, ...Tensor[]];
  const [axes, mode] = [[...numbersOf(y.attrs.axes)], y.attrs.mode as Mode];
  const back = (t: Tensor) => apply("gather", [t, ...indices], { axes });
  const inX = landed(x, updates, indices, axes);
  const fromX =
    mode === "set"
      ? apply(
          "scatter",
          [filled(1, "bool", x.shape), filled(0, "bool", updates.shape), ...indices],
          { axes, mode },
        )
      : apply("equal", [x, y]);
  const candidate =
    mode === "set"
      ? inX
      : [apply("equal", [updates, back(y)]), apply("not", [back(fromX)])].reduce(
          (a, b) => apply("and", [a, b]),
          inX,
        );
  const order = mode === "set" ? "max" : "min";
  return { fromX, chosen: winners(x, updates, indices, axes, candidate, order) };
}

/**
 * The tangent of a scatter. add and set: the same scatter of tangents; mul: each times the other factors of its place; max and min: that
 * of the value which the result is.
 */
export function scatterTangent(y: Tensor, ofX: Tensor, ofUpdates: Tensor): Tensor {
  const { mode } = y.attrs;
  const indices = y.operands.slice(2);
  if (mode === "add" || mode === "set")
    return apply("scatter", [ofX, ofUpdates, ...indices], y.attrs);
  const added = (to: Tensor, from: Tensor) =>
    apply("scatter", [to, from, ...indices], { ...y.attrs, mode: "add" });
  if (mode === "mul") {
    const factors = factorsOf(y);
    return added(apply("mul", [ofX, factors.ofX]), apply("mul", [ofUpdates, factors.ofUpdates]));
  }
  const { fromX, chosen } = sourcesOf(y);
  const kept = apply("select", [fromX, ofX, zerosOf(ofX)]);
  return added(kept, apply("select", [chosen, ofUpdates, zerosOf(ofUpdates)]));
}

/**
 * For each update of a scatter with mode mul the product of all other factors of its place: the result divided by the update; where
 * the update is 0, the product of what is not, unless another is 0 too.
 */
function otherFactors(y: Tensor): Tensor {
  const [x, updates, ...indices] = y.operands as [Tensor, Tensor, ...Tensor[]];
  const axes = [...numbersOf(y.attrs.axes)];
  const back = (t: Tensor) => apply("gather", [t, ...indices], { axes });
  const isZero = apply("equal", [updates, zerosOf(updates)]);
  const nonZero = apply("select", [isZero, filled(1, x.dtype, updates.shape), updates]);
  const count = apply(
    "scatter",
    [
      filled(0, "i32", x.shape),
      apply("convert", [isZero], {}, { dtype: "i32", shape: updates.shape }),
      ...indices,
    ],
    { axes, mode: "add" },
  );
  const product = back(apply("scatter", [x, nonZero, ...indices], { axes, mode: "mul" }));
  const others = apply("sub", [
    back(count),
    apply("convert", [isZero], {}, { dtype: "i32", shape: updates.shape }),
  ]);
  const clear = apply("equal", [others, filled(0, "i32", updates.shape)]);
  return apply("select", [clear, apply("div", [product, nonZero]), zerosOf(updates)]);
}

/** Of the candidates for each place, the one with the least or the greatest number. */
function winners(
  x: Tensor,
  updates: Tensor,
  indices: readonly Tensor[],
  axes: readonly number[],
  candidate: Tensor,
  order: "min" | "max",
): Tensor {
  const numbers = updateNumbers(updates, indices);
  const worst = order === "max" ? -1 : maxOf("i32");
  const own = apply("select", [candidate, numbers, filled(worst, "i32", updates.shape)]);
  const start = filled(worst, "i32", x.shape);
  const best = apply("scatter", [start, own, ...indices], { axes: [...axes], mode: order });
  const won = apply("equal", [apply("gather", [best, ...indices], { axes: [...axes] }), numbers]);
  return apply("and", [candidate, won]);
}
