/** What the ONNX page and its worker say to each other. */
import type { Inspection } from "@kiln-ml/inspector";
import type { Target } from "../play/messages.ts";

export type ToOnnx =
  | {
      readonly kind: "open";
      readonly bytes: Uint8Array;
      readonly name: string;
      readonly target: Target;
    }
  | { readonly kind: "run"; readonly inputs: Readonly<Record<string, Filled>> };

/** An input as the page asks for it: extents, and bytes of a picture [h, w, 4] to fill them with, or numbers that are made up. */
export interface Filled {
  readonly shape: readonly number[];
  readonly picture?: Uint8ClampedArray;
}

export interface Port {
  readonly name: string;
  readonly dtype: string;
  /** Extents: numbers, or names of those that a run decides. */
  readonly shape: readonly (number | string)[];
}

export interface Output {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: ArrayLike<number>;
}

export type FromOnnx =
  | {
      readonly kind: "opened";
      readonly device: string;
      readonly inputs: readonly Port[];
      readonly outputs: readonly Port[];
    }
  | {
      readonly kind: "ran";
      readonly outputs: readonly Output[];
      readonly firstMs: number;
      readonly ms: number;
    }
  | { readonly kind: "inspection"; readonly inspection: Inspection }
  | { readonly kind: "failed"; readonly text: string };
