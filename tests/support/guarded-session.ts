/**
 * What tests compile without saying where, for the wasm target, runs on guarded memory: one device for all test files, which
 * lives as long as the process.
 */
import { useDevice } from "../../packages/kiln/src/index.ts";
import { guardedWasmDevice } from "./guarded-wasm.ts";

useDevice(guardedWasmDevice());
