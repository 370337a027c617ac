/** Ops that make tensors of shapes, places and numbers, and those that pass values on. */

import type { Dim, Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import type { NodeContext, Row, Value } from "@kiln-ml/onnx";
import { asFloat, dtypeAt, extents, range } from "./operand.ts";
import { alike, asValue, standard, tf } from "./row.ts";

const shapeOf = (t: Tensor): Tensor => extents(t.shape);

function filled(n: NodeContext): Tensor {
  return ir.broadcastTo(ir.reshape(n.tensor(1), []), n.dims(0));
}

const like = (value: number) => (n: NodeContext) => {
  const x = n.tensor(0);
  return ir.full(x.shape, value, x.dtype);
};
const all = (value: number) => (n: NodeContext) => ir.full(n.dims(0), value, dtypeAt(n, "T"));

function linSpace(n: NodeContext): Tensor {
  const [start, stop] = [0, 1].map((i) => ir.reshape(asFloat(n.tensor(i)), [])) as [Tensor, Tensor];
  const count = n.dims(2)[0]!;
  if (count === 1) return ir.reshape(start, [1]);
  const step = stop.sub(start).div(ir.dimValue(ir.subDim(count, 1), "f32"));
  return start.add(step.mul(ir.iota([count], 0, "f32")));
}

function oneHot(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const given = n.int("axis", -1);
  const at = given < 0 ? x.rank + 1 + given : given;
  // By places and not by indices, of which negative ones would count from the end.
  const shape: Dim[] = [...x.shape.slice(0, at), n.dims(1)[0]!, ...x.shape.slice(at)];
  const on = ir.equal(ir.expandDims(x, at), ir.iota(shape, at, x.dtype === "f32" ? "f32" : "i32"));
  const [yes, no] = [2, 3].map((i) => ir.broadcastTo(ir.reshape(n.tensor(i), []), shape));
  return ir.select(on, yes!, no!);
}

/** Bounds by which the numbers are kept, in as many steps as the bits have; a = 0 is a step. */
function fakeQuantised(n: NodeContext): Tensor {
  const x = asFloat(n.tensor(0));
  const bits = n.int("num_bits", 8);
  if (!(bits >= 2 && bits <= 16)) n.fail(`num_bits is ${bits}, not 2 to 16`);
  const low = n.flag("narrow_range") ? 1 : 0;
  const high = 2 ** bits - 1;
  const bound = (i: number, name: string, otherwise: number) =>
    n.has(i) ? asFloat(n.tensor(i)) : ir.constant(n.float(name, otherwise));
  const [min, max] = [bound(1, "min", -6), bound(2, "max", 6)];
  const scale = max.sub(min).div(high - low);
  const zero = ir.clamp(ir.round(ir.sub(low, min.div(scale))), low, high);
  const [least, most] = [ir.sub(low, zero).mul(scale), ir.sub(high, zero).mul(scale)];
  const inside = ir.minimum(ir.maximum(x, least), most);
  const steps = ir.floor(inside.sub(least).div(scale).add(0.5));
  return steps.mul(scale).add(least);
}

/** Drawn anew in each run where no seed is given. */
const drawn =
  (op: string, attributes: (n: NodeContext) => Record<string, number>) => (n: NodeContext) => {
    const shape = asValue(ir.zeros(n.dims(0), "f32"));
    const how = Object.entries(attributes(n)).map(([name, value]) => [
      name,
      { kind: "float", value },
    ]);
    const y = standard(n, op, [shape], Object.fromEntries(how))[0]!;
    const dtype = dtypeAt(n, "dtype");
    return y.dtype === dtype ? y : y.convert(dtype);
  };

const identity = (n: NodeContext): Value => n.value(0);
const identities = (n: NodeContext): Value[] => range(n.count).map((i) => n.value(i));

/** Known where the operands are: numbers of shapes stay so. */
function numbersFrom(n: NodeContext): Tensor {
  const [start, stop, step] = [0, 1, 2].map((i) => asValue(ir.reshape(n.tensor(i), []))) as [
    Value,
    Value,
    Value,
  ];
  return standard(n, "Range", [start, stop, step])[0]!;
}

export const createRows: readonly Row[] = [
  tf("Fill", "", filled),
  tf("Zeros", "", all(0)),
  tf("Ones", "", all(1)),
  tf("ZerosLike", "", like(0)),
  tf("OnesLike", "", like(1)),
  tf("LinSpace", "", linSpace),
  tf("Range", "", numbersFrom),
  tf("OneHot", "axis", oneHot),
  tf("Shape", "", (n) => shapeOf(n.tensor(0))),
  tf("ShapeN", "", (n) => n.tensors().map(shapeOf)),
  tf("Size", "", (n) => ir.dimValue(ir.sizeOf(n.tensor(0).shape))),
  tf("Rank", "", (n) => ir.constant(n.tensor(0).rank, "i32")),
  tf(
    "RandomUniform",
    "seed seed2 minval maxval",
    drawn("RandomUniformLike", (n) => ({
      low: n.float("minval", 0),
      high: n.float("maxval", 1),
      ...(n.int("seed", 0) ? { seed: n.int("seed") } : {}),
    })),
  ),
  tf(
    "RandomStandardNormal",
    "seed seed2",
    drawn("RandomNormalLike", (n) => (n.int("seed", 0) ? { seed: n.int("seed") } : {})),
  ),
  ...alike(
    "FakeQuantWithMinMaxVars FakeQuantWithMinMaxArgs",
    "min max num_bits narrow_range",
    fakeQuantised,
  ),
  ...alike(
    "Identity Snapshot StopGradient PreventGradient CheckNumerics PlaceholderWithDefault",
    "message",
    identity,
  ),
  tf("Print", "message first_n summarize", identity, "Prints nothing."),
  tf("IdentityN", "", identities),
];
