/**
 * Exact rules that look at attributes or dtypes of ops that compute: conversions, reductions,
 * contractions, and elementwise ops on broadcast operands. Sums are never reordered here; those
 * rules are in `fast.ts`.
 */
import {
  allOps,
  type Dtype,
  isFloat,
  isOp,
  makeNode,
  minOfDim,
  type NodeOf,
  opOf,
  reducedAxes,
  sameShape,
  type Tensor,
} from "@kiln-ml/ir";
import { commutative, type Rule, replaceBy } from "./match.ts";
import { uniform, uniformValue } from "./uniform.ts";

/** The dtypes that hold every value of the key, −0 and NaN included. */
const holds: Readonly<Partial<Record<Dtype, readonly Dtype[]>>> = {
  bool: ["u8", "i8", "u32", "i32", "bf16", "f16", "f32", "f64"],
  u8: ["u32", "i32", "bf16", "f16", "f32", "f64"],
  i8: ["i32", "bf16", "f16", "f32", "f64"],
  u32: ["f64"],
  i32: ["f64"],
  bf16: ["f32", "f64"],
  f16: ["f32", "f64"],
  f32: ["f64"],
};

const conversions: readonly Rule[] = [
  {
    name: "convert(x) to its own dtype -> x",
    ops: ["convert"],
    apply: (n) => (n.operands[0]!.dtype === n.dtype ? n.operands[0]! : undefined),
  },
  {
    name: "convert(convert(x)) through a dtype that holds x -> convert(x)",
    ops: ["convert"],
    apply(n) {
      const inner = n.operands[0]!;
      if (inner.op !== "convert") return undefined;
      const from = inner.operands[0]!.dtype;
      // Integers wrap where floats saturate, so the kind may change only if the target is a float.
      const sameKind = isFloat(from) === isFloat(inner.dtype) || isFloat(n.dtype);
      return sameKind && holds[from]?.includes(inner.dtype)
        ? replaceBy(n, "convert", inner.operands, n.attrs)
        : undefined;
    },
  },
  {
    name: "select(c, 1, 0) -> convert(c)",
    ops: ["select"],
    apply(n) {
      const [c, x, y] = n.operands;
      const fits = uniformValue(x!) === 1 && Object.is(uniformValue(y!), 0) && n.dtype !== "bool";
      return fits ? replaceBy(n, "convert", [c!]) : undefined;
    },
  },
];

const divisions: readonly Rule[] = [
  {
    name: "div(x, 2^k) -> mul(x, 2^-k)",
    ops: ["div"],
    apply(n) {
      const c = uniformValue(n.operands[1]!);
      if (c === undefined || (n.dtype !== "f32" && n.dtype !== "f64")) return undefined;
      // Far from the subnormals, where 1/c would round.
      const k = Math.log2(Math.abs(c));
      if (!Number.isInteger(k) || Math.abs(k) > 100 || k === 0) return undefined;
      return replaceBy(n, "mul", [n.operands[0]!, uniform(1 / c, n.dtype, n.shape)]);
    },
  },
];

/** Two reductions of one kind in a row as one, over the axes of both. */
export function mergeReductions(node: Tensor): Tensor | undefined {
  const inner = node.operands[0]!;
  if (inner.op !== node.op) return undefined;
  const first = reducedAxes(inner);
  const x = inner.operands[0]!;
  const left = x.shape.map((_, i) => i).filter((i) => !first.includes(i));
  const second = reducedAxes(node).map((a) => left[a]!);
  const axes = [...first, ...second].sort((a, b) => a - b);
  return replaceBy(node, node.op, [x], { axes });
}

const reductions: readonly Rule[] = [
  {
    name: "reduce(x) over no axes or single elements -> reshape(x)",
    ops: ["reduceProd", "reduceMax", "reduceMin", "reduceAny", "reduceAll"],
    apply(n) {
      const x = n.operands[0]!;
      const trivial = reducedAxes(n).every((a) => x.shape[a] === 1);
      return trivial && x.dtype === n.dtype ? replaceBy(n, "reshape", [x]) : undefined;
    },
  },
  {
    name: "reduceMax(reduceMax(x)) -> reduceMax(x), and min, any, all",
    ops: ["reduceMax", "reduceMin", "reduceAny", "reduceAll"],
    apply(n) {
      // The first of equal extremes counts, and 0 equals −0: the order of visits must stay.
      const x = n.operands[0]!;
      if (x.op !== n.op) return undefined;
      const inner = reducedAxes(x);
      const left = x.operands[0]!.shape.map((_, i) => i).filter((i) => !inner.includes(i));
      const outer = reducedAxes(n).map((a) => left[a]!);
      const inOrder = outer.every((a) => inner.every((b) => a < b));
      return inOrder || !isFloat(n.dtype) ? mergeReductions(n) : undefined;
    },
  },
  {
    name: "reduceMax(broadcastInDim(x)) over new axes -> broadcastInDim(x), and min, any, all",
    ops: ["reduceMax", "reduceMin", "reduceAny", "reduceAll"],
    apply(n) {
      const inner = n.operands[0]!;
      if (!isOp(inner, "broadcastInDim")) return undefined;
      const axes = reducedAxes(n);
      const { dims } = inner.attrs;
      if (axes.some((a) => dims.includes(a) || minOfDim(inner.shape[a]!) < 1)) return undefined;
      const kept = dims.map((d) => d - axes.filter((a) => a < d).length);
      return replaceBy(n, "broadcastInDim", inner.operands, { dims: kept });
    },
  },
];

const axisNames = [
  ["lhsBatch", "lhsContract"],
  ["rhsBatch", "rhsContract"],
] as const;

/**
 * A transposed operand as other axis numbers; only if its free axes stay in order, as the result
 * has them.
 */
function absorbTranspose(n: NodeOf<"dotGeneral">, side: 0 | 1): Tensor | undefined {
  const t = n.operands[side]!;
  if (!isOp(t, "transpose")) return undefined;
  const [batch, contract] = axisNames[side];
  const { perm } = t.attrs;
  const used = [...n.attrs[batch], ...n.attrs[contract]];
  const free = perm.filter((_, i) => !used.includes(i));
  if (free.some((p, i) => i > 0 && p < free[i - 1]!)) return undefined;
  const operands = n.operands.map((x, i) => (i === side ? t.operands[0]! : x));
  const through = (axes: readonly number[]) => axes.map((a) => perm[a]!);
  const moved = { [batch]: through(n.attrs[batch]), [contract]: through(n.attrs[contract]) };
  return replaceBy(n, "dotGeneral", operands, { ...n.attrs, ...moved });
}

const contractions: readonly Rule[] = [
  {
    name: "dotGeneral(transpose(x), y) -> dotGeneral(x, y)",
    ops: ["dotGeneral"],
    apply: (n) => absorbTranspose(opOf(n, "dotGeneral"), 0),
  },
  {
    name: "dotGeneral(x, transpose(y)) -> dotGeneral(x, y)",
    ops: ["dotGeneral"],
    apply: (n) => absorbTranspose(opOf(n, "dotGeneral"), 1),
  },
];

/**
 * op(move x, move y) → move(op(x, y)): a broadcast then repeats one result instead of computing it
 * again, and a reshape comes closer to the one that undoes it. All operands come from one shape by
 * the same movement; uniform constants fit any.
 */
function hoistMovement(n: Tensor, op: "broadcastInDim" | "reshape"): Tensor | undefined {
  const model = n.operands.find((t) => t.op === op && uniformValue(t) === undefined);
  if (!model) return undefined;
  const { shape } = model.operands[0]!;
  const dims = String(model.attrs.dims);
  const operands: Tensor[] = [];
  for (const t of n.operands) {
    const value = uniformValue(t);
    if (value !== undefined) operands.push(uniform(value, t.dtype, shape));
    else if (t.op !== op || String(t.attrs.dims) !== dims) return undefined;
    else if (!sameShape(t.operands[0]!.shape, shape)) return undefined;
    else operands.push(t.operands[0]!);
  }
  const inner = makeNode({ op: n.op, operands, attrs: n.attrs, dtype: n.dtype, shape });
  return replaceBy(n, op, [inner], model.attrs);
}

/** Built late, as records may be registered after this module is loaded. */
export function structure(): readonly Rule[] {
  const elementwise = allOps().filter((r) => r.family === "elementwise");
  return [
    ...conversions,
    ...divisions,
    ...reductions,
    ...contractions,
    {
      name: "commutative(constant, x) -> commutative(x, constant)",
      ops: [...commutative],
      apply(n) {
        const [x, y] = n.operands;
        const swaps = uniformValue(x!) !== undefined && uniformValue(y!) === undefined;
        return swaps ? replaceBy(n, n.op, [y!, x!], n.attrs) : undefined;
      },
    },
    {
      name: "elementwise(broadcastInDim(x), …) -> broadcastInDim(elementwise(x, …))",
      ops: elementwise.map((r) => r.name),
      apply: (n) => hoistMovement(n, "broadcastInDim"),
    },
    {
      name: "elementwise(reshape(x), …) -> reshape(elementwise(x, …))",
      ops: elementwise.map((r) => r.name),
      apply: (n) => hoistMovement(n, "reshape"),
    },
  ];
}
