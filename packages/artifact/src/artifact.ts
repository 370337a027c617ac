/**
 * The artifact: everything needed to run a compiled graph, and nothing of the compiler. Plain data, so that it
 * can be written to a file, sent to a worker, or handed to the runtime in the same process.
 */
import type { Dtype } from "@kiln-ml/ir";
import type { TargetName } from "./targets.ts";

/** Goes up when a reader of the old form would misread the new one. */
export const artifactVersion = 1;

/** An integer expression over the signature's dims, as prefix lists: 3, "N", ["+", a, b], ["*", a, b], ["/", a, b], ["%", a, b], ["min", a, b], ["max", a, b]. */
export type Extent =
  | number
  | string
  | readonly ["+" | "*" | "/" | "%" | "min" | "max", Extent, Extent];

export interface TensorSpec {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly Extent[];
}

/** State lives in the session between runs: parameters, optimizer moments, counters. */
export interface StateSpec extends TensorSpec {
  /** Shapes of state are static. */
  readonly shape: readonly number[];
  readonly trainable: boolean;
  /** True if a run may change it. */
  readonly written: boolean;
}

/** `value` is 0 or more, or the run is refused with `text`: what a program asks of the dims, beyond their ranges. */
export interface Requirement {
  readonly value: Extent;
  readonly text: string;
}

export interface Signature {
  readonly dims: readonly {
    readonly name: string;
    readonly min: number;
    readonly max: number | null;
  }[];
  /** Those of one dim say why its range is what it is. Absent where there are none. */
  readonly requirements?: readonly Requirement[];
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  readonly states: readonly StateSpec[];
}

/** One kernel as its target's text. */
export interface KernelText {
  readonly name: string;
  /**
   * js: a function declaration `function name(params…, dims…) {…}`. webgpu: a WGSL module with entry `main`. wasm: the
   * functions of `Artifact.modules` in the WebAssembly text format, made when it is read; empty if read from a file.
   */
  readonly text: string;
  readonly bindings: readonly {
    readonly name: string;
    readonly dtype: Dtype;
    readonly access: "read" | "write" | "readwrite" | "scratch";
  }[];
  /** Dims passed, in order: js as arguments; webgpu as i32 fields of one uniform struct after the storage bindings. */
  readonly dims: readonly string[];
  /** Workgroup counts (webgpu); absent on the CPU. */
  readonly workgroups?: readonly [Extent, Extent, Extent];
  /** Functions of the module, run one after the other (wasm); absent elsewhere. */
  readonly phases?: readonly Phase[];
  /** Bytes of private memory that each thread needs (wasm). */
  readonly stack?: Extent;
}

/**
 * One function of a wasm kernel: `entry(addresses of the bindings…, dims…, from, to, stack)`, all i32. It does the
 * units from ≤ u < to, which are independent of each other, so threads may share them; `stack` is private memory.
 */
export interface Phase {
  readonly entry: string;
  readonly units: Extent;
}

/**
 * The kernels' functions as WebAssembly (wasm): without, and with, the relaxed SIMD instructions. One of them is empty
 * where a loader was told to leave it out.
 */
export interface Modules {
  readonly plain: Uint8Array;
  readonly relaxed: Uint8Array;
}

/** Where a value lives. `slot` indexes Plan.slots; inputs, outputs and states are named by their position. */
export type BufferRef =
  | { readonly in: "slot"; readonly index: number }
  | { readonly in: "input"; readonly index: number }
  | { readonly in: "output"; readonly index: number }
  | { readonly in: "state"; readonly index: number }
  | { readonly in: "constant"; readonly index: number };

export interface Step {
  readonly kernel: number;
  /** One place for each binding of the kernel. Two bindings of one step never name one place. */
  readonly args: readonly BufferRef[];
  /** The byte of each place at which the kernel begins; absent where all are 0. Not on webgpu. */
  readonly starts?: readonly number[];
  readonly bytes: Extent;
  readonly flops: Extent;
}

/**
 * What is run: the step with a number, or a list of others under a condition. A loop's `dim` counts its trips from 0, for
 * kernels that ask for it. A flag is one bool; of a `while` it is what `test` left there, and `body` runs at most `most`
 * times.
 */
export type Flow =
  | number
  | {
      readonly loop: { readonly dim: string; readonly trips: Extent };
      readonly body: readonly Flow[];
    }
  | {
      readonly while: {
        readonly test: readonly Flow[];
        readonly flag: BufferRef;
        readonly most?: number;
      };
      readonly body: readonly Flow[];
    }
  | { readonly if: BufferRef; readonly then: readonly Flow[]; readonly else: readonly Flow[] };

export interface Plan {
  /** Temporary buffers: each the largest of `sizes`, in bytes. */
  readonly slots: readonly { readonly sizes: readonly Extent[] }[];
  readonly steps: readonly Step[];
  /** Says each step once, in their order. Absent where each runs once. */
  readonly flow?: readonly Flow[];
  /** Outputs that are not computed by a step: the place whose bytes they are copies of. */
  readonly copies: readonly {
    readonly from: BufferRef;
    readonly to: BufferRef;
    readonly bytes: Extent;
  }[];
}

export interface Constant {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** Row-major, little-endian, packed at packedBytes(dtype) an element on every target; a webgpu device widens. */
  readonly data: Uint8Array;
}

/** Adapter limits the kernels rely on (webgpu). */
export type Limits = Readonly<Record<string, number>>;

export interface Artifact {
  readonly version: number;
  readonly target: TargetName;
  readonly name: string;
  readonly signature: Signature;
  readonly kernels: readonly KernelText[];
  /** On target wasm only. */
  readonly modules?: Modules;
  readonly plan: Plan;
  readonly constants: readonly Constant[];
  /** Initial values of states, by name; absent where the host provides them. */
  readonly weights: Readonly<Record<string, Constant>>;
  readonly limits: Limits;
  readonly features: readonly string[];
}
