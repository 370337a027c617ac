/**
 * Rules about attributes and shapes: movements that compose, cancel or do nothing. All are exact,
 * as each result element is the same operand element. Symbolic extents take part where equality is
 * provable. What a rule here must not do is turn a view into a copy: fusion resolves views by index
 * arithmetic.
 */
import {
  addDim,
  type Dim,
  isOp,
  isStatic,
  type NodeOf,
  opOf,
  sameDim,
  sameShape,
  type Tensor,
} from "@kiln-ml/ir";
import { type Rule, replaceBy } from "./match.ts";
import { uniform, uniformValue } from "./uniform.ts";

const isIdentity = (list: readonly number[]): boolean => list.every((d, i) => d === i);

type Apply<K extends string> = (node: NodeOf<K>, x: Tensor) => Tensor | undefined;

const define = <const K extends string>(name: string, op: K, apply: Apply<K>): Rule => ({
  name,
  ops: [op],
  apply: (n) => apply(opOf(n, op), n.operands[0]!),
});

const reshapes: readonly Rule[] = [
  define("reshape(x) to its own shape -> x", "reshape", (n, x) =>
    sameShape(n.shape, x.shape) ? x : undefined,
  ),
  define("reshape(reshape(x)) -> reshape(x)", "reshape", (n, x) =>
    x.op === "reshape" ? replaceBy(n, "reshape", x.operands) : undefined,
  ),
  define("reshape(broadcastInDim(x)) by ones -> broadcastInDim(x)", "reshape", (n, x) => {
    if (!isOp(x, "broadcastInDim")) return undefined;
    const to = axesThroughOnes(x.shape, n.shape);
    const dims = to && x.attrs.dims.map((d) => to[d]!);
    return dims?.every((d) => d >= 0)
      ? replaceBy(n, "broadcastInDim", x.operands, { dims })
      : undefined;
  }),
];

const broadcasts: readonly Rule[] = [
  define("broadcastInDim(x) that adds ones only -> reshape(x)", "broadcastInDim", (n, x) => {
    // A constant keeps its broadcast: that is the one form in which it is recognised.
    if (x.op === "constant") return undefined;
    const { dims } = n.attrs;
    const ordered = dims.every((d, i) => i === 0 || d > dims[i - 1]!);
    const grows = n.shape.some((d, i) => !sameDim(d, x.shape[dims.indexOf(i)] ?? 1));
    return ordered && !grows ? replaceBy(n, "reshape", [x]) : undefined;
  }),
  define("broadcastInDim(broadcastInDim(x)) -> broadcastInDim(x)", "broadcastInDim", (n, x) => {
    if (!isOp(x, "broadcastInDim")) return undefined;
    const outer = n.attrs.dims;
    return replaceBy(n, "broadcastInDim", x.operands, {
      dims: x.attrs.dims.map((d) => outer[d]!),
    });
  }),
  define("broadcastInDim(reshape(x)) by ones -> broadcastInDim(x)", "broadcastInDim", (n, x) => {
    const to = x.op === "reshape" ? axesThroughOnes(x.operands[0]!.shape, x.shape) : undefined;
    if (!to?.every((d) => d >= 0)) return undefined;
    const outer = n.attrs.dims;
    return replaceBy(n, "broadcastInDim", x.operands, { dims: to.map((d) => outer[d]!) });
  }),
];

/**
 * Where each axis of `from` goes in `to`, −1 for a 1 that is dropped; undefined unless only ones
 * differ.
 */
function axesThroughOnes(from: readonly Dim[], to: readonly Dim[]): number[] | undefined {
  const map: number[] = [];
  let next = 0;
  for (let i = 0; i < from.length; i++) {
    const d = from[i]!;
    // A 1 stays a 1 if there is one in this place; else it is dropped.
    if (d === 1) {
      map.push(to[next] === 1 ? next++ : -1);
      continue;
    }
    while (next < to.length && to[next] === 1) next++;
    if (next >= to.length || !sameDim(d, to[next]!)) return undefined;
    map.push(next++);
  }
  return to.slice(next).every((d) => d === 1) ? map : undefined;
}

const permutations: readonly Rule[] = [
  define("transpose(x) by the identity -> x", "transpose", (n, x) =>
    isIdentity(n.attrs.perm) ? x : undefined,
  ),
  define("transpose(transpose(x)) -> transpose(x)", "transpose", (n, x) => {
    if (!isOp(x, "transpose")) return undefined;
    const inner = x.attrs.perm;
    return replaceBy(n, "transpose", x.operands, { perm: n.attrs.perm.map((p) => inner[p]!) });
  }),
  define("transpose(broadcastInDim(x)) -> broadcastInDim(x)", "transpose", (n, x) => {
    if (!isOp(x, "broadcastInDim")) return undefined;
    const { perm } = n.attrs;
    return replaceBy(n, "broadcastInDim", x.operands, {
      dims: x.attrs.dims.map((d) => perm.indexOf(d)),
    });
  }),
  // So that a product may take its operand as it lies, and others the same one.
  define("convert(transpose(x)) -> transpose(convert(x))", "convert", (n, x) => {
    if (!isOp(x, "transpose")) return undefined;
    const wide = replaceBy(x.operands[0]!, "convert", x.operands, {}, n.dtype);
    return replaceBy(n, "transpose", [wide], { perm: x.attrs.perm });
  }),
  define("reverse(x) over axes of one element -> x", "reverse", (n, x) => {
    const axes = n.attrs.axes.filter((a) => x.shape[a] !== 1 && x.shape[a] !== 0);
    if (axes.length === n.attrs.axes.length && axes.length) return undefined;
    return axes.length ? replaceBy(n, "reverse", [x], { axes }) : x;
  }),
  define("reverse(reverse(x)) -> reverse(x)", "reverse", (n, x) => {
    if (!isOp(x, "reverse")) return undefined;
    const [a, b] = [n.attrs.axes, x.attrs.axes];
    const axes = [...a.filter((i) => !b.includes(i)), ...b.filter((i) => !a.includes(i))];
    return replaceBy(n, "reverse", x.operands, { axes: axes.sort((i, j) => i - j) });
  }),
];

/** Operands of a concatenation that is made of several. */
const mostFlat = 64;

const windows: readonly Rule[] = [
  define("slice(x) of the whole -> x", "slice", (n, x) =>
    sameShape(n.shape, x.shape) && n.attrs.start.every((s) => s === 0) ? x : undefined,
  ),
  define("slice(slice(x)) -> slice(x)", "slice", (n, x) => {
    if (!isOp(x, "slice") || x.attrs.stride.some((s) => s !== 1)) return undefined;
    const base = x.attrs.start;
    const shift = (dims: readonly Dim[]) => dims.map((d, i) => addDim(d, base[i]!));
    return replaceBy(n, "slice", x.operands, {
      ...n.attrs,
      start: shift(n.attrs.start),
      limit: shift(n.attrs.limit),
    });
  }),
  define("pad(x) by nothing -> x", "pad", (n, x) => {
    const { low, high, interior } = n.attrs;
    return [...low, ...high, ...interior].every((p) => p === 0) ? x : undefined;
  }),
  define("pad(pad(x)) with one value -> pad(x)", "pad", (n, x) => {
    if (!isOp(x, "pad") || x.operands[1] !== n.operands[1]) return undefined;
    const [outer, inner] = [n.attrs, x.attrs];
    if ([...outer.interior, ...inner.interior].some((p) => p !== 0)) return undefined;
    const margins = [outer.low, outer.high, inner.low, inner.high].flat();
    // A negative margin cuts; cutting and padding do not add up.
    if (margins.some((p) => !isStatic(p) || p < 0)) return undefined;
    const sum = (side: "low" | "high") => outer[side].map((p, i) => addDim(p, inner[side][i]!));
    return replaceBy(n, "pad", x.operands, { ...outer, low: sum("low"), high: sum("high") });
  }),
  define("concat(x) of one -> x", "concat", (n, x) => (n.operands.length === 1 ? x : undefined)),
  define("concat(x, empty) -> x", "concat", (n) => {
    const { axis } = n.attrs;
    const some = n.operands.filter((t) => t.shape[axis] !== 0);
    return some.length && some.length < n.operands.length
      ? replaceBy(n, "concat", some, n.attrs)
      : undefined;
  }),
  define("concat(concat(x, y), z) -> concat(x, y, z)", "concat", (n) => {
    const nested = (t: Tensor) => t.op === "concat" && t.attrs.axis === n.attrs.axis;
    if (!n.operands.some(nested)) return undefined;
    const flat = n.operands.flatMap((t) => (nested(t) ? t.operands : [t]));
    // One that grows step by step would be written out anew at each.
    if (flat.length > mostFlat) return undefined;
    return replaceBy(n, "concat", flat, n.attrs);
  }),
];

const constants: readonly Rule[] = [
  {
    name: "movement of a uniform constant -> uniform",
    ops: ["reshape", "transpose", "slice", "reverse", "windows", "gather"],
    apply(n) {
      const value = uniformValue(n.operands[0]!);
      return value === undefined ? undefined : uniform(value, n.dtype, n.shape);
    },
  },
  {
    name: "concat or pad of one uniform constant -> uniform",
    ops: ["concat", "pad"],
    apply(n) {
      const value = uniformValue(n.operands[0]!);
      if (value === undefined) return undefined;
      const same = n.operands.every((t) => Object.is(uniformValue(t), value));
      return same ? uniform(value, n.dtype, n.shape) : undefined;
    },
  },
];

export const movement: readonly Rule[] = [
  ...constants,
  ...reshapes,
  ...broadcasts,
  ...permutations,
  ...windows,
];
