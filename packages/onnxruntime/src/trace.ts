/**
 * The marks that `onnxruntime-common` exports for profilers: nothing unless `env.trace` is set, else an entry on the console's timeline.
 */
import { env } from "./env.ts";

const traced = (): boolean => (env.trace ?? env.wasm.trace) === true;

export function TRACE(device: string, label: string): void {
  if (traced()) console.timeStamp?.(`${device}::ORT::${label}`);
}

export function TRACE_FUNC_BEGIN(label?: string): void {
  TRACE("CPU", `FUNC_BEGIN${label ? `::${label}` : ""}`);
}

export function TRACE_FUNC_END(label?: string): void {
  TRACE("CPU", `FUNC_END${label ? `::${label}` : ""}`);
}

export function TRACE_EVENT_BEGIN(label?: string): void {
  if (traced()) console.time(`ORT::${label}`);
}

export function TRACE_EVENT_END(label?: string): void {
  if (traced()) console.timeEnd(`ORT::${label}`);
}
