/**
 * `Tensor` with the types that programs written for `onnxruntime-common` 1.30 name: a value, an interface and a namespace of one name.
 */
import type { ElementArrays, ElementType as TypeName } from "./element-arrays.ts";
import type { ImageOptions, ImageSource, ToImageOptions } from "./image.ts";
import { TensorClass } from "./tensor-class.ts";

export type ImageFormat = "RGB" | "RGBA" | "BGR" | "RBG";
export type ImageTensorLayout = "NHWC" | "NCHW";

type Global<N extends string, F> = typeof globalThis extends {
  [K in N]: { prototype: infer T };
}
  ? T
  : F;

/** Where the elements are. Everything that runs here is, or is brought, into the CPU's memory. */
export type DataLocation = "none" | "cpu" | "cpu-pinned" | "texture" | "gpu-buffer" | "ml-tensor";

export declare namespace Tensor {
  interface DataTypeMap extends ElementArrays {}
  interface ElementTypeMap {
    float32: number;
    uint8: number;
    int8: number;
    uint16: number;
    int16: number;
    int32: number;
    int64: bigint;
    string: string;
    bool: boolean;
    float16: number;
    float64: number;
    uint32: number;
    uint64: bigint;
    uint4: number;
    int4: number;
  }
  export type Type = TypeName;
  export type DataType = DataTypeMap[Type];
  export type ElementType = ElementTypeMap[Type];
  export type DataLocation = import("./tensor.ts").DataLocation;
  export type CpuPinnedDataTypes = Exclude<Type, "string">;
  export type TextureType = WebGLTexture;
  export type TextureDataTypes = "float32";
  export type GpuBufferType = Global<
    "GPUBuffer",
    { size: number; mapState: "unmapped" | "pending" | "mapped" }
  >;
  export type GpuBufferDataTypes =
    | "float32"
    | "float16"
    | "int32"
    | "int64"
    | "uint32"
    | "uint8"
    | "bool";
  export type MLTensorType = Global<"MLTensor", { destroy(): void }>;
  export type MLTensorDataTypes =
    | "float32"
    | "float16"
    | "int8"
    | "uint8"
    | "int32"
    | "uint32"
    | "int64"
    | "uint64"
    | "bool"
    | "uint4"
    | "int4";
}

/** Elements of a type in row-major order, with their extents. */
export interface TypedTensor<T extends Tensor.Type> {
  readonly dims: readonly number[];
  readonly type: T;
  /** Throws where the elements are not in the CPU's memory. */
  readonly data: Tensor.DataTypeMap[T];
  readonly location: Tensor.DataLocation;
  readonly texture: Tensor.TextureType;
  readonly gpuBuffer: Tensor.GpuBufferType;
  readonly mlTensor: Tensor.MLTensorType;
  /** Elements, as the extents tell. */
  readonly size: number;
  /** The elements, downloaded if need be; `release` frees what they were downloaded from. */
  getData(release?: boolean): Promise<Tensor.DataTypeMap[T]>;
  /** Lets the elements go. The tensor is of no use after it; its location is "none". */
  dispose(): void;
  /** The same elements with other extents. Throws if these come to another size. */
  reshape(dims: readonly number[]): TypedTensor<T>;
  toDataURL(options?: ToImageOptions): string;
  toImageData(options?: ToImageOptions): ImageData;
}

export interface Tensor extends Omit<TypedTensor<Tensor.Type>, "reshape"> {
  reshape(dims: readonly number[]): TypedTensor<Tensor.Type>;
}

/** What holds elements that are not in the CPU's memory, and how they are had and freed. */
export interface ResourceOptions<T extends Tensor.Type = Tensor.Type> {
  readonly dims?: readonly number[];
  readonly dataType?: T;
  download?(): Promise<Tensor.DataTypeMap[T]>;
  dispose?(): void;
}

interface Located<T extends Tensor.Type> extends ResourceOptions<T> {
  readonly dims: readonly number[];
  readonly type: T;
}

export type ConstructorParameters =
  | (Located<Tensor.CpuPinnedDataTypes> & {
      readonly location: "cpu-pinned";
      readonly data: Tensor.DataType;
    })
  | (Located<Tensor.TextureDataTypes> & {
      readonly location: "texture";
      readonly texture: Tensor.TextureType;
    })
  | (Located<Tensor.GpuBufferDataTypes> & {
      readonly location: "gpu-buffer";
      readonly gpuBuffer: Tensor.GpuBufferType;
    })
  | (Located<Tensor.MLTensorDataTypes> & {
      readonly location: "ml-tensor";
      readonly mlTensor: Tensor.MLTensorType;
    });

type Dims = readonly number[];
type Numbers = "float32" | "float64" | "float16" | "int8" | "uint8" | "int16" | "uint16" | "int32";
type Narrow = Numbers | "uint32" | "int4" | "uint4";

/** `new Tensor(type, data, dims?)`, `new Tensor(data, dims?)` where the array tells the type, or a record with a location. */
export interface TensorConstructor {
  new (type: "string", data: readonly string[], dims?: Dims): TypedTensor<"string">;
  new (type: "bool", data: Uint8Array | readonly boolean[], dims?: Dims): TypedTensor<"bool">;
  new (type: "uint8", data: Uint8ClampedArray, dims?: Dims): TypedTensor<"uint8">;
  new <T extends "int64" | "uint64">(
    type: T,
    data: Tensor.DataTypeMap[T] | readonly bigint[] | readonly number[],
    dims?: Dims,
  ): TypedTensor<T>;
  new <T extends Narrow>(
    type: T,
    data: Tensor.DataTypeMap[T] | readonly number[],
    dims?: Dims,
  ): TypedTensor<T>;
  new (data: Float32Array, dims?: Dims): TypedTensor<"float32">;
  new (data: Int8Array, dims?: Dims): TypedTensor<"int8">;
  new (data: Uint8Array | Uint8ClampedArray, dims?: Dims): TypedTensor<"uint8">;
  new (data: Uint16Array, dims?: Dims): TypedTensor<"uint16">;
  new (data: Int16Array, dims?: Dims): TypedTensor<"int16">;
  new (data: Int32Array, dims?: Dims): TypedTensor<"int32">;
  new (data: BigInt64Array, dims?: Dims): TypedTensor<"int64">;
  new (data: readonly string[], dims?: Dims): TypedTensor<"string">;
  new (data: readonly boolean[], dims?: Dims): TypedTensor<"bool">;
  new (data: Float64Array, dims?: Dims): TypedTensor<"float64">;
  new (data: Uint32Array, dims?: Dims): TypedTensor<"uint32">;
  new (data: BigUint64Array, dims?: Dims): TypedTensor<"uint64">;
  new (
    type: Tensor.Type,
    data:
      | Tensor.DataType
      | readonly number[]
      | readonly string[]
      | readonly bigint[]
      | readonly boolean[],
    dims?: Dims,
  ): Tensor;
  new (data: Tensor.DataType, dims?: Dims): Tensor;
  new (parameters: ConstructorParameters): Tensor;
  /** Pixels as a tensor [1, 3, height, width] of float32, unless `options` say otherwise. */
  fromImage(
    source: ImageSource,
    options?: ImageOptions,
  ): Promise<TypedTensor<"float32"> | TypedTensor<"uint8">>;
  fromTexture<T extends Tensor.TextureDataTypes = "float32">(
    texture: Tensor.TextureType,
    options: ResourceOptions<T> & { readonly width: number; readonly height: number },
  ): TypedTensor<"float32">;
  fromGpuBuffer<T extends Tensor.GpuBufferDataTypes>(
    buffer: Tensor.GpuBufferType,
    options: ResourceOptions<T>,
  ): TypedTensor<T>;
  fromMLTensor<T extends Tensor.MLTensorDataTypes>(
    tensor: Tensor.MLTensorType,
    options: ResourceOptions<T>,
  ): TypedTensor<T>;
  fromPinnedBuffer<T extends Tensor.CpuPinnedDataTypes>(
    type: T,
    buffer: Tensor.DataTypeMap[T],
    dims?: Dims,
  ): TypedTensor<T>;
}

export const Tensor = TensorClass as unknown as TensorConstructor;
