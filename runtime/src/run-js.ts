/**
 * The runtime for JavaScript alone: a page that imports it names no other device, so that a bundler
 * keeps it in one file.
 */
export { type CpuOptions, createCpuDevice } from "./devices/cpu.ts";
export * from "./run.ts";
