/**
 * Devices of the wasm target for tests: one thread and two, without and with relaxed SIMD. The runner turns relaxed
 * SIMD on where it stands behind a flag, so that both variants run everywhere; an engine that lacks it is an error.
 */
import type { Device } from "@kiln-ml/runtime";
import { guardedWasmDevice } from "./guarded-wasm.ts";

export interface Variant {
  readonly threads: number;
  readonly relaxed: boolean;
}

export const variants: readonly Variant[] = [
  { threads: 1, relaxed: false },
  { threads: 1, relaxed: true },
  { threads: 2, relaxed: false },
  { threads: 2, relaxed: true },
];

export const nameOfVariant = ({ threads, relaxed }: Variant): string =>
  `${threads} thread${threads > 1 ? "s" : ""}, ${relaxed ? "relaxed" : "plain"}`;

const devices = new Map<string, Device>();

/** The device of a variant, on guarded memory; tests share it. */
export function wasmDevice(variant: Variant): Device {
  const key = nameOfVariant(variant);
  const device = devices.get(key) ?? guardedWasmDevice(variant);
  devices.set(key, device);
  return device;
}
