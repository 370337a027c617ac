/**
 * `env`: the settings of a process. `wasm.numThreads`, `webgpu.powerPreference` and `logLevel` mean
 * here what they mean there. What tells where other runtimes find their files, or how they are
 * built, is kept and changes nothing.
 */
import { isLogLevel, type LogLevel, severityOf } from "./warn.ts";

export declare namespace Env {
  export type WasmPathPrefix = string;
  export interface WasmFilePaths {
    wasm?: URL | string;
    mjs?: URL | string;
  }
  export type WasmPrefixOrFilePaths = WasmPathPrefix | WasmFilePaths;
  export interface WebAssemblyFlags {
    /**
     * Threads of WebAssembly; 0 or nothing are as many as there are cores. Counts before the first
     * session.
     */
    numThreads?: number;
    simd?: boolean | "fixed" | "relaxed";
    trace?: boolean;
    initTimeout?: number;
    wasmPaths?: WasmPrefixOrFilePaths;
    wasmBinary?: ArrayBufferLike | Uint8Array;
    proxy?: boolean;
  }
  export interface WebGLFlags {
    contextId?: "webgl" | "webgl2";
    readonly context: WebGLRenderingContext;
    matmulMaxBatchSize?: number;
    textureCacheMode?: "initializerOnly" | "full";
    pack?: boolean;
    async?: boolean;
  }
  export interface WebGpuFlags {
    profilingMode?: "off" | "default";
    profiling: { mode?: "off" | "default"; ondata?: (data: never) => void };
    powerPreference?: "low-power" | "high-performance";
    forceFallbackAdapter?: boolean;
    adapter: unknown;
    device: unknown;
    validateInputContent?: boolean;
  }
}

export interface Env {
  /** What is told on the console: from this severity on. Default "warning". */
  logLevel?: LogLevel;
  debug?: boolean;
  trace?: boolean;
  readonly versions: {
    readonly common: string;
    readonly web?: string;
    readonly node?: string;
    readonly "react-native"?: string;
  };
  readonly wasm: Env.WebAssemblyFlags;
  readonly webgl: Env.WebGLFlags;
  readonly webgpu: Env.WebGpuFlags;
  [name: string]: unknown;
}

/** The version of the interface that this package has. */
const version = "1.30.0";

let logLevel: LogLevel = "warning";

export const env: Env = {
  wasm: {},
  webgl: {} as Env.WebGLFlags,
  webgpu: { profiling: {} } as Env.WebGpuFlags,
  // No `web`: programs that find one fetch ONNX Runtime's own WebAssembly, which nothing here
  // reads.
  versions: { common: version, node: version },
  get logLevel(): LogLevel {
    return logLevel;
  },
  set logLevel(value: LogLevel | undefined) {
    if (value === undefined) return;
    if (!isLogLevel(value)) throw new Error(`Unsupported logging level: ${String(value)}`);
    logLevel = value;
  },
};

/** The least severity that is told, for a session of these options. */
export const quietestOf = (severity: number | undefined): number =>
  severity ?? severityOf(logLevel);
