/**
 * Sessions: one device each, opened at first use, and the queue that keeps runs in the order they
 * were asked for. A session owns no values; `storage.ts` knows where they live.
 */
import { checkOptions, type OptionNames, type TargetName } from "@kiln-ml/artifact";
import { checkTargetName } from "@kiln-ml/compiler/program";
import { DeviceError, GraphError } from "@kiln-ml/ir";
import { type Device, openWebGpu, wasmThreads } from "@kiln-ml/runtime/loader";
import type { ExternalDevice } from "./external.ts";
import { type AdapterKind, adapterKind } from "./placement.ts";
import { settings } from "./settings.ts";
import { type ThreadCount, wasmMissing } from "./wasm-support.ts";

/**
 * A target, or "auto": for a program the one that `placement.ts` finds the fastest, else WebGPU
 * where a real adapter exists, else the CPU.
 */
export type TargetOption = "auto" | TargetName;

/** A device with the target its artifacts are compiled for. */
export interface Session {
  readonly target: TargetName;
  readonly device: Device;
  /**
   * Set where an engine from outside runs the programs; the target then says no more than how
   * values look on the host.
   */
  readonly external?: ExternalDevice;
}

const devices = {
  js: () => import("@kiln-ml/runtime/cpu"),
  wasm: () => import("@kiln-ml/runtime/wasm"),
  native: () => import("./native-device.ts"),
};

/**
 * Begins to load what programs for `target` need. A page downloads it meanwhile; whoever compiles
 * first waits for it, and says so if it cannot be had.
 */
export function prefetch(target: TargetName): void {
  const device = target === "webgpu" ? undefined : devices[target]();
  // In Node a file is near, and where the program is kept the compiler is not needed.
  const compiler = globalThis.process?.versions?.node ? undefined : loadCompiler(target);
  Promise.all([compiler, device]).catch(() => {});
}

const loadCompiler = async (target: TargetName): Promise<unknown> =>
  (await import("@kiln-ml/compiler/compile")).loadTarget(target);

const sessions = new Map<TargetName, Promise<Session>>();
/** Those of `sessions` that are open. */
const current = new Map<TargetName, Session>();
let automatic: Promise<Session> | undefined;
let adapter: Promise<AdapterKind | string> | undefined;

/**
 * The target of what names none, from here on. Throws GraphError for one that does not exist.
 * `torch.set_default_device`.
 *
 * @param target "auto", "js", "wasm", "native" or "webgpu".
 * @example
 *   setDefaultTarget("js");
 *   defaultTarget() // "js"
 */
export function setDefaultTarget(target: TargetOption): void {
  checkTarget(target);
  settings.target = target;
}

/**
 * Where functions run that name no target. `torch.get_default_device`.
 * @example
 *   setDefaultTarget("js");
 *   defaultTarget() // "js"
 */
export const defaultTarget = (): TargetOption => settings.target ?? "auto";

/** Throws GraphError unless the compiler has the target. */
export function checkTarget(target: TargetOption): void {
  if (target !== "auto") checkTargetName(target);
}

/**
 * The session of a target, opened at the first call. Throws DeviceError if the machine has no such
 * device; in place of "native", which takes a C compiler and koffi, it then is that of "wasm", and
 * a warning says why. `torch.device`.
 *
 * @param target "auto", "js", "wasm", "native" or "webgpu".
 * @example
 *   const { target } = await sessionFor("js");
 *   target // "js"
 */
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
  checkTargetName(target);
  if (target === "js") return openJs();
  if (target === "wasm") return openWasm();
  if (target === "native") return openNative();
  if (target === "webgpu") return watch({ target, device: await openWebGpu(webGpuOptions()) });
  throw new GraphError(`compile: target ${target} has no device`);
}

const webGpuOptions = () => (settings.softwareAdapter ? { allowSoftware: true } : {});

async function openJs(): Promise<Session> {
  const { createCpuDevice } = await devices.js();
  return watch({ target: "js", device: createCpuDevice() });
}

async function openWasm(): Promise<Session> {
  const missing = wasmMissing();
  if (missing) throw new DeviceError(`wasm: ${missing}\n  use the target js, or "auto"`);
  const { createWasmDevice } = await devices.wasm();
  const { threads = "auto", threadScript } = settings;
  const device = createWasmDevice({ threads, ...(threadScript ? { threadScript } : {}) });
  return watch({ target: "wasm", device });
}

/** That of wasm where this machine has none. */
async function openNative(): Promise<Session> {
  const device = await (await devices.native()).nativeIfHere();
  if (device) return watch({ target: "native", device });
  // Not kept under the other's name: it may be lost.
  sessions.delete("native");
  return sessionFor("wasm");
}

/** Where things live that no program has been compiled for. */
async function openAutomatic(): Promise<Session> {
  const kind = await adapterHere();
  if (kind === "discrete" || kind === "integrated") return sessionFor("webgpu");
  return sessionFor(cpuTarget());
}

/** The faster of the CPU's targets that runs here. */
export const cpuTarget = (): "wasm" | "js" => (wasmMissing() === undefined ? "wasm" : "js");

/**
 * The kind of adapter, or why there is none. Software ones are refused by `openWebGpu`: the CPU is
 * faster.
 */
export function adapterHere(): Promise<AdapterKind | string> {
  adapter ??= findAdapter();
  return adapter;
}

async function findAdapter(): Promise<AdapterKind | string> {
  try {
    const { device } = await sessionFor("webgpu");
    return adapterKind(device.name);
  } catch (error) {
    if (error instanceof DeviceError) return error.message.split("\n")[0]!;
    throw error;
  }
}

/** The threads that the wasm device has, or would have. */
export const threadsHere = (): number => wasmThreads(settings.threads);

/** Whether its target still runs on this session: its device is neither lost nor replaced. */
export const isCurrent = (session: Session): boolean =>
  session.external ? !session.external.isLost : current.get(session.target) === session;

/** A lost device is forgotten, so that the next call opens another. */
function watch(session: Session): Session {
  current.set(session.target, session);
  session.device.lost.then(() => {
    if (!isCurrent(session)) return;
    sessions.delete(session.target);
    current.delete(session.target);
    settings.used?.delete(session.target);
    forgetChoice();
  });
  return session;
}

function forgetChoice(): void {
  automatic = undefined;
  adapter = undefined;
}

/**
 * Makes `device` the one that its target runs on, such as a software adapter opened by hand; models
 * that `openModel` opens from here on take it too. Values that live on the device used before stay
 * there. `torch.set_default_device`.
 *
 * @example
 *   const { device } = await sessionFor("js");
 *   useDevice(device).target // "js"
 */
export function useDevice(device: Device): Session {
  const session = watch({ target: device.target, device });
  settings.used ??= new Map();
  settings.used.set(session.target, device);
  sessions.set(session.target, Promise.resolve(session));
  forgetChoice();
  return session;
}

/**
 * The threads of the wasm device, which all programs on it share; default "auto", as many as there
 * are cores, or 1 where memory cannot be shared. Throws GraphError for anything else than a
 * positive integer or "auto", and once the device is open with another number.
 * `torch.set_num_threads`.
 *
 * @param threads A positive integer, or "auto".
 * @param options For a page whose policy has no `worker-src blob:`.
 * @example
 *   setThreads(0) // throws GraphError
 */
export function setThreads(threads: ThreadCount, options: ThreadOptions = {}): void {
  const { threadScript } = checkOptions("setThreads", options, threadOptions);
  if (threads !== "auto" && !(Number.isInteger(threads) && threads >= 1))
    throw new GraphError(
      `setThreads: takes a positive integer or "auto", got ${JSON.stringify(threads)}`,
    );
  const before = settings.threads ?? "auto";
  if (sessions.has("wasm") && wasmThreads(threads) !== wasmThreads(before))
    throw new GraphError(
      `setThreads: the wasm device is open with ${before} threads, ${threads} were asked for\n  call it before anything runs, or useDevice(createWasmDevice({ threads: ${JSON.stringify(threads)} }))`,
    );
  settings.threads = threads;
  if (threadScript !== undefined) settings.threadScript = threadScript;
}

export interface ThreadOptions {
  /** In a page, the URL of `kiln-ml/wasm-worker`; by default threads are started from a blob. */
  readonly threadScript?: string | URL;
}

const threadOptions: OptionNames<ThreadOptions> = { threadScript: 1 };

let tail: Promise<void> = Promise.resolve();

/**
 * Runs `work` after everything that was queued before it, whether that succeeded or not. Awaits
 * only, so that the stack of an error leads back to the caller.
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
