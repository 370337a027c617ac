/**
 * What a GPU has for the tiles of contractions: invocations and memory of a workgroup, and a type
 * of 16 bits or none. Where the device says nothing it has what every device has: 256 invocations
 * and 16 KiB.
 */
import type { Dtype } from "@kiln-ml/ir";
import type { LoweringContext } from "../../lower/context.ts";
import { guaranteed } from "../../machine/webgpu.ts";

export interface WorkgroupLimits {
  readonly invocations: number;
  /** Bytes that a workgroup shares. */
  readonly memory: number;
}

export const workgroupLimitsOf = ({ limits }: LoweringContext): WorkgroupLimits => ({
  invocations:
    limits.maxComputeInvocationsPerWorkgroup ?? guaranteed.maxComputeInvocationsPerWorkgroup,
  memory: limits.maxComputeWorkgroupStorageSize ?? guaranteed.maxComputeWorkgroupStorageSize,
});

/**
 * Whether elements of a dtype are of a 16-bit type of the device, so that they are read and written
 * like any other.
 */
export const hasNativeHalf = ({ features }: LoweringContext, dtype: Dtype): boolean =>
  dtype === "f16" && features.includes("shader-f16");

/**
 * Bytes that an element takes in a tile, whatever its dtype: halves are widened on their way there,
 * not at every use.
 */
export const tileBytes = 4;
