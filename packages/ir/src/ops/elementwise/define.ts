/**
 * Makes an elementwise op from its facts: the record, its type rule, and the function a user calls. An op is
 * the function with its record attached.
 */
import { type Dtype, isFloat, isInteger } from "../../dtype.ts";
import { DtypeError, ShapeError } from "../../errors.ts";
import { makeNode, type Tensor } from "../../node.ts";
import { defineOp, type OpRecord } from "../../op.ts";
import { fullDtype } from "../../precision.ts";
import { printShape, sameShape } from "../../shape.ts";
import { asTensor, broadcastOperands, commonDtype, type Operand } from "../broadcast.ts";
import { convert } from "./convert.ts";

/** What an op computes on: floats only, numbers, integers, integers and bool, bool, or anything. */
export type Domain = "float" | "number" | "integer" | "bits" | "bool" | "any";

export interface Facts extends Omit<OpRecord, "name" | "family" | "infer"> {
  readonly on: Domain;
  /** The result is bool, whatever the operands are. */
  readonly test?: boolean;
  /** It loses too much, or overflows too soon, in half precision: `autocast` gives it f32. */
  readonly full?: boolean;
}

export interface Unary {
  (x: Operand): Tensor;
  readonly record: OpRecord;
}
export interface Binary {
  (x: Operand, y: Operand): Tensor;
  readonly record: OpRecord;
}

const holds: Record<Domain, (dtype: Dtype) => boolean> = {
  float: isFloat,
  number: (d) => d !== "bool",
  integer: isInteger,
  bits: (d) => !isFloat(d),
  bool: (d) => d === "bool",
  any: () => true,
};
const wanted: Record<Domain, string> = {
  float: "a float",
  number: "a number",
  integer: "an integer",
  bits: "an integer or bool",
  bool: "bool",
  any: "any dtype",
};

const wayOut: Record<Domain, string> = {
  float: 'convert them first: x.convert("f32")',
  number: 'convert them first: x.convert("i32")',
  integer: 'convert them first: x.convert("i32")',
  bits: 'convert them first, x.convert("i32"), or compare: x.greater(0)',
  bool: "compare first: x.notEqual(0)",
  any: "take a dtype of Kiln's",
};

function checkDtype(op: string, on: Domain, dtype: Dtype): void {
  if (!holds[on](dtype))
    throw new DtypeError(`${op}: operands must be ${wanted[on]}, got ${dtype}\n  ${wayOut[on]}`);
}

/** Where a call may still be made to fit: integers become f32 for a float op, bool becomes i32 for a number op. */
function admit({ on, full }: Facts, dtype: Dtype): Dtype {
  if (on === "float" && !isFloat(dtype)) return "f32";
  if ((on === "number" || on === "integer") && dtype === "bool") return "i32";
  return full ? fullDtype(dtype) : dtype;
}

function elementwise(
  name: string,
  arity: number,
  { on, test, full: _full, ...facts }: Facts,
): OpRecord {
  return defineOp({
    spell: (...args) => `${name}(${args.join(", ")})`,
    ...facts,
    name,
    family: "elementwise",
    infer(operands) {
      const [first] = operands;
      if (!first || operands.length !== arity)
        throw new ShapeError(`${name}: takes ${arity} operands, got ${operands.length}`);
      for (const x of operands) {
        checkDtype(name, on, x.dtype);
        if (!sameShape(x.shape, first.shape))
          throw new ShapeError(
            `${name}: shapes differ: ${printShape(first.shape)} and ${printShape(x.shape)}`,
          );
        if (x.dtype !== first.dtype)
          throw new DtypeError(`${name}: dtypes differ: ${first.dtype} and ${x.dtype}`);
      }
      return { dtype: test ? "bool" : first.dtype, shape: first.shape };
    },
  });
}

function attach<F extends object>(call: F, record: OpRecord): F & { readonly record: OpRecord } {
  Object.defineProperty(call, "name", { value: record.name });
  return Object.assign(call, { record });
}

export function unary(name: string, facts: Facts): Unary {
  const record = elementwise(name, 1, facts);
  const call = (x: Operand): Tensor => {
    const t = asTensor(x, undefined, name);
    const operands = [convert(t, admit(facts, t.dtype))];
    return makeNode({ op: name, operands, attrs: {}, ...record.infer(operands, {}) });
  };
  return attach(call, record);
}

export function binary(name: string, facts: Facts): Binary {
  const record = elementwise(name, 2, facts);
  const call = (x: Operand, y: Operand): Tensor => {
    const dtype = admit(facts, commonDtype([x, y]));
    checkDtype(name, facts.on, dtype);
    const operands = broadcastOperands(name, [x, y], dtype);
    return makeNode({ op: name, operands, attrs: {}, ...record.infer(operands, {}) });
  };
  return attach(call, record);
}
