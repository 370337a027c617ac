/**
 * A fresh process that imports a runtime, creates a session and runs it once: `node
 * start-worker.mjs MODULE MODEL`. Prints the milliseconds of each, and which of the module's own
 * files it loaded.
 */
import { readFileSync } from "node:fs";

const [, , module, model] = process.argv;
const bytes = readFileSync(model);
const times = [performance.now()];
const tick = () => times.push(performance.now());
const imported = await import(module);
const ort = imported.InferenceSession ? imported : imported.default;
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";
tick();
const session = await ort.InferenceSession.create(bytes, { executionProviders: ["wasm"] });
tick();
const data = Float32Array.from({ length: 3 * 224 * 224 }, (_, i) => Math.sin(i));
const x = new ort.Tensor("float32", data, [1, 3, 224, 224]);
await session.run({ [session.inputNames[0]]: x });
tick();
const [load, create, run] = times.slice(1).map((t, i) => t - times[i]);
const files = globalThis.loadedFiles ?? [];
process.stdout.write(`${JSON.stringify({ load, create, run, files })}\n`, () => process.exit(0));
