/** `--device`: which adapter commands take for WebGPU. */
import { settings } from "../devices/settings.ts";
import { UsageError } from "./usage.ts";

/** Throws UsageError for anything but `software`, or nothing. */
export function takeDevice(command: string, value: string | boolean | undefined): void {
  if (value === undefined) return;
  if (value !== "software")
    throw new UsageError(`kiln ${command}: --device must be software, got ${value}`);
  settings.softwareAdapter = true;
}
