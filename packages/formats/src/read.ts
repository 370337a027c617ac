/**
 * What puts the tensors of a file into modules, for whoever loads it with the first file: a process
 * that reads none does without readers and inflation.
 */
export { fromPytorch } from "./pytorch-names.ts";
export { readTensors } from "./read-tensors.ts";
export { remapTensors } from "./remap.ts";
