/**
 * A native device for tests, where this machine has a C compiler and koffi is installed. Elsewhere
 * the tests that need one are counted as skipped, by name and with the reason.
 */
import { DeviceError } from "@kiln-ml/artifact";
import type { Device } from "@kiln-ml/runtime";
import { openNativeDevice } from "@kiln-ml/runtime/native";
import { test } from "uvu";
import { skip } from "./skip.ts";

async function openHere(): Promise<Device | string> {
  try {
    return await openNativeDevice({ threads: 2, poison: true });
  } catch (error) {
    if (error instanceof DeviceError) return error.message.split("\n")[0]!;
    throw error;
  }
}

/** The device, or why there is none. */
export const nativeHere: Device | string = await openHere();

/** A test that takes the native device. */
export function nativeTest(name: string, body: (device: Device) => Promise<void>): void {
  if (typeof nativeHere === "string") skip(name, nativeHere);
  else test(name, () => body(nativeHere));
}

/** What a native program is compiled with here. */
export const nativeOptions = {
  target: "native",
  features: typeof nativeHere === "string" ? [] : [...nativeHere.features],
} as const;
