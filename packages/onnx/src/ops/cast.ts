/**
 * Changes of element type. Floats lose their fraction on the way to integers, integers keep their low bits; there is no saturation,
 * because no type is held that ONNX saturates to.
 */
import { bitcast, convert, isFloat, type Tensor } from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { dtypeOf, narrowRange } from "../element.ts";
import { type ElementType, elementTypes } from "../proto/model.ts";
import { type Row, row } from "../row.ts";
import { type TensorValue, typed } from "../value.ts";
import { wrapped } from "../wrap.ts";

/** The element type with this number in a file. */
export function elementTypeAt(n: NodeContext, number: number): ElementType {
  return elementTypes[number - 1] ?? n.fail(`there is no element type ${number}`);
}

/** The values of `x` in another element type. Throws DtypeError for a type that cannot be held. */
export function castTo(x: TensorValue, type: ElementType): TensorValue {
  if (x.type === type) return x;
  const dtype = dtypeOf(type);
  const { tensor } = x;
  if (!narrowRange[type]) return typed(convert(tensor, dtype), type);
  const whole = isFloat(tensor.dtype) || tensor.dtype === "bool" ? convert(tensor, "i32") : tensor;
  return typed(convert(wrapped(convert(whole, "i32"), type), dtype), type);
}

/** Before opset 6 the type is a name. */
function castType(n: NodeContext): ElementType {
  const to = n.attribute("to");
  if (to?.kind !== "string") return elementTypeAt(n, n.int("to"));
  const name = to.value.toLowerCase();
  const type = name === "float" ? "float32" : name === "double" ? "float64" : name;
  return elementTypes.find((t) => t === type) ?? n.fail(`there is no element type ${to.value}`);
}

const bitsOf = (type: ElementType): number =>
  type === "bool" ? 8 : Number(/\d+/.exec(type)?.[0] ?? 0);

/** The same bits in another type of the same size, of those whose bits are held. */
function bitCast(n: NodeContext): TensorValue {
  const x = n.typed(0);
  const type = elementTypeAt(n, n.int("to"));
  if (bitsOf(x.type) !== bitsOf(type))
    return n.fail(`${x.type} and ${type} have different numbers of bits`);
  const dtype = dtypeOf(type);
  const isNumber = (t: ElementType) => t !== "bool" && !/float/.test(t);
  if (x.type === type) return x;
  // Integers of 16 and of 64 bits are held in 32, so that their bits are those of their values only.
  if ((isNumber(x.type) && isNumber(type)) || x.type === "bool") return castTo(x, type);
  if (bitsOf(type) !== 32) return n.fail(`the bits of ${x.type} are not those of ${type} here`);
  return typed(bitcast(x.tensor, dtype), type);
}

const castLike = (n: NodeContext): TensorValue => castTo(n.typed(0), n.type(1));

/** The tensor in a type that the row has computed. */
export const inType = (t: Tensor, type: ElementType): TensorValue =>
  typed(convert(t, dtypeOf(type)), type);

export const castRows: readonly Row[] = [
  row("Cast", (n) => castTo(n.typed(0), castType(n)), {
    note: "No strings, 8-bit floats or 4-bit floats.",
  }),
  row("CastLike", castLike, { note: "As Cast." }),
  row("BitCast", bitCast, { note: "Between floats and integers of 32 bits only." }),
];
