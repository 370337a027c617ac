/**
 * Ops that make tensors of positions: Range, EyeLike, OneHot, Trilu; and ReverseSequence, which reads by computed places.
 */
import {
  ceilDiv,
  checkAxis,
  convert,
  type Dim,
  dimValue,
  expandDims,
  gather,
  iota,
  isInteger,
  isStatic,
  maxDim,
  negDim,
  reshape,
  select,
  sliceAxis,
  subDim,
  type Tensor,
  transpose,
  tril,
  triu,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { dtypeOf } from "../element.ts";
import { type ElementType, elementTypes } from "../proto/model.ts";
import { type Row, row } from "../row.ts";
import { typed } from "../value.ts";
import { scalar } from "./shape.ts";

/** The type that an attribute of TensorProto.DataType names. */
export const elementTypeAt = (n: NodeContext, code: number): ElementType =>
  elementTypes[code - 1] ?? n.fail(`element type ${code} does not exist`);

/** start, start + delta, … before limit. Floats are counted by their values, which must be known. */
function range(n: NodeContext): Tensor {
  const start = scalar(n, 0);
  const [delta] = n.numbers(2) as [number];
  if (delta === 0) n.fail("delta is 0");
  const span = isInteger(start.dtype)
    ? subDim(n.dims(1)[0]!, n.dims(0)[0]!)
    : n.number(1) - n.number(0);
  const count: Dim = isStatic(span)
    ? Math.max(0, Math.ceil(span / delta))
    : maxDim(delta > 0 ? ceilDiv(span, delta) : ceilDiv(negDim(span), -delta), 0);
  const steps = iota([count], 0, start.dtype);
  return start.add(delta === 1 ? steps : steps.mul(scalar(n, 2)));
}

function eyeLike(n: NodeContext): Result {
  const x = n.tensor(0);
  if (x.rank !== 2) n.fail(`input 0 has rank ${x.rank}, not 2`);
  const type = n.hasAttribute("dtype") ? elementTypeAt(n, n.int("dtype")) : n.type(0);
  const diagonal = iota(x.shape, 1).sub(iota(x.shape, 0)).equal(n.int("k", 0));
  return typed(convert(diagonal, dtypeOf(type)), type);
}

/** Indices from −depth to depth − 1; others are off everywhere. */
function oneHot(n: NodeContext): Result {
  const given = convert(n.tensor(0), "i32");
  const depth = n.dims(1)[0]!;
  const values = n.tensor(2);
  const axis = n.int("axis", -1);
  const at = axis < 0 ? axis + given.rank + 1 : axis;
  const index = select(given.less(0), given.add(dimValue(depth)), given);
  const shape = [...given.shape.slice(0, at), depth, ...given.shape.slice(at)];
  const on = expandDims(index, at).equal(iota(shape, at));
  const value = (i: number) => reshape(sliceAxis(values, 0, i, i + 1), []);
  return typed(select(on, value(1), value(0)), n.type(2));
}

/** Elements on one side of the k-th diagonal, which may be computed. */
function triangle(n: NodeContext): Tensor {
  const k = n.has(1) ? scalar(n, 1) : 0;
  return (n.flag("upper", true) ? triu : tril)(n.tensor(0), k);
}

/** Of each sequence the first `length` elements in reverse order. */
function reverseSequence(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const batch = checkAxis("reverseSequence", n.int("batch_axis", 1), x.rank);
  const time = checkAxis("reverseSequence", n.int("time_axis", 0), x.rank);
  const shape = [x.shape[batch]!, x.shape[time]!];
  const length = expandDims(n.tensor(1), 1);
  const t = iota(shape, 1);
  const place = select(t.less(length), length.sub(1).sub(t), t);
  const y = gather(x, [iota(shape, 0), place], [batch, time]);
  const rest = x.shape.flatMap((_, i) => (i === batch || i === time ? [] : [i]));
  const axes = [batch, time, ...rest];
  return transpose(
    y,
    x.shape.map((_, i) => axes.indexOf(i)),
  );
}

export const generateRows: readonly Row[] = [
  row("Range", range),
  row("EyeLike", eyeLike),
  row("OneHot", oneHot),
  row("Trilu", triangle),
  row("ReverseSequence", reverseSequence),
];
