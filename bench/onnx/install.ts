/**
 * `npm run peer`: installs onnxruntime-node, pinned, into the cache folder of node_modules, for the tests that compare with it.
 * Fails where it cannot be had or does not run here.
 */
import { onnxRuntime } from "../../tests/support/onnxruntime.ts";
import { installRuntime } from "./runtimes.ts";

try {
  installRuntime("onnxruntime-node", []);
  const ort = onnxRuntime();
  if (!ort?.InferenceSession) throw new Error("the package was installed and is not to be found");
  console.log("onnxruntime-node is installed");
} catch (error) {
  console.error(`onnxruntime-node cannot be installed: ${(error as Error).message}`);
  console.error("  npm test runs without it, and lists the tests that it skips");
  process.exitCode = 1;
}
