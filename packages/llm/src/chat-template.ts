/**
 * Conversations as text, by the template of a model, which is Jinja. `@huggingface/jinja` is loaded
 * when the first one is made.
 */
import { LanguageModelError } from "./errors.ts";

/** What somebody says: "system", "user", "assistant", or what else the template knows. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** A conversation as the text that the model goes on from, special tokens included. */
export type ChatTemplate = (messages: readonly ChatMessage[]) => string;

/**
 * The template of a model. `values` are what it may name besides the messages: `bos_token` and
 * such.
 *
 *     const chat = await chatTemplate(config.chat_template, { bos_token: "<s>" });
 *     const text = chat([{ role: "user", content: "Hello" }]);
 *     const prompt = tokenizer.encode(text, { formatted: true });
 *
 * Rejects with LanguageModelError for what is no template. Writing throws it for a conversation
 * that the template refuses.
 */
export async function chatTemplate(
  source: string,
  values: Readonly<Record<string, unknown>> = {},
): Promise<ChatTemplate> {
  const { Template } = await import("@huggingface/jinja");
  const template = told("this is no template", () => new Template(source));
  return (messages) =>
    told("the model's template refuses the conversation", () =>
      template.render({ ...values, messages, add_generation_prompt: true }),
    );
}

function told<T>(what: string, act: () => T): T {
  try {
    return act();
  } catch (e) {
    throw new LanguageModelError(`chatTemplate: ${what}: ${(e as Error).message}`);
  }
}
