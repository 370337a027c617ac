/**
 * What the parent asks a process that runs networks, and what it answers.
 */
import type { Tensors, TensorValue } from "./values.ts";

export type Question =
  | { readonly ask: "setup"; readonly network: string }
  | { readonly ask: "time"; readonly times: number }
  | { readonly ask: "memory" }
  /** One run of a graph of an archive on these inputs. */
  | {
      readonly ask: "graph";
      readonly archive: string;
      readonly path: string;
      readonly inputs: Tensors;
    };

export interface Setup {
  readonly results: Readonly<Record<string, TensorValue>>;
  readonly note?: string;
  /** Milliseconds until the first result is there, compiling included. */
  readonly firstMs: number;
  /** Of them, until the models were open; and to open all of them once more. */
  readonly createMs?: number;
  readonly againMs?: number;
  /**
   * Programs compiled by the first run of each model, and by everything the network is compared by.
   */
  readonly compiles?: { readonly first: number; readonly all: number };
  /** Kernels of one run of each model; a text says why they are not known. */
  readonly kernels?: number | string;
}

export type Answer =
  | { readonly ready: true }
  | { readonly setup: Setup }
  | { readonly ms: number }
  | { readonly peakBytes: number }
  | { readonly outputs: Readonly<Record<string, unknown>> }
  | { readonly error: string };
