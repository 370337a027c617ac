/**
 * Opens WebGPU. All that the device consists of is loaded at the first call, as most pages never
 * make one.
 */
import type { Device } from "../device.ts";

/** A `GPU` object, without the types of WebGPU, which a program need not have. */
export interface GpuLike {
  requestAdapter(options?: object): Promise<unknown>;
}

export interface WebGpuOptions {
  /** The `GPU` object to ask; default `navigator.gpu`, or npm `webgpu` in Node. */
  readonly gpu?: GpuLike;
  readonly powerPreference?: "low-power" | "high-performance";
  /** Accept an adapter that runs on the CPU, such as SwiftShader. */
  readonly allowSoftware?: boolean;
  /**
   * Takes matrix units where the adapter has them, which multiply halves several times as fast;
   * true by default. They are an experimental extension of Dawn's, which in Node takes a toggle
   * that lifts checks on other experiments too; false opens Dawn without it.
   */
  readonly matrixUnits?: boolean;
  /** Submits that may be unfinished before a run waits; short runs share one. Default 3. */
  readonly runsInFlight?: number;
}

/**
 * Opens a WebGPU device.
 *
 * Throws DeviceError if there is no WebGPU, no adapter, or only a software adapter without
 * `allowSoftware`.
 */
export async function openWebGpu(options: WebGpuOptions = {}): Promise<Device> {
  const { openAdapter } = await import("./webgpu-adapter.ts");
  return openAdapter(options);
}
