/**
 * A random node of every op that has operands: what laws of transforms go over. `names` are the records that these nodes are of.
 */
import {
  allOps,
  call,
  checkpoint,
  cond,
  constant,
  convert,
  customVjp,
  type Dtype,
  makeNode,
  type OpRecord,
  opRecord,
  scan,
  select,
  type Tensor,
  whileLoop,
} from "@kiln-ml/ir";
import {
  type Builder,
  gatherCase,
  scatterCase,
  sortCase,
  cases as structural,
} from "../ir-structural/cases.ts";

/** Operands of the first dtype, and of the first count, that the record takes. */
function elementwise(record: OpRecord): (b: Builder) => Tensor {
  return (b) => {
    const shape = b.shape(0, 3);
    const [low, high] = record.domain ?? [-2, 2];
    for (const dtype of ["f64", "i32", "bool"] as const)
      for (const arity of [1, 2]) {
        const before = new Map(b.inputs);
        const number = () => low + ((b.r.real() + 1) / 2) * (high - low);
        const operands = Array.from({ length: arity }, () => b.leaf(shape, dtype, number));
        try {
          const type = record.infer(operands, {});
          return makeNode({ op: record.name, operands, attrs: {}, ...type });
        } catch {
          b.inputs.clear();
          for (const [x, v] of before) b.inputs.set(x, v);
        }
      }
    throw new Error(`${record.name} takes none of the operands tried`);
  };
}

const square = (x: Tensor): Tensor => x.mul(x);

function scanCase(b: Builder): Tensor {
  const n = b.r.int(1, 3);
  const [h, w] = [b.leaf([n]), b.leaf([n])];
  const xs = b.leaf([3, n], b.dtype, () => b.r.real(), [0]);
  const { carry, ys } = scan(
    [h, constant(0, "i32")],
    [xs],
    ([c, count], [x]) => {
      const next = c!.mul(w).add(x!).tanh();
      return { carry: [next, count!.add(1)], ys: [next.mul(x!), count!] };
    },
    { reverse: b.r.int(0, 1) === 1 },
  );
  const last = carry[0]!.add(ys[0]!.sum(0));
  return last.add(carry[1]!.add(ys[1]!.sum(0)).convert("f64"));
}

/** Doubles until it is large enough: as often as the values ask for. */
function whileCase(b: Builder): Tensor {
  const x = b.leaf([2], b.dtype, () => 0.3 + Math.abs(b.r.real()));
  const [y, n] = whileLoop(
    [x, constant(0, "i32")],
    (v, count) => v!.sum().less(6).and(count!.less(8)),
    (v, count) => [v!.mul(x.add(1)), count!.add(1)],
  ) as [Tensor, Tensor];
  return y.add(n.convert("f64"));
}

function condCase(b: Builder): Tensor {
  const [x, y] = [b.leaf([2]), b.leaf([2])];
  const flag = x.sum().greater(0);
  return cond(
    flag,
    () => [square(x).mul(y), constant(1, "i32")],
    () => [y.sin(), constant(2, "i32")],
  )[0]!;
}

function callCase(b: Builder): Tensor {
  const [x, y] = [b.leaf([2, 3]), b.leaf([3])];
  const p = x.zerosLike();
  switch (b.r.int(0, 2)) {
    case 0: {
      const param = makeInput(x);
      return call({ params: [param], results: [square(param).sin()] }, [x])[0]!.add(y);
    }
    case 1:
      return checkpoint((a: Tensor) => square(a).sin().add(y))(x).add(p);
    default:
      return customVjp(
        (a: Tensor, c: Tensor) => a.mul(c),
        ([g], _ys, a, c) => [g!.mul(c!).mul(3), g!.mul(a!).sum(0)],
      )(x, y);
  }
}

const makeInput = (like: Tensor): Tensor =>
  makeNode({ op: "iota", operands: [], attrs: { axis: 0 }, dtype: "f64", shape: like.shape });

const converted = (b: Builder, to: Dtype): Tensor =>
  convert(b.leaf(b.shape(0, 3)), to).convert("f64");

const byHand: Readonly<Record<string, (b: Builder) => Tensor>> = {
  select: (b) => {
    const shape = b.shape(0, 3);
    return select(
      b.leaf(shape, "bool", () => b.r.int(0, 1)),
      b.leaf(shape),
      b.leaf(shape),
    );
  },
  convert: (b) => converted(b, (["f32", "i32", "bool"] as const)[b.r.int(0, 2)]!),
  bitcast: (b) => b.leaf(b.shape(1, 2), "f32").bitcast("i32"),
  argSort: sortCase,
  gather: gatherCase,
  ...Object.fromEntries(
    (["add", "mul", "max", "min", "set"] as const).map((mode) => [
      `scatter ${mode}`,
      (b: Builder) => scatterCase(b, mode),
    ]),
  ),
  randomBits: (b) => {
    const key = b.leaf([2], "u32", () => b.r.int(0, 1000), [0]);
    const shape = [b.extent(b.r.int(1, 3))];
    return makeNode({ op: "randomBits", operands: [key], attrs: {}, dtype: "u32", shape });
  },
  scan: scanCase,
  whileLoop: whileCase,
  cond: condCase,
  call: callCase,
};

/** Ops without operands, the reading of one result, which comes with each op of several, and kernels of the user. */
const none = new Set(["input", "param", "data", "constant", "iota", "result", "customKernel"]);

/** By name, which for scatter says the mode as well. */
export const everyOp: Readonly<Record<string, (b: Builder) => Tensor>> = {
  ...Object.fromEntries(
    allOps()
      .filter((r) => r.family === "elementwise" && !byHand[r.name])
      .map((r) => [r.name, elementwise(r)]),
  ),
  ...structural,
  ...byHand,
};

/** Records that no case is of. */
export const missing = (): string[] => {
  const named = new Set(Object.keys(everyOp).map((name) => name.split(" ")[0]!));
  return allOps().flatMap(({ name }) => (named.has(name) || none.has(name) ? [] : [name]));
};

/** Whether the op, or one of the same name, has a gradient at all. */
export const isDifferentiable = (name: string): boolean => {
  const { vjp, vjpOfAll, family } = opRecord(name.split(" ")[0]!);
  return family === "control" || vjp !== undefined || vjpOfAll !== undefined;
};
