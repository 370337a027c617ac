/** What the page of a demo that learns and its worker say to each other. */
import type { Inspection } from "@kiln-ml/inspector";
import type { Target } from "../../play/messages.ts";

export type ToLab =
  /** `given` is what the page lets its reader choose, such as a text to learn. */
  | {
      readonly kind: "train";
      readonly target: Target;
      readonly steps?: number;
      readonly given: unknown;
    }
  | { readonly kind: "ask"; readonly question: unknown };

export type FromLab =
  | { readonly kind: "ready"; readonly device: string; readonly steps: number }
  | { readonly kind: "step"; readonly step: number; readonly losses: Losses }
  | { readonly kind: "view"; readonly view: unknown }
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "inspection"; readonly inspection: Inspection }
  | { readonly kind: "failed"; readonly text: string };

/** By name, in the order of the lines. */
export type Losses = Readonly<Record<string, number>>;
