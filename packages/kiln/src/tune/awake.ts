/**
 * Whether a device is as fast as it has been before, by a small product whose time is known from then. Of a device that never was
 * fast it cannot tell.
 */
import { compileProgram, type Program } from "@kiln-ml/compiler";
import { input } from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime/loader";
import { Candidate, Feeds } from "./candidate.ts";

/** Large enough to be timed, small enough for any device. */
const size = 256;
/** Between a card at rest and one at work are factors of two and more. */
const asFast = 1.5;
/** Milliseconds; what is shorter is a fault of the clock. */
const least = 0.001;
/** Milliseconds of the product before its time is taken. */
const lead = 1;

/** The least time that the product ever took. */
const fastest = new WeakMap<Device, number>();

export class Awake {
  readonly #device: Device;
  readonly #feeds: Feeds;
  readonly #product: Candidate;

  private constructor(device: Device, feeds: Feeds, product: Candidate) {
    this.#device = device;
    this.#feeds = feeds;
    this.#product = product;
  }

  static async open(device: Device): Promise<Awake> {
    const [a, b] = ["a", "b"].map((name) => input(name, "f32", [size, size]));
    const outputs = [{ name: "y", value: a!.matmul(b!) }];
    const program: Program = { inputs: [a!, b!], outputs, updates: [] };
    const { artifact } = compileProgram(program, { target: device.target });
    const feeds = new Feeds(device, {});
    try {
      return new Awake(device, feeds, await Candidate.open(device, artifact, "", feeds));
    } catch (error) {
      feeds.dispose();
      throw error;
    }
  }

  /** Whether the device was timed before. */
  get known(): boolean {
    return fastest.has(this.#device);
  }

  readonly check = async (): Promise<boolean> => {
    const ms = Math.max(least, await this.#product.timer(lead));
    const known = fastest.get(this.#device) ?? ms;
    fastest.set(this.#device, Math.min(ms, known));
    return ms <= asFast * known;
  };

  dispose(): void {
    this.#product.exe.dispose();
    this.#feeds.dispose();
  }
}
