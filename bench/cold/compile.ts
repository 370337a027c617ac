/**
 * Compiles a network of 50 layers for the target given as argument, once and then again, and prints
 * the milliseconds of both and the peak of its memory. `cold.ts` bundles it and runs it in
 * processes of its own.
 */
import type { TargetName } from "@kiln-ml/artifact";
import { compileProgram, loadTarget } from "@kiln-ml/compiler";
import { deepMlp } from "../cases.ts";
import { peakBytes } from "../peak.ts";

const target = process.argv[2] as TargetName;

await loadTarget(target);

let bytes = 0;

function milliseconds(): number {
  const program = deepMlp(50);
  const start = performance.now();
  const { modules } = compileProgram(program, { target }).artifact;
  // Modules are encoded when they are asked for; an engine asks for one of the two.
  bytes = modules?.relaxed.length ?? 0;
  return performance.now() - start;
}

const first = milliseconds();
for (let i = 0; i < 1; i++) milliseconds();
const warm = milliseconds();
console.log(JSON.stringify({ first, warm, bytes, peakBytes: peakBytes() }));
