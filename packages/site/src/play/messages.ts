/**
 * What the playground's page and its worker say to each other. A worker serves one run; the page
 * ends it to stop the program.
 */
import type { Inspection } from "@kiln-ml/inspector";

export type Target = "js" | "wasm" | "webgpu";

export type ToWorker =
  | { readonly kind: "run"; readonly module: string; readonly target: Target }
  | { readonly kind: "inspect"; readonly program: number; readonly profile: boolean };

/** A function that the program compiled, as the page lists it. */
export interface Listed {
  readonly id: number;
  /** Empty for a function without one. */
  readonly name: string;
  /** The line of the program that compiled it. */
  readonly line?: number;
  readonly calls: number;
}

export type FromWorker =
  | { readonly kind: "ready"; readonly device: string }
  | { readonly kind: "log"; readonly level: "log" | "warn" | "error"; readonly text: string }
  | { readonly kind: "picture"; readonly name: string; readonly picture: Picture }
  | { readonly kind: "plot"; readonly name: string; readonly value: number }
  | { readonly kind: "programs"; readonly programs: readonly Listed[] }
  | { readonly kind: "inspection"; readonly program: number; readonly inspection: Inspection }
  | { readonly kind: "refused"; readonly program: number; readonly text: string }
  | ({ readonly kind: "failed" } & Failure)
  | { readonly kind: "done"; readonly ms: number };

export interface Failure {
  readonly text: string;
  /** In the program. */
  readonly line?: number | undefined;
  /** On the page of errors. */
  readonly anchor?: string;
}

/** Rows of RGBA bytes. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8ClampedArray<ArrayBuffer>;
}
