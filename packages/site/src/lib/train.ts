/** `kiln-ml/train` as programs of the playground import it. */
export * from "kiln-ml/train";
