/**
 * A file of a graph as a model: compiled here, for the first of the targets that this machine has.
 */
import { DeviceError, type TargetName } from "@kiln-ml/artifact";
import type { ValueDef } from "@kiln-ml/onnx";
import { sessionFor } from "../devices/session.ts";
import { settings } from "../devices/settings.ts";
import { loadOnnx, type OnnxModel, type OnnxOptions, type OnnxTensor } from "../onnx.ts";
import { noEntry, type Where } from "./artifact-model.ts";
import type { OpenedModel } from "./open-model.ts";
import { inOrderOf, type ModelTensor, shaped, type TensorArray } from "./values.ts";

const short: Readonly<Record<string, string>> = {
  float32: "f32",
  float64: "f64",
  float16: "f16",
  bfloat16: "bf16",
  int8: "i8",
  int16: "i16",
  int32: "i32",
  int64: "i64",
  uint8: "u8",
  uint16: "u16",
  uint32: "u32",
  uint64: "u64",
};

function tensorOf({ name, type }: ValueDef): ModelTensor {
  if (type?.kind !== "tensor") return { name, dtype: type?.kind ?? "unknown", shape: [] };
  const shape = (type.shape ?? []).map((d) => (typeof d === "number" ? d : (d ?? null)));
  return { name, dtype: short[type.type] ?? type.type, shape: shape as ModelTensor["shape"] };
}

export const onnxModel = (
  bytes: Uint8Array,
  where: Where,
  options: Pick<OnnxOptions, "file" | "external">,
): Promise<OpenedModel> =>
  graphModel(options.file, where, async (target) => loadOnnx(bytes, { ...options, ...target }));

/** What `load` gives, for the target that it is told. */
export async function graphModel(
  file: string | undefined,
  { targets, allowSoftware, threadScript, entry }: Where,
  load: (options: Pick<OnnxOptions, "target">) => Promise<OnnxModel>,
): Promise<OpenedModel> {
  if (entry !== undefined) throw noEntry(file ?? "the model", entry);
  // Its programs run on sessions, which open their devices as the settings say.
  if (allowSoftware) await openSoftware();
  if (threadScript !== undefined) settings.threadScript = threadScript;
  const target = targets && (await firstHere(targets));
  const model = await load(target ? { target } : {});
  const inputs = model.inputs.map(tensorOf);
  const names = inputs.map((i) => i.name);
  return {
    name: file ?? "model",
    target: target ?? "auto",
    inputs,
    outputs: model.outputs.map(tensorOf),
    async run(given, how) {
      const values = inOrderOf(names, given).map((value, i) => {
        const { data, shape } = shaped(value, inputs[i]!);
        const { type } = model.inputs[i]!;
        const element = type?.kind === "tensor" ? type.type : "float32";
        const wide = element === "int64" && data instanceof Int32Array;
        const own = wide ? BigInt64Array.from(data, BigInt) : data;
        return [names[i]!, { type: element, dims: shape, data: own } as OnnxTensor] as const;
      });
      const results = await model.run(Object.fromEntries(values), how);
      return Object.fromEntries(
        Object.entries(results).flatMap(([name, value]) => {
          if (value === null || !("type" in value)) return [];
          const { type, dims, data } = value;
          return [[name, { data: data as TensorArray, shape: dims, dtype: short[type] ?? type }]];
        }),
      );
    },
    // Its programs belong to the session, which may run others.
    dispose: async () => {},
  };
}

/**
 * The session of WebGPU, on whatever adapter there is. Others that open one are as strict as
 * before.
 */
async function openSoftware(): Promise<void> {
  const before = settings.softwareAdapter ?? false;
  settings.softwareAdapter = true;
  try {
    await sessionFor("webgpu");
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
  } finally {
    settings.softwareAdapter = before;
  }
}

/**
 * Asked of the sessions, on which its programs will run: `useDevice` may have given one a device
 * that is not opened by itself.
 */
async function firstHere(targets: readonly TargetName[]): Promise<TargetName> {
  const reasons: string[] = [];
  for (const target of targets) {
    const why = await sessionFor(target).then(
      () => undefined,
      (error: Error) => error.message.split("\n")[0]!,
    );
    if (why === undefined) return target;
    reasons.push(`${target}: ${why}`);
  }
  throw new DeviceError(
    `openModel: none of the targets runs here: ${reasons.join("; ")}\n  add js, which runs everywhere`,
  );
}
