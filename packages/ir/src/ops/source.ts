/**
 * Sources: nodes that bring values into a graph. Inputs, parameters and data are unique nodes, told
 * apart by identity; constants, iota and random bits are interned like every other node. Data live
 * beside the graph in weak maps, so that a node stays small and printable.
 */

import { isOp } from "../attributes.ts";
import { type Dim, dim, printDim } from "../dim.ts";
import { type Dtype, isDtype, isFloat, roundTo } from "../dtype.ts";
import { checkOptions, DtypeError, GraphError, type OptionNames, ShapeError } from "../errors.ts";
import {
  allocateHost,
  dtypeOfArray,
  flattenNested,
  type HostArray,
  type HostValues,
  isTypedArray,
  listToHost,
  storedForm,
} from "../host.ts";
import { checkExtents, checkList, kindOf } from "../kind.ts";
import { makeNode, makeUnique, type ResultType, Tensor } from "../node.ts";
import { defineOp, type OpRecord } from "../op.ts";
import { parseDim } from "../scan.ts";
import { checkAxis, checkNumbers, checkShape, printShape, type Shape } from "../shape.ts";
import { currentValue } from "../trace.ts";

/**
 * An extent as a user writes it: a number, a dim, the name of a symbol (`"N"` is at least 1,
 * `"N>=0"` may be 0), or `2*N+1` as messages have it.
 */
export type Extent = Dim | string;

export function toShape(shape: readonly Extent[]): Shape {
  checkList("shape", "the extents", shape);
  const dims = shape.map((d) => (typeof d === "string" ? namedDim(d) : d));
  checkExtents("shape", "the shape", dims);
  return dims;
}

/** `"N"`, `"N>=0"` with another least value, or a term of symbols. */
function namedDim(text: string): Dim {
  const [name, least] = text.split(">=").map((part) => part.trim());
  if (least === undefined) return /^\w*$/.test(name!) ? dim(name!) : parseDim(name!);
  if (!/^\d+$/.test(least))
    throw new ShapeError(`dim: "${text}" does not say from which number on: "${name}>=0"`);
  return dim(name!, { min: Number(least) });
}

function declared(op: string, node: ResultType | undefined): ResultType {
  if (!node) throw new GraphError(`${op}: a ${op} has no type of its own; it must be declared`);
  if (!isDtype(node.dtype)) throw new DtypeError(`${op}: unknown dtype ${String(node.dtype)}`);
  checkNumbers(op, node.shape);
  return node;
}

const source = (name: string, more: Partial<OpRecord> = {}): OpRecord =>
  defineOp({
    name,
    family: "source",
    infer: (operands, _attrs, node) => {
      if (operands.length)
        throw new GraphError(`${name}: takes no operands, got ${operands.length}`);
      return declared(name, node);
    },
    vjp: () => [],
    ...more,
  });

const sizeOfValue = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

export const inputRecord: OpRecord = source("input");
export const paramRecord: OpRecord = source("param");
export const dataRecord: OpRecord = source("data");

/**
 * A tensor that is given at each run, which `compile` makes of its arguments. Throws DtypeError for
 * an unknown dtype. `keras.Input`.
 *
 * @param name What a feed calls it.
 * @param dtype The dtype of the result.
 * @param shape Numbers and names of symbols; a scalar by default.
 * @example
 *   const x = input("x", "f32", ["N", 784]);
 *   x.dtype // "f32"
 *   printShape(x.shape) // "[N,784]"
 */
export function input(name: string, dtype: Dtype, shape: readonly Extent[] = []): Tensor {
  const type = declared("input", { dtype, shape: toShape(shape) });
  return makeUnique({ op: "input", operands: [], attrs: { name }, ...type });
}

const payloads = new WeakMap<Tensor, HostArray>();
const initial = new WeakMap<Tensor, Tensor>();
let anonymous = 0;

export interface TensorOptions {
  /** f32 of lists of numbers and bool of booleans by default; that of a typed array. */
  readonly dtype?: Dtype;
  /** Of a typed array; one axis by default. */
  readonly shape?: readonly number[];
}

const tensorOptions: OptionNames<TensorOptions> = { dtype: 1, shape: 1 };

/**
 * A tensor with known values: nested lists or a typed array, which is copied.
 *
 * Lists of numbers are f32 and of booleans bool unless `dtype` says otherwise; a typed array gives
 * its own. A Uint16Array is the bits of halves where `dtype` is f16 or bf16, as `data()` gives
 * them; a Float16Array is f16.
 *
 * Throws ShapeError if lists are ragged or `shape` has another number of elements. `torch.tensor`.
 *
 * @example
 *   tensor([[1, 2], [3, 4]]).shape // [2, 2]
 *   tensor([true, false]).dtype // "bool"
 *   tensor(Int32Array.of(1, 2, 3, 4), { shape: [2, 2] }) // [[1, 2], [3, 4]]
 */
export function tensor(values: HostValues, options: TensorOptions = {}): Tensor {
  checkOptions("tensor", options, tensorOptions);
  if (isTypedArray(values)) {
    const dtype = options.dtype ?? dtypeOfArray(values)!;
    return sized(dtype, options.shape ?? [values.length], storedForm(dtype, values));
  }
  const { shape, flat, dtype: own } = flattenNested(values);
  const dtype = options.dtype ?? own ?? (typeof flat[0] === "boolean" ? "bool" : "f32");
  return sized(dtype, options.shape ?? shape, listToHost("tensor: elements", dtype, flat));
}

function sized(dtype: Dtype, shape: readonly number[], stored: HostArray): Tensor {
  if (sizeOfValue(shape) !== stored.length)
    throw new ShapeError(
      `tensor: ${printShape(shape)} has ${sizeOfValue(shape)} elements, the values are ${stored.length}\n  give a shape of as many elements`,
    );
  return dataLeaf(dtype, shape, stored);
}

/** A data leaf over an array that is already in storage form; the array is kept, not copied. */
export function dataLeaf(dtype: Dtype, shape: readonly number[], stored: HostArray): Tensor {
  const form = allocateHost(dtype, 0);
  if (form.constructor !== stored.constructor)
    throw new DtypeError(
      `data: ${dtype} is stored in ${form.constructor.name}, got ${stored.constructor.name}`,
    );
  const type = declared("data", { dtype, shape });
  const leaf = makeUnique({ op: "data", operands: [], attrs: {}, ...type });
  payloads.set(leaf, stored);
  return leaf;
}

/** Data leaves that are 0 everywhere. */
const zeroed = new WeakSet<Tensor>();

/** A data leaf of zeros, which takes no memory: whoever reads them gets an array of their own. */
export function zerosLeaf(dtype: Dtype, shape: readonly number[]): Tensor {
  const leaf = declareData(dtype, shape);
  zeroed.add(leaf);
  return leaf;
}

/** The values of a data leaf, in the storage form of its dtype. */
export function hostDataOf(leaf: Tensor): HostArray {
  if (zeroed.has(leaf)) return allocateHost(leaf.dtype, sizeOfValue(leaf.shape as number[]));
  const stored = payloads.get(leaf);
  if (!stored)
    throw new GraphError(
      `data: ${leaf.op} node holds no host data\n  only tensor(…) has values before a run: await x.data() reads others`,
    );
  return stored;
}

/** Whether a data leaf has its values; one read from text may lack them. */
export const hasHostData = (leaf: Tensor): boolean => payloads.has(leaf) || zeroed.has(leaf);

/** A data leaf of which only the type is known; reading its values is an error. */
export function declareData(dtype: Dtype, shape: Shape): Tensor {
  const type = declared("data", { dtype, shape });
  return makeUnique({ op: "data", operands: [], attrs: {}, ...type });
}

export interface ParamOptions extends TensorOptions {
  /** In files and printing; made up by default. */
  readonly name?: string;
  /** Whether modules give it to optimizers; true by default. */
  readonly trainable?: boolean;
}

const paramOptions: OptionNames<ParamOptions> = { ...tensorOptions, name: 1, trainable: 1 };

/**
 * State that lives between runs. `init` is host data or an expression that computes the first
 * value. `torch.nn.Parameter`.
 * @example
 *   const w = param([1, 2], { name: "w" });
 *   const step = compile((x) => { assign(w, w.add(x)); });
 *   await step([10, 10]);
 *   w // [11, 12]
 */
export function param(init: Tensor | HostValues, options: ParamOptions = {}): Tensor {
  checkOptions("param", options, paramOptions);
  const { name = `param${anonymous++}`, trainable = true, ...form } = options;
  const first = init instanceof Tensor ? init : tensor(init, form);
  for (const d of first.shape)
    if (typeof d !== "number")
      throw new ShapeError(
        `param: ${name} has the symbolic extent ${printDim(d)}\n  give numbers: the shape of a parameter is fixed`,
      );
  if (trainable && !isFloat(first.dtype) && options.trainable === true)
    throw new DtypeError(
      `param: ${name} is ${first.dtype} and cannot be trainable\n  pass { trainable: false }, or make it f32`,
    );
  const leaf = declareParam(name, first.dtype, first.shape, trainable && isFloat(first.dtype));
  initial.set(leaf, first);
  return leaf;
}

/** A parameter without a first value, as the parser and artifacts make it. */
export function declareParam(name: string, dtype: Dtype, shape: Shape, trainable: boolean): Tensor {
  const type = declared("param", { dtype, shape });
  const leaf = makeUnique({ op: "param", operands: [], attrs: { name, trainable }, ...type });
  return Object.defineProperty(leaf, "structuredClone", refused);
}

/**
 * A field of a parameter that structuredClone, which copies no functions, comes upon, in a module
 * too: the error shows its text. A copy would be a record of numbers without methods, which no
 * function takes.
 */
const refused: PropertyDescriptor = {
  enumerable: true,
  value: () => "a parameter or module: make a second module, and call load(first.weights) on it;",
};

/** The expression or data leaf that gives a parameter its first value. */
export function initialValueOf(leaf: Tensor): Tensor {
  const value = initial.get(leaf);
  if (!value) throw new GraphError(`param: ${String(leaf.attrs.name)} has no initial value`);
  return value;
}

export const constantRecord: OpRecord = source("constant", {
  infer: (_operands, attrs, node) => {
    const type = declared("constant", node);
    if (typeof attrs.value !== "number" || type.shape.length)
      throw new GraphError(`constant: must be one number of rank 0, got ${printShape(type.shape)}`);
    return type;
  },
});

/**
 * One number, rounded to the dtype; rank 0. `torch.scalar_tensor`.
 *
 * @param value The number.
 * @param dtype The dtype of the result.
 * @example
 *   constant(2.5) // 2.5
 *   constant(true, "bool") // true
 */
export function constant(value: number | boolean, dtype: Dtype = "f32"): Tensor {
  return makeNode({
    op: "constant",
    operands: [],
    attrs: { value: roundTo(dtype, Number(value)) },
    dtype,
    shape: [],
  });
}

/** The value of a constant node; undefined for any other. */
export const constantValueOf = (t: Tensor): number | undefined =>
  isOp(t, "constant") ? t.attrs.value : undefined;

export const iotaRecord: OpRecord = source("iota", {
  infer: (_operands, attrs, node) => {
    const type = declared("iota", node);
    checkAxis("iota", Number(attrs.axis), type.shape.length);
    if (type.dtype === "bool")
      throw new DtypeError('iota: bool does not count\n  take "i32", and compare');
    return type;
  },
});

/**
 * result[i₀, …] = i_axis. `jax.lax.broadcasted_iota`.
 *
 * @param shape The shape of the result; extents may be symbolic.
 * @param axis The axis that counts.
 * @param dtype The dtype of the result.
 * @example
 *   iota([3]) // [0, 1, 2]
 *   iota([2, 2], 0) // [[0, 0], [1, 1]]
 */
export function iota(shape: readonly Extent[], axis = 0, dtype: Dtype = "i32"): Tensor {
  const to = toShape(shape);
  checkShape("iota", to);
  const attrs = { axis: checkAxis("iota", axis, to.length) };
  const type = iotaRecord.infer([], attrs, { dtype, shape: to });
  return makeNode({ op: "iota", operands: [], attrs, ...type });
}

const rotated = (y: number, by: number): number => (y << by) | (y >>> (32 - by));

/**
 * 20 rounds of Threefry-2x32: the block cipher of Salmon, Moraes, Dror & Shaw 2011 (SC11) with its
 * rotation constants and key schedule parity 0x1bd11bda. Returns both words.
 */
export function threefry2x32(k0: number, k1: number, c0: number, c1: number): [number, number] {
  // No arrays: first values of a large model are millions of calls.
  let a = k0 | 0;
  let b = k1 | 0;
  let c = k0 ^ k1 ^ 0x1bd11bda;
  let x = (c0 + a) | 0;
  let y = (c1 + b) | 0;
  for (let block = 0; block < 5; block++) {
    const odd = (block & 1) === 1;
    x = (x + y) | 0;
    y = rotated(y, odd ? 17 : 13) ^ x;
    x = (x + y) | 0;
    y = rotated(y, odd ? 29 : 15) ^ x;
    x = (x + y) | 0;
    y = rotated(y, odd ? 16 : 26) ^ x;
    x = (x + y) | 0;
    y = rotated(y, odd ? 24 : 6) ^ x;
    x = (x + b) | 0;
    y = (y + c + block + 1) | 0;
    const first = a;
    a = b;
    b = c;
    c = first;
  }
  return [x >>> 0, y >>> 0];
}

export const randomBitsRecord: OpRecord = defineOp({
  name: "randomBits",
  family: "source",
  infer: ([key], _attrs, node) => {
    if (key?.dtype !== "u32" || key.rank !== 1 || key.shape[0] !== 2)
      throw new ShapeError(
        `randomBits: key must be u32[2], got ${key?.dtype}${printShape(key?.shape ?? [])}\n  take a key from random.key(seed) or random.split(key)`,
      );
    const { shape } = declared("randomBits", node);
    checkShape("randomBits", shape);
    return { dtype: "u32", shape };
  },
  vjp: () => [undefined],
});

/**
 * Element i (row-major) is the first word of threefry2x32(key, counter (i, 0)). key: u32[2] →
 * u32[shape]. `jax.random.bits`.
 *
 * @param shape The shape of the result; extents may be symbolic.
 * @example
 *   randomBits(random.key(0), [2]).dtype // "u32"
 */
export function randomBits(key: Tensor, shape: readonly Extent[]): Tensor {
  if (!(key instanceof Tensor))
    throw new DtypeError(`randomBits: key must be a tensor, got ${kindOf(key)}`);
  const operands = [currentValue(key)];
  const type = randomBitsRecord.infer(operands, {}, { dtype: "u32", shape: toShape(shape) });
  return makeNode({ op: "randomBits", operands, attrs: {}, ...type });
}
