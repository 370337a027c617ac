/**
 * Execution providers as targets of Kiln, in the order a program prefers them. Those of hardware that Kiln does not speak to are passed
 * over, as ONNX Runtime passes over what a machine lacks, with the CPU last.
 */
import type { TargetName } from "kiln-ml";

/** The CPU's target where WebAssembly cannot run, else it. */
type Chosen = TargetName | "cpu";

const targets: Readonly<Record<string, Chosen>> = {
  cpu: "cpu",
  wasm: "cpu",
  xnnpack: "cpu",
  webgpu: "webgpu",
  js: "js",
};

/** Providers that programs name and nothing stands for here. */
const elsewhere = [
  ...["webgl", "webnn", "cuda", "tensorrt", "nv_tensorrt_rtx", "rocm", "migraphx", "dml", "coreml"],
  ...["nnapi", "qnn", "openvino", "acl", "armnn", "dnnl", "vitisai", "cann"],
];

export type ProviderConfig = string | { readonly name: string };

/** The targets to try in turn, and the names that were passed over. Throws Error where no name is known. */
export function targetsOf(providers: readonly ProviderConfig[] | undefined): {
  readonly targets: readonly Chosen[];
  readonly passed: readonly string[];
} {
  if (providers !== undefined && !Array.isArray(providers))
    throw new TypeError("'executionProviders' must be an array.");
  const names = (providers ?? []).map((p: ProviderConfig) => (typeof p === "string" ? p : p?.name));
  if (names.length === 0) return { targets: ["cpu"], passed: [] };
  const known = (name: string): Chosen | undefined =>
    Object.hasOwn(targets, name) ? targets[name] : undefined;
  const found = [...new Set(names.flatMap((name) => known(name) ?? []))];
  const passed = names.filter((name) => elsewhere.includes(name));
  const unknown = names.filter((name) => !known(name) && !elsewhere.includes(name));
  if (unknown.length === names.length)
    throw new Error(
      `no available backend found. ERR: ${unknown.map((name) => `[${String(name)}] backend not found.`).join(", ")}`,
    );
  return { targets: found.length > 0 ? found : ["cpu"], passed: [...passed, ...unknown] };
}
