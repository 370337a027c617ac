/**
 * `xla({ mesh })`: the engine that `compile` and `fit` take. One process, started at the first use,
 * and again when it was lost.
 */
import { DeviceError } from "@kiln-ml/ir";
import { dataParallel, meshText } from "@kiln-ml/stablehlo";
import type { ExternalEngine } from "kiln-ml";
import { XlaDevice } from "./device.ts";
import { checkXla, commandOf, type XlaOptions } from "./options.ts";
import { type Answer, protocol } from "./protocol.ts";
import { Sidecar } from "./sidecar.ts";

/** What the process tells of itself. */
interface Greeting extends Answer {
  readonly protocol: number;
  readonly jaxlib: string;
  /** The kind of its devices, "NVIDIA H200", and how many all hosts have. */
  readonly device: string;
  readonly devices: number;
}

export class Xla implements ExternalEngine {
  readonly name = "xla";
  readonly options: XlaOptions;
  #device: XlaDevice | undefined;
  #opening: Promise<XlaDevice> | undefined;
  #sidecar: Sidecar | undefined;

  constructor(options: XlaOptions) {
    this.options = checkXla(options);
  }

  /** Whether its process ran and has ended. */
  get isLost(): boolean {
    return this.#device?.isLost ?? false;
  }

  /** The process's number, for whoever watches it. */
  get pid(): number | undefined {
    return this.#sidecar?.pid;
  }

  /**
   * The device, started if it does not run. Rejects with DeviceError where there is no Python, no
   * jax, or too few devices.
   */
  open(): Promise<XlaDevice> {
    if (this.#device && !this.#device.isLost) return Promise.resolve(this.#device);
    this.#opening ??= this.#start().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Ends the process; arrays that live there are gone. */
  close(): void {
    this.#sidecar?.close();
  }

  async #start(): Promise<XlaDevice> {
    const { mesh, shard = dataParallel(), hosts } = this.options;
    const sidecar = new Sidecar(commandOf(this.options));
    this.#sidecar = sidecar;
    const axes = Object.entries(mesh.axes);
    const hello = { op: "hello" as const, protocol, axes, ...(hosts ? { hosts } : {}) };
    const { device, devices, jaxlib, ...greeting } = (await sidecar.greet(hello)) as Greeting;
    if (greeting.protocol !== protocol) {
      sidecar.close();
      throw new DeviceError(
        `xla: the engine speaks protocol ${greeting.protocol}, this Kiln speaks ${protocol}\n  install the same version of both`,
      );
    }
    if (devices < mesh.size) {
      sidecar.close();
      throw new DeviceError(
        `xla: the mesh ${meshText(mesh)} has ${mesh.size} devices, there ${devices === 1 ? "is 1" : `are ${devices}`} (${device})\n  make the mesh smaller, or try it on devices made of this processor: xla({ mesh, virtual: true })`,
      );
    }
    const recipes = typeof shard === "function" ? [shard] : shard;
    const name = `${mesh.size} × ${device}, jaxlib ${jaxlib}`;
    this.#device = new XlaDevice(sidecar, { mesh, shard: recipes, name, devices });
    return this.#device;
  }
}

/**
 * XLA over a mesh of devices, for `compile(step, { engine })` and `fit(net, loader, { engine })`.
 * Parameters and moments stay on its devices; losses, reads and checkpoints are as with any target.
 *
 *   const engine = xla({ mesh: mesh({ data: 8 }) });
 *   await train.fit(net, loader, { engine, optimizer, loss: nn.crossEntropy });
 *
 * Needs Python with jax 0.11 or newer. Throws GraphError for options that do not fit; `open` says
 * what is missing.
 */
export const xla = (options: XlaOptions): Xla => new Xla(options);
