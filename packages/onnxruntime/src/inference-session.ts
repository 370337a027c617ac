/**
 * `InferenceSession` with the types that programs written for `onnxruntime-common` 1.30 name: a value, an interface and a namespace of
 * one name.
 */
import { SessionClass } from "./session.ts";
import type { DataLocation, Tensor } from "./tensor.ts";

/** The bytes of a file, or where it is: a URL, or in Node a path. */
export type FileType = string | Blob | Uint8Array | ArrayBufferLike;

/** A file of weights beside a model, under the name by which the model knows it. */
export type ExternalData = string | { readonly path: string; readonly data: FileType | URL };

export declare namespace InferenceSession {
  type OnnxValueMapType = { readonly [name: string]: Tensor };
  type NullableOnnxValueMapType = { readonly [name: string]: Tensor | null };
  type FeedsType = OnnxValueMapType;
  type FetchesType = readonly string[] | NullableOnnxValueMapType;
  type ReturnType = OnnxValueMapType;

  export interface ExecutionProviderOption {
    readonly name: string;
  }
  export interface WebGpuExecutionProviderOption extends ExecutionProviderOption {
    readonly name: "webgpu";
    readonly preferredLayout?: "NCHW" | "NHWC";
  }
  export type ExecutionProviderConfig = ExecutionProviderOption | string;

  export interface SessionOptions {
    /** In order of preference. "webgpu", and "cpu" or "wasm", which are one; "js" needs neither. */
    executionProviders?: readonly ExecutionProviderConfig[];
    /** Threads of WebAssembly, where they are not chosen yet. */
    intraOpNumThreads?: number;
    interOpNumThreads?: number;
    /** Extents for free dimensions, by name. Others stay free, and are compiled once for all extents. */
    freeDimensionOverrides?: { readonly [dimensionName: string]: number };
    /** "disabled" runs a kernel an op; all others are one. */
    graphOptimizationLevel?: "disabled" | "basic" | "extended" | "layout" | "all";
    enableCpuMemArena?: boolean;
    enableMemPattern?: boolean;
    executionMode?: "sequential" | "parallel";
    optimizedModelFilePath?: string;
    enableProfiling?: boolean;
    profileFilePrefix?: string;
    logId?: string;
    logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
    logVerbosityLevel?: number;
    preferredOutputLocation?: DataLocation | { readonly [outputName: string]: DataLocation };
    enableGraphCapture?: boolean;
    externalData?: readonly ExternalData[];
    extra?: Record<string, unknown>;
  }

  export interface RunOptions {
    logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
    logVerbosityLevel?: number;
    terminate?: boolean;
    tag?: string;
    extra?: Record<string, unknown>;
  }

  export interface ValueMetadataBase {
    readonly name: string;
  }
  export interface NonTensorValueMetadata extends ValueMetadataBase {
    readonly isTensor: false;
  }
  export interface TensorValueMetadata extends ValueMetadataBase {
    readonly isTensor: true;
    readonly type: Tensor.Type;
    /** Numbers, and the names of free dimensions; "" for one without. */
    readonly shape: readonly (number | string)[];
  }
  export type ValueMetadata = NonTensorValueMetadata | TensorValueMetadata;
}

export interface InferenceSession {
  /**
   * Runs the model. `fetches` names the outputs that are wanted, or maps them to tensors that are filled, or to null. Feeds are
   * read when it is called where other runs come first or they are small (256 KiB), else until it resolves. Rejects with an error that has ONNX Runtime's code for what does not fit the model, and after
   * `release`.
   */
  run(
    feeds: InferenceSession.FeedsType,
    options?: InferenceSession.RunOptions,
  ): Promise<InferenceSession.ReturnType>;
  run(
    feeds: InferenceSession.FeedsType,
    fetches: InferenceSession.FetchesType,
    options?: InferenceSession.RunOptions,
  ): Promise<InferenceSession.ReturnType>;
  /** Frees what the session holds, when the runs that were asked for before are done. */
  release(): Promise<void>;
  startProfiling(): void;
  endProfiling(): void;
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly inputMetadata: readonly InferenceSession.ValueMetadata[];
  readonly outputMetadata: readonly InferenceSession.ValueMetadata[];
}

export interface InferenceSessionFactory {
  /** Reads and compiles a model: from a URL, from a path in Node, or from bytes, which are copied. */
  create(
    from: string | URL | Blob,
    options?: InferenceSession.SessionOptions,
  ): Promise<InferenceSession>;
  create(
    buffer: ArrayBufferLike,
    options?: InferenceSession.SessionOptions,
  ): Promise<InferenceSession>;
  create(
    buffer: ArrayBufferLike,
    byteOffset: number,
    byteLength?: number,
    options?: InferenceSession.SessionOptions,
  ): Promise<InferenceSession>;
  create(buffer: Uint8Array, options?: InferenceSession.SessionOptions): Promise<InferenceSession>;
}

export const InferenceSession: InferenceSessionFactory =
  SessionClass as unknown as InferenceSessionFactory;
