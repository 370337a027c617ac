/**
 * Values that stand in the file, and values passed on as they are.
 */
import { full, type Tensor } from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import type { AttributeDef, TensorData, TensorDef } from "../proto/model.ts";
import { type Row, row } from "../row.ts";
import { type TensorValue, typed } from "../value.ts";

/** The tensor that a short attribute of Constant stands for, one object for each attribute, so that it is one leaf. */
const shortForms = new WeakMap<AttributeDef, TensorDef>();

/** The reader gives integers beyond 53 bits as that bound: they mean "no end". */
function integer(x: number): bigint {
  if (Math.abs(x) < Number.MAX_SAFE_INTEGER) return BigInt(x);
  return x < 0 ? -(2n ** 63n) : 2n ** 63n - 1n;
}

function shortForm(a: AttributeDef): TensorDef | undefined {
  const of = (type: TensorDef["type"], dims: number[], data: TensorData): TensorDef => ({
    name: "",
    type,
    dims,
    data,
  });
  switch (a.kind) {
    case "float":
      return of("float32", [], Float32Array.of(a.value));
    case "floats":
      return of("float32", [a.value.length], Float32Array.from(a.value));
    case "int":
      return of("int64", [], BigInt64Array.of(integer(a.value)));
    case "ints":
      return of("int64", [a.value.length], BigInt64Array.from(a.value, integer));
    case "string":
      return of("string", [], [a.value]);
    case "strings":
      return of("string", [a.value.length], a.value);
    default:
      return undefined;
  }
}

function constantValue(n: NodeContext): TensorValue {
  const tensor = n.attribute("value") ?? n.attribute("sparse_value");
  if (tensor?.kind === "tensor") return n.weight(tensor.value);
  for (const name of ["value_float", "value_floats", "value_int", "value_ints"] as const) {
    const found = n.attribute(name);
    // A float without a fraction, or an empty list, may have been written as the other kind.
    const attribute = found && fitted(found, name);
    if (attribute) return n.weight(remembered(found, attribute));
  }
  const text = n.attribute("value_string") ?? n.attribute("value_strings");
  if (text) return n.weight(remembered(text, text));
  return n.fail("has no value");
}

function fitted(a: AttributeDef, name: string): AttributeDef {
  const list = name.endsWith("s");
  const kind = name.slice("value_".length) as "float";
  if (list && a.kind === "other") return { kind: kind as never, value: [] as never };
  return { ...a, kind } as AttributeDef;
}

function remembered(key: AttributeDef, attribute: AttributeDef): TensorDef {
  let def = shortForms.get(key);
  if (!def) {
    def = shortForm(attribute)!;
    shortForms.set(key, def);
  }
  return def;
}

/** Float32 zero unless attribute `value`, of one element, says otherwise. */
function constantOfShape(n: NodeContext): TensorValue {
  const shape = n.dims(0);
  if (!n.hasAttribute("value")) return typed(full(shape, 0, "f32"), "float32");
  const def = n.tensorAttribute("value");
  const one = n.weight(def).tensor;
  if (def.data.length !== 1) return n.fail(`value has ${def.data.length} elements, not 1`);
  return typed(one.reshape([]).broadcastTo(shape), def.type);
}

/** The identity, since models are imported for inference; the mask is all true. */
function dropout(n: NodeContext): Result {
  const x = n.tensor(0);
  const training = n.opset >= 12 && n.has(2) && n.number(2) !== 0;
  const ratio = () => (n.has(1) ? n.number(1) : 0.5);
  if (training && ratio() !== 0)
    return n.fail("training mode with a ratio other than 0 is not supported");
  if (!n.wants(1)) return x;
  const mask: Tensor = full(x.shape, 1, n.opset >= 10 ? "bool" : x.dtype);
  return [x, mask];
}

export const constantRows: readonly Row[] = [
  row("Constant", constantValue, { note: "Strings only where nothing computes on them." }),
  row("ConstantOfShape", constantOfShape),
  row("Identity", (n) => n.value(0)),
  row("Dropout", dropout, { note: "Inference; in training mode only with ratio 0." }),
];
