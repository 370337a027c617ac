/** `kiln doctor`: what this machine has that Kiln runs on, and what to do about what it lacks. */
import { availableParallelism, cpus, totalmem } from "node:os";
import { resolve } from "node:path";
import { DeviceError } from "@kiln-ml/artifact";
import { openNative } from "../devices/native-device.ts";
import { adapterKind } from "../devices/placement.ts";
import { sessionFor, threadsHere } from "../devices/session.ts";
import { wasmMissing } from "../devices/wasm-support.ts";
import { version } from "../version.ts";
import { bytesText } from "./extents.ts";
import { helpOf, shared, tableOf } from "./options.ts";
import { resolveFrom } from "./place.ts";
import { say } from "./terminal.ts";
import { parseOptions } from "./usage.ts";

export const options = [shared.json];

export const help = helpOf(
  "doctor [options]",
  options,
  "Opens each device once; an adapter may take seconds. Exit code 0, whatever is missing.\n",
);

interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly text: string;
  /** What would mend it. */
  readonly advice?: string;
}

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseOptions("doctor", args, tableOf(options));
  const findings = [
    machine(),
    ...(await wasm()),
    ...(await native()),
    ...(await webgpu()),
    ...scripts(),
  ];
  if (values.json) say(`${JSON.stringify({ kiln: version, findings }, null, 2)}\n`);
  else say(`kiln-ml ${version}\n${findings.map(lines).join("")}`);
  return 0;
}

const lines = ({ what, ok, text, advice }: Finding): string =>
  `  ${ok ? "yes" : "no "}  ${what.padEnd(14)} ${text}\n${advice ? `${" ".repeat(22)}${advice}\n` : ""}`;

function machine(): Finding {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const text = `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, ${bytesText(totalmem())}; ${model}`;
  return { what: "js", ok: true, text };
}

async function wasm(): Promise<Finding[]> {
  const missing = wasmMissing();
  if (missing)
    return [
      { what: "wasm", ok: false, text: missing, advice: "take a newer Node; js runs meanwhile" },
    ];
  const { device } = await sessionFor("wasm");
  const relaxed = device.features.has("relaxed-simd");
  const threads = threadsHere();
  return [
    { what: "wasm", ok: true, text: device.name },
    {
      what: "relaxed SIMD",
      ok: relaxed,
      text: relaxed ? "products take one instruction" : "products take two instructions",
      ...(relaxed
        ? {}
        : { advice: "Node 22 or newer has it; Node 20 by --experimental-wasm-relaxed-simd" }),
    },
    {
      what: "threads",
      ok: threads > 1,
      text: `${threads}, of ${availableParallelism()} cores`,
      ...(threads > 1 ? {} : { advice: "--threads N takes more; one core has no use for them" }),
    },
  ];
}

/** Whether programs can be compiled for this processor, and by which compiler. */
async function native(): Promise<Finding[]> {
  try {
    const device = await openNative();
    return [{ what: "native", ok: true, text: device.name }];
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    const [text, advice] = error.message.split("\n").map((l) => l.trim());
    return [{ what: "native", ok: false, text: text!, ...(advice ? { advice } : {}) }];
  }
}

/** Those that decide which kernels are compiled. */
const named = [
  "shader-f16",
  "subgroups",
  "timestamp-query",
  "chromium-experimental-subgroup-matrix",
];
const limits = [
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
];

async function webgpu(): Promise<Finding[]> {
  try {
    const { device } = await sessionFor("webgpu");
    const has = named.map((f) => `${device.features.has(f) ? "" : "no "}${f}`).join(", ");
    const most = limits.flatMap((l) =>
      device.limits[l] === undefined ? [] : `${l} ${device.limits[l]}`,
    );
    return [
      { what: "webgpu", ok: true, text: `${device.name} (${adapterKind(device.name)})` },
      { what: "  features", ok: true, text: has },
      { what: "  limits", ok: true, text: most.join(", ") },
    ];
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    const [text, advice] = error.message.split("\n").map((l) => l.trim());
    return [{ what: "webgpu", ok: false, text: text!, ...(advice ? { advice } : {}) }];
  }
}

function scripts(): Finding[] {
  const near = (name: string) => resolveFrom(resolve("script.ts"), name) !== undefined;
  const strips = Boolean((process.features as { typescript?: unknown }).typescript);
  const runs = near("esbuild") || strips;
  return [
    {
      what: "TypeScript",
      ok: runs,
      text: runs ? "scripts in TypeScript run" : "scripts in TypeScript do not run here",
      ...(runs ? {} : { advice: "npm install --save-dev esbuild" }),
    },
    {
      what: "type check",
      ok: near("typescript/package.json"),
      text: near("typescript/package.json")
        ? "scripts are checked before they run"
        : "scripts run unchecked",
      ...(near("typescript/package.json") ? {} : { advice: "npm install --save-dev typescript" }),
    },
  ];
}
