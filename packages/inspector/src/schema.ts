/**
 * What an inspection is: a program, what it was compiled to, and why, as plain JSON. This file is
 * its reference. References are positions: a node, kernel, text or slot is named by its place in
 * the list of that name. Sizes are numbers for `dims`.
 */

/** Goes up when a reader of the old form would misread the new one. Fields may be added without. */
export const inspectionVersion = 1;

export interface Inspection {
  readonly format: "kiln-inspection";
  readonly version: typeof inspectionVersion;
  /** The version of kiln-ml that made it. */
  readonly kiln: string;
  readonly name: string;
  readonly target: "js" | "wasm" | "native" | "webgpu";
  /** Whether operations were fused. */
  readonly fusion: boolean;
  /** Symbols of shapes, and the value that sizes below are for. */
  readonly dims: readonly DimValue[];
  readonly signature: {
    readonly inputs: readonly TensorType[];
    readonly outputs: readonly TensorType[];
    readonly states: readonly TensorType[];
  };
  /** Every node of the program at any stage. Empty where an artifact was read, which has none. */
  readonly nodes: readonly InspectedNode[];
  /** One for each step of the plan, in the order in which they run. */
  readonly kernels: readonly InspectedKernel[];
  /** What a kernel reads of another, and why the two are not one. */
  readonly edges: readonly InspectedEdge[];
  /** Kernels as the target prints them; equal ones once. */
  readonly texts: readonly KernelSource[];
  readonly memory: Memory;
  /** What the compiler did, in order: the graph that came in first. */
  readonly stages: readonly InspectedStage[];
  /** Milliseconds from the graph to the artifact. Absent for an artifact that was read. */
  readonly compileMs?: number;
  readonly profile?: Profile;
}

export interface DimValue {
  readonly name: string;
  readonly min: number;
  readonly max: number | null;
  readonly value: number;
}

export interface TensorType {
  readonly name: string;
  readonly dtype: string;
  /** As printed, symbols and all: `[N,784]`. */
  readonly shape: string;
  readonly bytes: number;
}

export interface InspectedNode {
  readonly op: string;
  /** Nodes. */
  readonly operands: readonly number[];
  /** As printed in the IR, `{axes=[1]}`; absent where there are none. */
  readonly attrs?: string;
  readonly dtype: string;
  readonly shape: string;
  /** Of inputs, parameters and data. */
  readonly name?: string;
  /** The module in whose forward pass it was made: `Net.blocks.0.fc1`. */
  readonly module?: string;
  /** The line of the script that built it: `model.ts:12:5`. */
  readonly site?: string;
  /**
   * Kernels that compute it, by themselves or inlined in what they compute; empty if it did not
   * reach one.
   */
  readonly kernels: readonly number[];
  /** Whether it is left after the last pass. */
  readonly final: boolean;
}

export interface InspectedKernel {
  readonly name: string;
  /**
   * How its loops are made: map, rows, scan, contraction, scatter, sort, attention; absent if
   * unknown.
   */
  readonly kind?: string;
  /** Its loops with their extents: `m [i:64] n [j:10] k [k:784]`. */
  readonly loops?: string;
  /** The moves that made it of a naive kernel: `merge; grid 256 i0`; absent without moves. */
  readonly recipe?: string;
  /** The module that most of what it computes belongs to. */
  readonly module?: string;
  /** A text. */
  readonly text: number;
  /** Nodes that are its own, in the order in which they joined. */
  readonly members: readonly number[];
  /** Nodes that are computed where they are read. */
  readonly inlined: readonly number[];
  readonly arguments: readonly KernelArgument[];
  /** Of one run of it. */
  readonly bytes: number;
  readonly flops: number;
  /** How often a run of the program runs it: the trips of the loops around it. */
  readonly times: number;
  /** Workgroups (webgpu) or units of work in each phase (wasm). */
  readonly grid?: readonly number[];
}

export interface KernelArgument {
  readonly access: "read" | "write" | "readwrite" | "scratch";
  readonly in: "slot" | "input" | "output" | "state" | "constant";
  /** Of slots, inputs, outputs, states or constants. */
  readonly index: number;
  /** The node whose value it is, if any. */
  readonly node?: number;
}

export interface InspectedEdge {
  /** The kernel that stores, and the one that reads. */
  readonly from: number;
  readonly to: number;
  /** What is stored. */
  readonly node: number;
  /** One word for programs; see the compiler's `Why`. */
  readonly why: string;
  /** The same as a sentence. */
  readonly text: string;
  /** The node at which they part, if it is another. */
  readonly at?: number;
}

export interface KernelSource {
  readonly name: string;
  readonly language: "js" | "wat" | "c" | "wgsl";
  readonly text: string;
}

export interface Memory {
  /** Bytes of each temporary buffer. */
  readonly slots: readonly number[];
  readonly lives: readonly Life[];
  readonly temporaryBytes: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly stateBytes: number;
}

/** A value in a slot, from the step that writes it first to the one that uses it last. */
export interface Life {
  readonly slot: number;
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
  readonly node?: number;
}

export interface InspectedStage {
  readonly name: string;
  readonly ms: number;
  /** Nodes after it; for stages behind the graph, kernels. */
  readonly size: number;
  /** Nodes; absent behind the graph. */
  readonly removed?: readonly number[];
  readonly added?: readonly number[];
}

export interface Profile {
  /** What the milliseconds were measured with. */
  readonly timing: "clock" | "timestamp" | "submit";
  readonly device: string;
  readonly runs: number;
  /** Milliseconds of a whole run, the median. */
  readonly ms: number;
  /** What rows are compared with, in units a second, and where they are from. */
  readonly limits: { readonly bytes: number; readonly flops: number; readonly from: string };
  readonly rows: readonly ProfileRow[];
}

export interface ProfileRow {
  /** A kernel. */
  readonly kernel: number;
  /** The median over the runs, of all its launches in one. */
  readonly ms: number;
  readonly bytes: number;
  readonly flops: number;
  /** Of the limit that it is closest to, from 0 to 1 or a little more. */
  readonly fraction: number;
  readonly bound: "memory" | "arithmetic";
}
