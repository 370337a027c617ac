/**
 * Tensors of a program as values of a model and back: what does not fit the model is refused with ONNX Runtime's code before anything
 * runs. A tensor is whatever has a type, extents and data, so that those of another copy of this package, or of
 * `onnxruntime-common`, are taken.
 */
import type { OnnxTensor, OnnxValue } from "kiln-ml/onnx";
import {
  asBits,
  asResult,
  type ElementType,
  fitsSize,
  isElementType,
  type NumberArray,
  unpacked,
} from "./element-arrays.ts";
import { notRun, SessionError } from "./errors.ts";
import type { InferenceSession } from "./inference-session.ts";
import { Tensor } from "./tensor.ts";

/** An input or output as the file declares it; what it leaves open is undefined. */
export interface Declared {
  readonly name: string;
  readonly isTensor: boolean;
  readonly type?: ElementType | undefined;
  readonly shape?: readonly (number | string)[] | undefined;
}

export const metadataOf = ({
  name,
  isTensor,
  type,
  shape,
}: Declared): InferenceSession.ValueMetadata =>
  isTensor && type ? { name, isTensor, type, shape: shape ?? [] } : { name, isTensor: false };

/** As much of a tensor as is read. */
interface TensorLike {
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly location?: string;
  readonly data: NumberArray | readonly string[];
  getData?(): Promise<NumberArray | readonly string[]>;
}

const isTensorLike = (x: unknown): x is TensorLike =>
  typeof x === "object" &&
  x !== null &&
  "type" in x &&
  isElementType(x.type) &&
  "dims" in x &&
  Array.isArray(x.dims);

/** Types as ONNX Runtime's messages name them. */
const spelled = (type: string): string =>
  `tensor(${{ float32: "float", float64: "double" }[type] ?? type})`;

const refuse = (reason: string): never => {
  throw new SessionError(notRun, "INVALID_ARGUMENT", reason);
};

/** ONNX Runtime takes [1] where [] is declared, and programs give it. */
const isScalar = (dims: readonly number[], shape: readonly unknown[]): boolean =>
  shape.length === 0 && dims.every((d) => d === 1);

/** Refuses a tensor that is not as declared. `what` is "input" or "output". */
export function checkTensor(what: string, given: TensorLike, declared: Declared): void {
  const { name, type, shape } = declared;
  if (type && given.type !== type)
    refuse(
      `Unexpected ${what} data type. Actual: (${spelled(given.type)}) , expected: (${spelled(type)})\n  ${what} ${name} is ${type}`,
    );
  const { dims } = given;
  if (!shape || isScalar(dims, shape)) return;
  if (dims.length !== shape.length)
    refuse(
      `Invalid rank for ${what}: ${name} Got: ${dims.length} Expected: ${shape.length}\n  ${name} is [${shape}], got [${dims}]`,
    );
  const wrong = [...dims.entries()].filter(
    ([i, d]) => typeof shape[i] === "number" && shape[i] !== d,
  );
  if (wrong.length === 0) return;
  const list = wrong.map(([i, d]) => ` index: ${i} Got: ${d} Expected: ${shape[i]}`).join("\n");
  refuse(`Got invalid dimensions for ${what}: ${name} for the following indices\n${list}`);
}

type Elements = TensorLike["data"];

function elementsOf(name: string, tensor: TensorLike): Elements | Promise<Elements> {
  const { location = "cpu" } = tensor;
  if (location === "none") return refuse(`input ${name}: the tensor is disposed`);
  if (location.startsWith("cpu")) return tensor.data;
  if (!tensor.getData) return refuse(`input ${name}: a ${location} cannot be read`);
  return tensor.getData();
}

/** Up to so many bytes are copied whether or not somebody else's run comes first. */
const smallBytes = 2 ** 18;

function tensorOf(
  { name, shape }: Declared,
  given: TensorLike,
  data: Elements,
  own: boolean,
): OnnxTensor {
  const { type } = given;
  const dims = shape && isScalar(given.dims, shape) ? [] : given.dims;
  const size = dims.reduce((a, b) => a * b, 1);
  // A tensor may be changed after it was made.
  if (!fitsSize(type, data.length, size))
    return refuse(`input ${name} has dims [${dims}] and ${data.length} elements`);
  if (!ArrayBuffer.isView(data)) return { type, dims, data: data as readonly string[] };
  const bits = asBits(data as NumberArray);
  const plain = unpacked(type, bits, size);
  const copied = plain !== bits || !(own || bits.byteLength <= smallBytes);
  return { type, dims, data: (copied ? plain : plain.slice()) as never };
}

/**
 * A feed as a value: a tensor, a list of them for a sequence, null for an empty optional. Elements are read in the call where they are
 * at hand. `own` copies them, as small ones are anyway.
 */
export function feedValue(
  given: unknown,
  declared: Declared,
  own: boolean,
): OnnxValue | Promise<OnnxValue> {
  const { name } = declared;
  if (!declared.isTensor && given === null) return null;
  if (!declared.isTensor && Array.isArray(given))
    return Promise.all(given.map((x) => feedValue(x, declared, own)));
  if (!isTensorLike(given))
    throw new TypeError(`input '${name}' must be a Tensor: it has type, dims and data`);
  checkTensor("input", given, declared);
  const data = elementsOf(name, given);
  if (!(data instanceof Promise)) return tensorOf(declared, given, data, own);
  return data.then((elements) => tensorOf(declared, given, elements, own));
}

/** A result as a tensor, which owns its elements. */
export function resultOf(value: OnnxValue): unknown {
  if (value === null) return null;
  if (!("type" in value)) return value.map(resultOf);
  const { type, dims, data } = value;
  if (!isElementType(type))
    throw new SessionError(notRun, "NOT_IMPLEMENTED", `outputs of type ${type} have no tensor`);
  if (Array.isArray(data)) return new Tensor("string", data, [...dims]);
  return new Tensor(type, asResult(type, data as NumberArray) as never, [...dims]);
}

/** Fills a tensor of the program's with a result. */
export function fill(name: string, target: unknown, result: Tensor): unknown {
  if (!isTensorLike(target)) throw new TypeError(`output '${name}' must be a Tensor or null`);
  const { location = "cpu" } = target;
  if (!location.startsWith("cpu"))
    throw new SessionError(
      notRun,
      "NOT_IMPLEMENTED",
      `output ${name} is wanted in a ${location}, and outputs are in the memory of the CPU`,
    );
  checkTensor("output", target, {
    name,
    isTensor: true,
    type: result.type,
    shape: result.dims,
  });
  const from = result.data;
  if (Array.isArray(from))
    for (const [i, text] of from.entries()) (target.data as string[])[i] = text;
  else (asBits(target.data as NumberArray) as Uint8Array).set(asBits(from) as Uint8Array);
  return target;
}
