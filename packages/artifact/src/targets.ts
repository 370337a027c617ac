/**
 * What an artifact must know of each target: one row each, and nowhere else in this package a
 * target's name. How a target's kernels lie in files, what a kernel says beside its text, and how
 * wide its elements are in memory.
 */
import type { Dtype } from "@kiln-ml/ir";

export type TargetName = "js" | "wasm" | "native" | "webgpu";

/** Fields of a kernel that only some targets have. */
export const targetFields = ["workgroups", "phases", "stack"] as const;

export interface TargetRow {
  /**
   * How kernels lie in files. `script`: all in `kernels.js`, each a range of bytes. `modules`: as
   * functions of `Artifact.modules`, without text. `here`: in none, since they are C that only the
   * machine that made them runs. An extension: each in a file of its own, `kernels/NAME.wgsl`.
   */
  readonly kernels: "script" | "modules" | "here" | `.${string}`;
  /** Those of `targetFields` that each kernel must have; the others are refused. */
  readonly fields: readonly (typeof targetFields)[number][];
  /**
   * A step may begin inside of a buffer (`Step.starts`). WebGPU's bindings begin at multiples of
   * 256 bytes.
   */
  readonly starts: boolean;
  /** Bytes of an element of bool, i8 and u8: WGSL has no type for them. */
  readonly narrow: 1 | 4;
}

// biome-ignore format: one target a row
export const targets: Readonly<Record<TargetName, TargetRow>> = {
  js:     { kernels: "script",  fields: [],                  starts: true,  narrow: 1 },
  wasm:   { kernels: "modules", fields: ["phases", "stack"], starts: true,  narrow: 1 },
  native: { kernels: "here",    fields: ["phases", "stack"], starts: true,  narrow: 1 },
  webgpu: { kernels: ".wgsl",   fields: ["workgroups"],      starts: false, narrow: 4 },
};

/** Bytes of an element that are the same everywhere. */
const bytes: Readonly<Partial<Record<Dtype, number>>> = {
  f64: 8,
  f32: 4,
  i32: 4,
  u32: 4,
  f16: 2,
  bf16: 2,
};

/** Bytes one element takes in a target's memory: bool, i8 and u8 take 4 on webgpu. */
export const storageBytes = (dtype: Dtype, target: TargetName): number =>
  bytes[dtype] ?? targets[target].narrow;

/** Bytes one element takes in files, and in arrays of the host: as few as its values need. */
export const packedBytes = (dtype: Dtype): number => bytes[dtype] ?? 1;

/** The targets whose kernels lie in files, which `here` says of no other. */
export const filedTargets: readonly TargetName[] = ["js", "wasm", "webgpu"];

/** Whether two names are of one target. */
export const isSame = (one: TargetName, other: TargetName): boolean =>
  targets[one] === targets[other];
