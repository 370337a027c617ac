/**
 * Compiles a network of 50 layers for the target given as argument, once and then again, and prints the milliseconds of
 * both and the peak of its memory. `cold.ts` bundles it and runs it in processes of its own.
 */
import type { TargetName } from "@kiln-ml/artifact";
import { compileProgram, loadTarget } from "@kiln-ml/compiler";
import { deepMlp } from "../cases.ts";

const target = process.argv[2] as TargetName;

await loadTarget(target);

function milliseconds(): number {
  const program = deepMlp(50);
  const start = performance.now();
  compileProgram(program, { target });
  return performance.now() - start;
}

const first = milliseconds();
for (let i = 0; i < 1; i++) milliseconds();
const warm = milliseconds();
console.log(JSON.stringify({ first, warm, peakBytes: process.resourceUsage().maxRSS * 1024 }));
