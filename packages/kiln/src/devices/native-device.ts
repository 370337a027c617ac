/** The native device, in a file of its own: no page has one. */
import { DeviceError } from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime/loader";
import { openNativeDevice } from "@kiln-ml/runtime/native";
import { settings } from "./settings.ts";

let missing = false;

/**
 * The native device; undefined where there is none, as without a compiler, after a line that says
 * why: wasm runs the same programs.
 */
export async function nativeIfHere(): Promise<Device | undefined> {
  if (missing) return undefined;
  try {
    return await openNative();
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    missing = true;
    console.warn(`${error.message.split("\n")[0]}\n  programs for native run on wasm`);
    return undefined;
  }
}

/** Throws DeviceError where there is none, for whoever asks why. */
export async function openNative(): Promise<Device> {
  const { threads = "auto" } = settings;
  return openNativeDevice({ threads });
}
