/** What the chat page and its worker say to each other. */
import type { Target } from "../play/messages.ts";

export type ToChat =
  /** Files by their names, read by the worker; of the site's own model, their addresses. */
  | {
      readonly kind: "open";
      readonly name: string;
      readonly files: ReadonlyMap<string, Blob | string>;
      readonly target: Target;
    }
  | {
      readonly kind: "say";
      /** What both said so far, the last of which is to be answered; or one text to go on from. */
      readonly turns: readonly Turn[];
      readonly temperature: number;
    }
  | { readonly kind: "stop" };

export interface Turn {
  readonly role: "user" | "assistant";
  readonly content: string;
}

export type FromChat =
  | {
      readonly kind: "opened";
      readonly device: string;
      readonly parameters: number;
      readonly context: number;
      /** It was made to converse; otherwise it goes on where a text ends. */
      readonly converses: boolean;
    }
  | { readonly kind: "piece"; readonly text: string }
  | {
      readonly kind: "ended";
      readonly reason: "stop" | "length" | "stopped";
      readonly tokens: number;
      readonly firstMs: number;
      /** Of the tokens after the first. */
      readonly tokensPerSecond: number;
    }
  | { readonly kind: "failed"; readonly text: string };
