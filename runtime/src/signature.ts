/**
 * Checks what a caller passes against a signature: counts, dtypes, shapes, and the values of the
 * symbolic dims, which the shapes of the inputs give. Touches no memory.
 */
import {
  type Artifact,
  ArtifactError,
  DtypeError,
  dimsOf,
  type Extent,
  evaluateExtent,
  printShape,
  ShapeError,
} from "@kiln-ml/artifact";
import { DeviceArray } from "./device-array.ts";
import { checkHostArray, hostArrayOf, sizeOf, type TypedArray } from "./host-array.ts";

type Signature = Artifact["signature"];
type Spec = Signature["inputs"][number];

/** A host array with its shape; a bare typed array is enough where its length tells the shape. */
export interface HostTensor {
  readonly data: TypedArray;
  readonly shape: readonly number[];
}

export type Input = DeviceArray | TypedArray | HostTensor;

interface Binding {
  readonly value: number;
  readonly from: string;
}

/** Of the inputs of a call, the shape of each, or the length where there was no shape. */
export type Extents = readonly (readonly number[] | number)[];

export const extentsOf = (inputs: readonly Input[]): Extents =>
  inputs.map((x) =>
    x instanceof DeviceArray ? x.shape : (shapeOf(x)?.slice() ?? (x as TypedArray).length),
  );

/**
 * True if the inputs are like those of a call that fitted in all that was checked, and so fit as
 * they did.
 */
export const repeats = (
  extents: Extents,
  { inputs: specs }: Signature,
  inputs: readonly Input[],
): boolean =>
  inputs.length === extents.length &&
  inputs.every((x, i) => isLike(x, extents[i]!, specs[i]!.dtype));

function isLike(input: Input, extent: readonly number[] | number, dtype: Spec["dtype"]): boolean {
  const Host = hostArrayOf(dtype);
  if (typeof extent === "number") return input instanceof Host && input.length === extent;
  const shape = input && shapeOf(input);
  if (shape !== extent)
    if (shape?.length !== extent.length || shape.some((d, i) => d !== extent[i])) return false;
  if (input instanceof DeviceArray) return input.dtype === dtype;
  const { data } = input as HostTensor;
  return data instanceof Host && data.length === sizeOf(extent);
}

const describe = (spec: Spec) => `input ${spec.name} ${printShape(spec.shape)}`;

/**
 * The values of the signature's dims. Throws ShapeError or DtypeError naming the input that does
 * not fit.
 */
export function bindDims(signature: Signature, inputs: readonly Input[]): Record<string, number> {
  const specs = signature.inputs;
  if (inputs.length !== specs.length)
    throw new ShapeError(
      `run: program takes ${specs.length} inputs (${specs.map((s) => s.name).join(", ")}), got ${inputs.length}\n  pass one for each, in that order`,
    );
  const bound = new Map<string, Binding>();
  specs.forEach((spec, i) => {
    checkDtype(spec, inputs[i]!);
    const shape = shapeOf(inputs[i]!);
    if (shape) bindShape(spec, shape, bound);
  });
  specs.forEach((spec, i) => {
    const shape = shapeOf(inputs[i]!);
    if (shape) bindMultiples(spec, shape, bound);
  });
  // Bare host arrays last: their length tells one dim, and only once the others are known.
  specs.forEach((spec, i) => {
    const input = inputs[i]!;
    if (!shapeOf(input)) bindLength(spec, (input as TypedArray).length, bound);
  });
  const dims: Record<string, number> = {};
  for (const dim of signature.dims)
    dims[dim.name] = checkBounds(dim, bound.get(dim.name), signature.requirements);
  checkRequirements(signature.requirements, dims, bound);
  specs.forEach((spec, i) => {
    checkInput(spec, inputs[i]!, dims);
  });
  return dims;
}

const shapeOf = (input: Input): readonly number[] | null => ("shape" in input ? input.shape : null);

function checkDtype(spec: Spec, input: Input): void {
  if (input instanceof DeviceArray) {
    if (input.dtype !== spec.dtype)
      throw new DtypeError(
        `run: input ${spec.name} must be ${spec.dtype}, got ${input.dtype}\n  convert it, or declare that dtype in inputs`,
      );
    return;
  }
  const array = typeof input === "object" && input && "shape" in input ? input.data : input;
  checkHostArray(`run: input ${spec.name}`, array, spec.dtype);
}

/** e as scale·name + offset, if it is that; a number has scale 0. */
function linear(e: Extent): { name?: string; scale: number; offset: number } | undefined {
  if (typeof e === "number") return { scale: 0, offset: e };
  if (typeof e === "string") return { name: e, scale: 1, offset: 0 };
  const [a, b] = [linear(e[1]), linear(e[2])];
  if (!a || !b || (a.scale && b.scale)) return undefined;
  const [x, k] = a.scale ? [a, b.offset] : [b, a.offset];
  if (e[0] === "+") return { ...x, offset: x.offset + k };
  return e[0] === "*" ? { ...x, scale: x.scale * k, offset: x.offset * k } : undefined;
}

/**
 * Symbols that stand alone take the extent they meet; all other axes are checked once every dim is
 * known.
 */
function bindShape(spec: Spec, shape: readonly number[], bound: Map<string, Binding>): void {
  if (shape.length !== spec.shape.length) throw misfit(spec, shape);
  spec.shape.forEach((e, axis) => {
    if (typeof e !== "string") return;
    const value = shape[axis]!;
    const earlier = bound.get(e);
    if (!earlier) bound.set(e, { value, from: describe(spec) });
    else if (earlier.value !== value)
      throw new ShapeError(
        `run: dim ${e} is ${earlier.value} in ${earlier.from} and ${value} in ${describe(spec)}\n  pass inputs that agree on it`,
      );
  });
}

/**
 * Symbols that stand alone nowhere take the value that a multiple of them, plus a constant, tells.
 */
function bindMultiples(spec: Spec, shape: readonly number[], bound: Map<string, Binding>): void {
  spec.shape.forEach((e, axis) => {
    const { name, scale, offset } = linear(e) ?? { scale: 0, offset: 0 };
    if (!name || scale < 1 || bound.has(name)) return;
    const value = (shape[axis]! - offset) / scale;
    if (!Number.isInteger(value)) throw misfit(spec, shape);
    bound.set(name, { value, from: describe(spec) });
  });
}

function bindLength(spec: Spec, length: number, bound: Map<string, Binding>): void {
  const open = spec.shape.filter((e) => typeof e === "string" && !bound.has(e)) as string[];
  if (open.length === 0) return;
  const known = Object.fromEntries([...bound].map(([name, b]) => [name, b.value]));
  const rest = spec.shape
    .filter((e) => e !== open[0])
    .reduce<number>((n, e) => n * (isOpen(e, bound) ? Number.NaN : evaluateExtent(e, known)), 1);
  const value = length / rest;
  if (open.length > 1 || !Number.isInteger(value))
    throw new ShapeError(
      `run: ${describe(spec)} does not follow from a host array of ${length} elements\n  pass { data, shape }`,
    );
  bound.set(open[0]!, { value, from: describe(spec) });
}

function isOpen(e: Extent, bound: ReadonlyMap<string, Binding>): boolean {
  if (typeof e === "number") return false;
  if (typeof e === "string") return !bound.has(e);
  return isOpen(e[1], bound) || isOpen(e[2], bound);
}

type Requirements = Signature["requirements"];

function checkBounds(
  dim: Signature["dims"][number],
  binding: Binding | undefined,
  requirements: Requirements = [],
): number {
  if (!binding)
    throw new ArtifactError(
      `run: dim ${dim.name} is the extent of no input\n  compile it again: the artifact is damaged`,
    );
  const { value, from } = binding;
  if (value >= dim.min && (dim.max === null || value <= dim.max)) return value;
  const range = dim.max === null ? `at least ${dim.min}` : `between ${dim.min} and ${dim.max}`;
  const cause = requirements.find(
    (r) => isOf(r.value, dim.name) && evaluateExtent(r.value, { [dim.name]: value }) < 0,
  );
  const why =
    cause?.text.split("\n", 1)[0] ??
    "pass an extent of that range, or declare the dim with other bounds and compile again";
  throw new ShapeError(`run: dim ${dim.name} must be ${range}, is ${value} in ${from}\n  ${why}`);
}

const isOf = (e: Extent, name: string): boolean => {
  const names = dimsOf(e);
  return names.size === 1 && names.has(name);
};

/** What no range of one dim tells. */
function checkRequirements(
  requirements: Requirements = [],
  dims: Readonly<Record<string, number>>,
  bound: ReadonlyMap<string, Binding>,
): void {
  for (const { value, text } of requirements) {
    if (evaluateExtent(value, dims) >= 0) continue;
    const [what, ...repair] = text.split("\n");
    const where = [...dimsOf(value)].map((name) => {
      const { value: n, from } = bound.get(name)!;
      return `${name} is ${n} in ${from}`;
    });
    throw new ShapeError([`run: ${what}: ${where.join(", ")}`, ...repair].join("\n"));
  }
}

function checkInput(spec: Spec, input: Input, dims: Readonly<Record<string, number>>): void {
  const shape = shapeOf(input);
  const want = spec.shape.map((e) => evaluateExtent(e, dims));
  if (shape?.some((d, axis) => d !== want[axis])) throw misfit(spec, shape, want);
  if (input instanceof DeviceArray) return;
  const length = "shape" in input ? input.data.length : input.length;
  if (length !== sizeOf(want))
    throw new ShapeError(
      `run: ${describe(spec)} has ${sizeOf(want)} elements, the host array ${length}\n  pass { data, shape } with as many elements`,
    );
}

function misfit(spec: Spec, shape: readonly number[], want?: readonly number[]): ShapeError {
  const symbolic = want && spec.shape.some((e) => typeof e !== "number");
  const here = symbolic ? ` = [${want}]` : "";
  return new ShapeError(
    `run: input ${spec.name} must have shape ${printShape(spec.shape)}${here}, got [${shape}]\n  reshape it, or declare that axis as a symbol and compile again`,
  );
}
