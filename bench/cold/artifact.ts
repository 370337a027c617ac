/**
 * A whole process that trains without a compiler: reads the step of `mlp.ts` from a packed
 * artifact, runs it once on one thread, and prints the loss and the peak of its memory. `cold.ts`
 * writes the artifact, bundles this for the target and times it from outside.
 */
import { readFileSync } from "node:fs";
import { unpackArtifact } from "@kiln-ml/artifact";
import { createCpuDevice } from "@kiln-ml/runtime/run-js";
import { createWasmDevice, initialStates, load } from "@kiln-ml/runtime/run-wasm";
import { classes, floats, workloadNamed } from "../cpu/workloads.ts";
import { peakBytes } from "../peak.ts";

const artifact = unpackArtifact(readFileSync(process.argv[2]!));
const device = artifact.target === "wasm" ? createWasmDevice({ threads: 1 }) : createCpuDevice();
const step = await load(artifact, device, { states: initialStates(artifact, device) });
const { x, y } = workloadNamed("mlp_train").operands;
const [result] = await step.run([
  { data: floats(x!), shape: x!.shape },
  { data: classes(y!), shape: y!.shape },
]);
const loss = await result!.item();
console.log(JSON.stringify({ loss, peakBytes: peakBytes() }));
process.exit(0);
