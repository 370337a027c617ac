/**
 * Sessions: one device each, opened at first use, and the queue that keeps runs in the order they were asked for.
 * A session owns no values; `storage.ts` knows where they live.
 */
import type { TargetName } from "@kiln-ml/artifact";
import { targetOf, targets } from "@kiln-ml/compiler";
import { DeviceError, GraphError } from "@kiln-ml/ir";
import { createCpuDevice, type Device, openWebGpu } from "@kiln-ml/runtime";
import { settings } from "./settings.ts";

/** A target, or "auto": WebGPU where a real adapter exists, else the CPU. */
export type TargetOption = "auto" | TargetName;

/** A device with the target its artifacts are compiled for. */
export interface Session {
  readonly target: TargetName;
  readonly device: Device;
}

const sessions = new Map<TargetName, Promise<Session>>();
let automatic: Promise<Session> | undefined;

/** The target of what names none, from here on. Throws GraphError for one that does not exist. */
export function setDefaultTarget(target: TargetOption): void {
  checkTarget(target);
  settings.target = target;
}

export const defaultTarget = (): TargetOption => settings.target ?? "auto";

/** Throws GraphError unless the compiler has the target. */
export function checkTarget(target: TargetOption): void {
  if (target !== "auto") targetOf(target);
}

/** The session of a target, opened at the first call. Throws DeviceError if the machine has no such device. */
export function sessionFor(target: TargetOption = defaultTarget()): Promise<Session> {
  if (target === "auto") {
    automatic ??= openAutomatic();
    return automatic;
  }
  const open = sessions.get(target);
  if (open) return open;
  const opening = openSession(target);
  sessions.set(target, opening);
  // A failure is not kept: the adapter may come back.
  opening.catch(() => sessions.delete(target));
  return opening;
}

async function openSession(target: TargetName): Promise<Session> {
  targetOf(target);
  if (target === "js") return watch({ target, device: createCpuDevice() });
  if (target === "webgpu") return watch({ target, device: await openWebGpu() });
  throw new GraphError(`compile: target ${target} has no device`);
}

/** Software adapters are refused by `openWebGpu`: the CPU target is faster. */
async function openAutomatic(): Promise<Session> {
  if (!targets.webgpu) return sessionFor("js");
  try {
    return await sessionFor("webgpu");
  } catch (error) {
    if (error instanceof DeviceError) return sessionFor("js");
    throw error;
  }
}

/** A lost device is forgotten, so that the next call opens another. */
function watch(session: Session): Session {
  session.device.lost.then(() => {
    sessions.delete(session.target);
    automatic = undefined;
  });
  return session;
}

/**
 * Makes `device` the one that `target` runs on, such as a software adapter opened by hand. Values that live on the
 * device used before stay there.
 */
export function useDevice(device: Device): Session {
  const session = watch({ target: device.target, device });
  sessions.set(session.target, Promise.resolve(session));
  automatic = undefined;
  return session;
}

let tail: Promise<void> = Promise.resolve();

/**
 * Runs `work` after everything that was queued before it, whether that succeeded or not. Awaits only, so that the stack
 * of an error leads back to the caller.
 */
export async function inOrder<T>(work: () => Promise<T>): Promise<T> {
  const before = tail;
  let done = (): void => {};
  tail = new Promise((resolve) => {
    done = resolve;
  });
  try {
    await before;
    return await work();
  } finally {
    done();
  }
}
