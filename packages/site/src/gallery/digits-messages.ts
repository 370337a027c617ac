/** What the digits page and its worker say to each other. */
import type { Inspection } from "@kiln-ml/inspector";
import type { Target } from "../play/messages.ts";

export type ToDigits =
  | { readonly kind: "train"; readonly target: Target; readonly steps: number }
  | { readonly kind: "classify"; readonly id: number; readonly pixels: Float32Array }
  | { readonly kind: "inspect" };

export type FromDigits =
  | { readonly kind: "ready"; readonly device: string }
  | { readonly kind: "step"; readonly step: number; readonly loss: number }
  | { readonly kind: "checked"; readonly accuracy: number; readonly shown: readonly Shown[] }
  | { readonly kind: "classified"; readonly id: number; readonly scores: Float32Array }
  | { readonly kind: "inspection"; readonly inspection: Inspection }
  | { readonly kind: "failed"; readonly text: string };

/** A digit that was held back, with what it is taken for. */
export interface Shown {
  readonly pixels: Float32Array;
  readonly label: number;
  readonly guess: number;
}
