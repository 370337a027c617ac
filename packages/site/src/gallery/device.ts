/** The device that a demo asked for, in its worker. */
import { openWebGpu } from "@kiln-ml/runtime";
import { sessionFor, setDefaultTarget, useDevice } from "kiln-ml";
import type { Target } from "../play/messages.ts";

/** Opens it for all that is compiled from here on; returns its name. Throws DeviceError where the machine has none. */
export async function openTarget(target: Target): Promise<string> {
  // A page that shows what WebGPU does takes a software adapter too.
  if (target === "webgpu") useDevice(await openWebGpu({ allowSoftware: true }));
  setDefaultTarget(target);
  return (await sessionFor(target)).device.name;
}
