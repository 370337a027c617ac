/** The targets: kernel IR to text. */
export { emitJs } from "./js/emit.ts";
export type { Rounding } from "./js/language.ts";
