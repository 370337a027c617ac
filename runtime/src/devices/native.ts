/**
 * The CPU through a C compiler of this machine: the memory, the queue of runs and the launches are
 * those of the wasm device; kernels are C that is compiled here, kept by content, and called
 * through koffi. Node alone.
 *
 * What it runs is made on this machine from the program's graph: no artifact's file holds C.
 */
import {
  type Artifact,
  ArtifactError,
  checkOptions,
  DeviceError,
  type OptionNames,
} from "@kiln-ml/artifact";
import { Device, type Program } from "../device.ts";
import type { Target } from "../host-array.ts";
import { LinearMemory } from "./linear-memory.ts";
import { type Compiler, findCompiler } from "./native/compiler.ts";
import { loadTable, makeLibrary, NativeExecutor, openPool, type Pool } from "./native/executor.ts";
import { WasmDriver, type WasmOptions } from "./wasm.ts";
import { WasmProgram } from "./wasm-program.ts";
import { inNode, nodeModule, threadsWanted } from "./wasm-threads.ts";

/** @internal What programs of C are written in, and how they sort. */
export { header as nativeHeader } from "./native/header.ts";
/** @internal */
export { sorting as nativeSorting } from "./native/library-text.ts";

export interface NativeOptions extends Pick<WasmOptions, "threads" | "maxBytes" | "poison"> {
  /** The compiler's command; by default that of `KILN_CC`, or `cc`, `gcc` or `clang`. */
  readonly compiler?: string;
}

/** @internal What a native device has of this machine. */
export interface NativeMachine {
  readonly compiler: Compiler;
  readonly pool: Pool;
}

export class NativeDriver extends WasmDriver {
  override readonly target: Target = "native";
  override readonly features: ReadonlySet<string>;
  readonly #machine: NativeMachine;
  readonly #executor: NativeExecutor;

  constructor(
    machine: NativeMachine,
    { threads = "auto", ...options }: NativeOptions,
    linear: LinearMemory,
  ) {
    super({ ...options, threads: 1, relaxed: false }, () => linear);
    this.#machine = machine;
    this.#executor = new NativeExecutor(machine.pool, linear, threadsWanted(threads));
    this.features = new Set([`lanes-${machine.compiler.lanes}`]);
  }

  override get name(): string {
    const { lanes, version } = this.#machine.compiler;
    const { threads } = this.#executor;
    return `native (${version}, ${32 * lanes}-bit vectors, ${threads} thread${threads === 1 ? "" : "s"})`;
  }

  override async load(artifact: Artifact): Promise<Program> {
    const entries = entriesOf(artifact);
    const texts = artifact.kernels.map(({ text }) => text);
    const { compiler, pool } = this.#machine;
    const path = await makeLibrary(compiler, texts, entries);
    const failure = this.failure();
    if (failure !== null) throw new DeviceError(`load: ${failure}`);
    const table = loadTable(pool, path);
    const flow = artifact.plan.flow && (await import("./wasm-flow.ts"));
    const program = new WasmProgram(this, this.#executor, artifact, flow?.runFlow);
    this.#executor.put(program.id, table);
    return program;
  }

  /** A compile takes longer than a call may. */
  override loadNow(): Program {
    throw new DeviceError(
      "load: a native program is compiled, which is never at once\n  await load, or use the target wasm",
    );
  }

  override destroy(): void {
    super.destroy();
    this.#executor.end();
  }
}

function entriesOf({ kernels }: Artifact): string[] {
  return kernels.flatMap(({ name, text, phases }) => {
    if (text === "" || !phases || phases.length === 0)
      throw new ArtifactError(`load: kernel ${name} has no text, a native kernel needs one`);
    return phases.map(({ entry }) => entry);
  });
}

const nativeOptions: OptionNames<NativeOptions> = {
  threads: 1,
  maxBytes: 1,
  poison: 1,
  compiler: 1,
};

/**
 * A device that compiles `native` programs with this machine's C compiler and runs them.
 *
 * Throws DeviceError if an option makes no sense here, outside of Node, and where there is no
 * compiler or koffi is not installed.
 */
export async function openNativeDevice(options: NativeOptions = {}): Promise<Device> {
  const { threads = "auto", compiler: named } = checkOptions(
    "openNativeDevice",
    options,
    nativeOptions,
  );
  if (threads !== "auto" && !(Number.isInteger(threads) && threads >= 1 && threads <= 256))
    throw new DeviceError(
      `openNativeDevice: threads must be 1 to 256, or "auto", got ${threads}\n  leave it out for one a processor`,
    );
  const memory = memoryOf(options);
  return new Device(new NativeDriver(await machineHere(named), options, memory));
}

/** Shared, since that grows where it lies: a run on another thread may use it meanwhile. */
function memoryOf({ maxBytes = 2 ** 32 }: NativeOptions): LinearMemory {
  try {
    return new LinearMemory(true, maxBytes);
  } catch (cause) {
    throw new DeviceError(
      `openNativeDevice: the engine gives no memory: ${(cause as Error).message}\n  give maxBytes that this machine has`,
      { cause },
    );
  }
}

/** Why no native device can be opened outside of any machine, or undefined. */
function notHere(): string | undefined {
  if (!inNode() || !nodeModule("node:fs")) return "it takes Node 20.16 or newer";
  if (process.platform === "win32") return "it takes Linux or macOS";
  return undefined;
}

async function machineHere(named?: string): Promise<NativeMachine> {
  const why = notHere();
  if (why) throw new DeviceError(`native: ${why}\n  use the target wasm`);
  const compiler = await findCompiler(named);
  return { compiler, pool: await openPool(compiler) };
}
