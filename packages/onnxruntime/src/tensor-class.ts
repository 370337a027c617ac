/**
 * `Tensor`: elements with a type and extents, as programs make them and read results. Computes nothing. Whatever its data is made of, a
 * tensor's array is the caller's own where that holds the type already.
 */
import {
  type ArrayClass,
  classOf,
  type ElementType,
  fitsSize,
  holds,
  isElementType,
  type NumberArray,
  typeOfArray,
} from "./element-arrays.ts";
import { imageDataOf, imageUrlOf, pixelsOf } from "./image.ts";
import type { ConstructorParameters, DataLocation, ResourceOptions } from "./tensor.ts";

type Data = NumberArray | string[];
type Resource = "texture" | "gpuBuffer" | "mlTensor";

const resources: Readonly<Partial<Record<DataLocation, Resource>>> = {
  texture: "texture",
  "gpu-buffer": "gpuBuffer",
  "ml-tensor": "mlTensor",
};

const typesAt: Readonly<Partial<Record<DataLocation, readonly ElementType[]>>> = {
  texture: ["float32"],
  "gpu-buffer": [
    "float32",
    "float16",
    "int32",
    "int64",
    "uint32",
    "uint8",
    "bool",
    "uint4",
    "int4",
  ],
};

/** The number of elements. Throws TypeError or RangeError for what are no extents. */
function sizeOf(dims: readonly unknown[]): number {
  let size = 1;
  for (const [i, d] of dims.entries()) {
    if (typeof d !== "number" || !Number.isSafeInteger(d))
      throw new TypeError(`dims[${i}] must be an integer, got: ${String(d)}`);
    if (d < 0) throw new RangeError(`dims[${i}] must be a non-negative integer, got: ${d}`);
    size *= d;
  }
  return size;
}

/** Elements as the array of their type. Throws TypeError for data that cannot be. */
function arrayOf(type: unknown, data: unknown): { type: ElementType; data: Data } {
  if (!isElementType(type)) throw new TypeError(`Unsupported tensor type: ${String(type)}.`);
  if (type === "string") {
    if (!Array.isArray(data)) throw new TypeError("A string tensor's data must be a string array.");
    return { type, data: data as string[] };
  }
  const wanted = classOf(type) as ArrayClass;
  if (holds(type, data)) return { type, data };
  if (data instanceof Uint8ClampedArray && type === "uint8")
    return { type, data: new Uint8Array(data.buffer, data.byteOffset, data.length) };
  if (!Array.isArray(data))
    throw new TypeError(`A ${type} tensor's data must be type of ${wanted.name}`);
  if (type === "int4" || type === "uint4" || (type === "float16" && wanted.name === "Uint16Array"))
    throw new TypeError(
      `Creating a ${type} tensor from number array is not supported. Please use ${wanted.name} as data.`,
    );
  const wide = type === "int64" || type === "uint64";
  return { type, data: wide ? wanted.from(data, (x) => BigInt(x as number)) : wanted.from(data) };
}

/** The type of data that comes without one, and the array. */
function inferred(data: unknown): { type: ElementType; data: Data } {
  if (Array.isArray(data)) {
    const [first] = data;
    if (first === undefined)
      throw new TypeError("Tensor type cannot be inferred from an empty array.");
    if (typeof first === "string") return arrayOf("string", data);
    if (typeof first === "boolean") return { type: "bool", data: Uint8Array.from(data, Number) };
    throw new TypeError(`Invalid element type of data array: ${typeof first}.`);
  }
  const type = typeOfArray(data);
  if (type === undefined) {
    const given = (data as object | null)?.constructor?.name ?? typeof data;
    throw new TypeError(`Unsupported type for tensor data: ${given}.`);
  }
  return arrayOf(type, data);
}

interface Parts {
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly location: DataLocation;
  readonly data?: Data;
  readonly held?: unknown;
  readonly download?: (() => Promise<Data>) | undefined;
  readonly free?: (() => void) | undefined;
}

function partsOf(given: ConstructorParameters & Record<string, unknown>): Parts {
  const { location, type, dims, download, dispose } = given;
  const free = dispose && (() => dispose.call(given));
  const common = { type, dims, location, free };
  if (location === "cpu-pinned") {
    if (!holds(type, given.data))
      throw new TypeError(`buffer should be of type ${classOf(type)?.name}`);
    return { ...common, data: given.data };
  }
  const name = resources[location];
  if (!name) throw new Error(`Tensor constructor: unsupported location '${location}'`);
  const types = typesAt[location];
  if (types ? !types.includes(type) : type === ("string" as string))
    throw new TypeError(`unsupported type "${type}" to create tensor from ${location}`);
  const fetch = download && (() => download.call(given) as Promise<Data>);
  return { ...common, held: given[name], download: fetch };
}

function partsOfData(first: unknown, second: unknown, third: unknown): Parts {
  const typed = typeof first === "string";
  const { type, data } = typed ? arrayOf(first, second) : inferred(first);
  const dims = (typed ? third : second) ?? [data.length];
  if (!Array.isArray(dims)) throw new TypeError("A tensor's dims must be a number array");
  const size = sizeOf(dims);
  if (!fitsSize(type, data.length, size))
    throw new Error(`Tensor's size(${size}) does not match data length(${data.length}).`);
  return { type, dims: [...dims], location: "cpu", data };
}

export class TensorClass {
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly size: number;
  // Plain properties under these names, which programs read and `postMessage` carries.
  dataLocation: DataLocation;
  cpuData: Data | undefined;
  #held: unknown;
  #download: (() => Promise<Data>) | undefined;
  #free: (() => void) | undefined;
  #pending = false;

  constructor(first: unknown, second?: unknown, third?: unknown) {
    const isRecord = typeof first === "object" && first !== null && "location" in first;
    const parts = isRecord ? partsOf(first as never) : partsOfData(first, second, third);
    this.type = parts.type;
    this.size = sizeOf(parts.dims);
    this.dims = parts.dims;
    this.dataLocation = parts.location;
    this.cpuData = parts.data;
    this.#held = parts.held;
    this.#download = parts.download;
    this.#free = parts.free;
  }

  static async fromImage(...args: Parameters<typeof pixelsOf>): Promise<TensorClass> {
    const { type, data, dims } = await pixelsOf(...args);
    return new TensorClass(type, data, dims);
  }

  static fromTexture(
    texture: unknown,
    options: ResourceOptions & { readonly width: number; readonly height: number },
  ): TensorClass {
    const { width, height } = options;
    return new TensorClass({
      ...options,
      location: "texture",
      type: "float32",
      texture,
      dims: [1, height, width, 4],
    });
  }

  static fromGpuBuffer(gpuBuffer: unknown, options: ResourceOptions): TensorClass {
    const { dataType: type = "float32" } = options;
    return new TensorClass({ ...options, location: "gpu-buffer", type, gpuBuffer });
  }

  static fromMLTensor(mlTensor: unknown, options: ResourceOptions): TensorClass {
    const { dataType: type = "float32" } = options;
    return new TensorClass({ ...options, location: "ml-tensor", type, mlTensor });
  }

  static fromPinnedBuffer(
    type: ElementType,
    data: NumberArray,
    dims: readonly number[] = [data.length],
  ): TensorClass {
    return new TensorClass({ location: "cpu-pinned", type, data, dims });
  }

  get location(): DataLocation {
    return this.dataLocation;
  }

  get data(): Data {
    this.#check();
    if (!this.cpuData)
      throw new Error(
        `The data is not on CPU: it is in a ${this.dataLocation}
  await getData(), which downloads it`,
      );
    return this.cpuData;
  }

  get texture(): unknown {
    return this.#resource("texture", "a WebGL texture");
  }

  get gpuBuffer(): unknown {
    return this.#resource("gpu-buffer", "a WebGPU buffer");
  }

  get mlTensor(): unknown {
    return this.#resource("ml-tensor", "a WebNN MLTensor");
  }

  async getData(release?: boolean): Promise<Data> {
    this.#check();
    if (this.cpuData) return this.cpuData;
    if (!this.#download)
      throw new Error("The current tensor is not created with a specified data downloader.");
    if (this.#pending) throw new Error("The current tensor is being downloaded.");
    this.#pending = true;
    try {
      const data = await this.#download();
      this.#download = undefined;
      this.dataLocation = "cpu";
      this.cpuData = data;
      if (release) this.#let();
      return data;
    } finally {
      this.#pending = false;
    }
  }

  dispose(): void {
    if (this.#pending) throw new Error("The current tensor is being downloaded.");
    this.#let();
    this.cpuData = undefined;
    this.#download = undefined;
    this.dataLocation = "none";
  }

  reshape(dims: readonly number[]): TensorClass {
    this.#check();
    if (this.#download || this.#free)
      throw new Error("Cannot reshape a tensor that owns GPU resource.");
    const name = resources[this.dataLocation];
    if (!name && this.dataLocation !== "cpu-pinned")
      return new TensorClass(this.type, this.cpuData, dims);
    const held = name ? { [name]: this.#held } : { data: this.cpuData };
    return new TensorClass({ location: this.dataLocation, type: this.type, dims, ...held });
  }

  toDataURL(options?: Parameters<typeof imageUrlOf>[1]): string {
    return imageUrlOf(this, options);
  }

  toImageData(options?: Parameters<typeof imageDataOf>[1]): ImageData {
    return imageDataOf(this, options);
  }

  #check(): void {
    if (this.dataLocation === "none") throw new Error("The tensor is disposed.");
  }

  #resource(location: DataLocation, what: string): unknown {
    this.#check();
    if (this.dataLocation !== location) throw new Error(`The data is not stored as ${what}.`);
    return this.#held;
  }

  #let(): void {
    this.#free?.();
    this.#free = undefined;
    this.#held = undefined;
  }
}

// Programs and inspectors look at the name.
Object.defineProperty(TensorClass, "name", { value: "Tensor" });
