/**
 * A whole process of an application: makes a perceptron, takes one training step on the target and
 * threads given as arguments, and prints the loss, the peak of its memory and what became of its
 * programs. `cold.ts` bundles it and times it from outside.
 */

import { createWasmDevice } from "@kiln-ml/runtime";
import { type TargetName, useDevice } from "kiln-ml";
import { cacheCounts } from "../../packages/kiln/src/cache/compile-once.ts";
import { peakBytes } from "../peak.ts";
import { batch, mlpStep } from "./mlp.ts";

const [target, threads] = process.argv.slice(2) as [TargetName, string];
if (target === "wasm") useDevice(createWasmDevice({ threads: Number(threads) }));
const loss = await (await mlpStep(target)(...batch())).item();
console.log(JSON.stringify({ loss, peakBytes: peakBytes(), ...cacheCounts() }));
process.exit(0);
