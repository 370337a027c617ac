/** What planning gives: steps with places, and what it shares between a program and those in its regions. */
import { type BufferRef, type Plan, storageBytes, type TargetName } from "@kiln-ml/artifact";
import { type Dim, mulDim, sizeOf, type Tensor } from "@kiln-ml/ir";
import type { Lowered } from "../lower/lower.ts";
import type { Slots } from "./slots.ts";

/** A kernel with the place of each parameter, in order, or steps under a condition. */
export type PlannedStep =
  | { readonly is: "kernel"; readonly lowered: Lowered; readonly places: readonly BufferRef[] }
  | {
      readonly is: "loop";
      readonly symbol: string;
      readonly trip: Dim;
      readonly body: readonly PlannedStep[];
    }
  | {
      readonly is: "while";
      readonly test: readonly PlannedStep[];
      readonly flag: BufferRef;
      readonly most: number | undefined;
      readonly body: readonly PlannedStep[];
    }
  | {
      readonly is: "if";
      readonly flag: BufferRef;
      readonly then: readonly PlannedStep[];
      readonly otherwise: readonly PlannedStep[];
    };

export interface Planned {
  readonly steps: readonly PlannedStep[];
  /** The place of each parameter of each kernel, in order; of kernels in regions too. */
  readonly places: readonly (readonly BufferRef[])[];
  readonly slots: Plan["slots"];
  readonly copies: Plan["copies"];
}

export type PlannedLaunch = Extract<PlannedStep, { is: "kernel" }>;

/** Every kernel step once, those of regions too, in order. */
export const launchesOf = (steps: readonly PlannedStep[]): PlannedLaunch[] =>
  steps.flatMap((s) => {
    if (s.is === "kernel") return [s];
    if (s.is === "loop") return launchesOf(s.body);
    if (s.is === "while") return [...launchesOf(s.test), ...launchesOf(s.body)];
    return [...launchesOf(s.then), ...launchesOf(s.otherwise)];
  });

/** The kernel that copies a tensor; for what must be moved between the steps of a region. */
export type CopyKernel = (like: Tensor) => Lowered;

/** What planning of a program and of those in its regions shares. */
export interface Planner {
  readonly slots: Slots;
  readonly target: TargetName;
  readonly copy: CopyKernel;
}

export const sameBuffer = (a: BufferRef, b: BufferRef): boolean =>
  a.in === b.in && a.index === b.index;

export const bytesOf = (t: Tensor, target: TargetName): Dim =>
  mulDim(sizeOf(t.shape), storageBytes(t.dtype, target));
