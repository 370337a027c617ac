/**
 * `kiln-ml/vision`: models for images, with the compiler plugged in, so that they train themselves.
 */
import "./train.ts";

export * from "@kiln-ml/vision";
