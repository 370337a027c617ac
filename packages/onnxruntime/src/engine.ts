/**
 * A model on a device: opened on the first of the targets that this machine has, and again where a device is lost. Knows nothing of the
 * interface in front of it.
 */
import { sessionFor, setThreads, type TargetName, useDevice } from "kiln-ml";
import { loadOnnx, type OnnxModel, type OnnxOptions, type OnnxValue } from "kiln-ml/onnx";
import { openWebGpu } from "kiln-ml/runtime";
import { env } from "./env.ts";
import type { ModelFile } from "./model-file.ts";

export interface EngineOptions {
  readonly targets: readonly (TargetName | "cpu")[];
  readonly dims: Readonly<Record<string, number>>;
  readonly fusion: boolean;
  readonly threads: number | undefined;
  readonly warn: (text: string) => void;
}

type Values = Readonly<Record<string, OnnxValue>>;

const isDeviceError = (error: unknown): error is Error =>
  error instanceof Error && error.name === "DeviceError";

const firstLine = (error: Error): string => error.message.split("\n")[0]!;

let chosenAdapter: Promise<void> | undefined;

async function openAdapter(): Promise<void> {
  const { powerPreference, forceFallbackAdapter } = env.webgpu;
  const device = await openWebGpu({
    ...(powerPreference ? { powerPreference } : {}),
    allowSoftware: forceFallbackAdapter === true,
  });
  useDevice(device);
  device.lost.then(() => {
    chosenAdapter = undefined;
  });
}

/** The adapter that `env.webgpu` asks for, before the first session on one. */
async function webGpu(): Promise<unknown> {
  const { powerPreference, forceFallbackAdapter } = env.webgpu;
  if (powerPreference === undefined && !forceFallbackAdapter) return sessionFor("webgpu");
  chosenAdapter ??= openAdapter();
  chosenAdapter.catch(() => {
    chosenAdapter = undefined;
  });
  await chosenAdapter;
  return sessionFor("webgpu");
}

/** Why a target cannot be had here; undefined if it can. */
async function missing(target: TargetName): Promise<string | undefined> {
  try {
    await (target === "webgpu" ? webGpu() : sessionFor(target));
    return undefined;
  } catch (error) {
    if (isDeviceError(error)) return firstLine(error);
    throw error;
  }
}

function chooseThreads({ threads, warn }: EngineOptions): void {
  if (threads === undefined) return;
  try {
    setThreads(threads);
  } catch (error) {
    warn(firstLine(error as Error));
  }
}

export class Engine {
  #model: OnnxModel;
  #target: TargetName;
  readonly #file: ModelFile;
  readonly #options: EngineOptions;
  #lost = false;
  #opening: Promise<void> | undefined;

  private constructor(file: ModelFile, options: EngineOptions, target: TargetName) {
    this.#file = file;
    this.#options = options;
    this.#target = target;
    this.#model = this.#load();
  }

  /** Rejects with what `loadOnnx` throws, and with Error where no target can be had. */
  static async open(file: ModelFile, options: EngineOptions): Promise<Engine> {
    chooseThreads(options);
    const engine = new Engine(file, options, await firstHere(options));
    await engine.#start();
    return engine;
  }

  get target(): TargetName {
    return this.#target;
  }

  get inputs(): OnnxModel["inputs"] {
    return this.#model.inputs;
  }

  get outputs(): OnnxModel["outputs"] {
    return this.#model.outputs;
  }

  /** Programs compiled so far. */
  get compiles(): number {
    return this.#model.compiles;
  }

  async run(values: Values): Promise<Record<string, OnnxValue>> {
    await this.#opening;
    const model = this.#model;
    try {
      return await model.run(values);
    } catch (error) {
      if (!this.#lost && model === this.#model) throw error;
      await this.#reopen();
      return this.#model.run(values);
    }
  }

  async dispose(): Promise<void> {
    await this.#opening;
    await this.#model.dispose();
  }

  #load(): OnnxModel {
    const { dims, fusion } = this.#options;
    const { bytes, name, external } = this.#file;
    const options: OnnxOptions = {
      target: this.#target,
      dims,
      external,
      ...(name === undefined ? {} : { file: name }),
      ...(fusion ? {} : { fusion }),
    };
    return loadOnnx(bytes, options);
  }

  async #start(): Promise<void> {
    if (this.#target === "webgpu") {
      const { device } = await sessionFor("webgpu");
      this.#lost = false;
      device.lost.then(() => {
        this.#lost = true;
      });
    }
    await this.#model.prepare();
  }

  /** Reads the file again, for a new device, or for what is left of the targets. */
  #reopen(): Promise<void> {
    this.#opening ??= (async () => {
      this.#options.warn("the GPU was lost: the model is loaded again");
      this.#target = await firstHere(this.#options);
      this.#lost = false;
      this.#model = this.#load();
      await this.#start();
    })().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }
}

/** The first target that this machine has. */
async function firstHere({ targets, warn }: EngineOptions): Promise<TargetName> {
  const reasons: string[] = [];
  for (const wanted of targets) {
    const list: TargetName[] = wanted === "cpu" ? ["wasm", "js"] : [wanted];
    for (const target of list) {
      const why = await missing(target);
      if (why === undefined) {
        for (const reason of reasons) warn(`${reason}: ${target} runs the model`);
        return target;
      }
      reasons.push(`[${target}] ${why}`);
    }
  }
  throw new Error(`no available backend found. ERR: ${reasons.join(", ")}`);
}
