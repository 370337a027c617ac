/**
 * Runs the artifact that `kiln compile examples/precompile/model.ts -o out/sentence.kiln` wrote,
 * without the compiler.
 *
 *   run.ts [out/sentence.kiln]
 */
import { readArtifact } from "@kiln-ml/artifact/node";
import {
  createCpuDevice,
  createWasmDevice,
  initialStates,
  load,
  openWebGpu,
} from "@kiln-ml/runtime";

const artifact = await readArtifact(process.argv[2] ?? "out/sentence.kiln");
const devices = {
  js: createCpuDevice,
  wasm: createWasmDevice,
  native: () => {
    throw new Error("no file holds kernels of the target native");
  },
  webgpu: () => openWebGpu({ allowSoftware: true }),
};
const device = await devices[artifact.target]();
const sentence = await load(artifact, device, { states: initialStates(artifact, device) });

for (const words of [Int32Array.of(3, 14, 15), Int32Array.of(92, 65, 35, 89, 79, 32)]) {
  const [chances] = await sentence.run([words]);
  const text = [...(await chances!.data())].map((p) => p.toFixed(3)).join(" ");
  console.log(`${words.length} words: ${text}`);
}
