/** The error of this package. */
import { KilnError } from "kiln-ml/ir";

/** A model, a prompt or a tokenizer that does not fit. */
export class LanguageModelError extends KilnError {
  override name = "LanguageModelError";
}
