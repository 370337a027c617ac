/** `kiln-ml/model` as programs of the playground import it. */
export * from "kiln-ml/model";
