/** `kiln-ml` as programs of the playground import it: a local name takes the place of one that is re-exported. */
export * from "kiln-ml";
export { compile } from "../play/recorded.ts";
