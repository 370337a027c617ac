/** `kiln-ml/onnx` as programs of the playground import it. */
export * from "kiln-ml/onnx";
