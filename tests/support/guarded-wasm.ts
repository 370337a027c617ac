/**
 * A wasm device for tests that finds a kernel which writes outside of its bindings: what belongs to nobody holds a pattern,
 * and must hold it after each run. Buffers are as long as what was asked for, and so is the private memory of a thread.
 * Sees writes only: places that are read are checked in kernel IR.
 */
import type { Artifact } from "@kiln-ml/artifact";
import { Device, type Program } from "../../runtime/src/device.ts";
import type { LinearBuffer } from "../../runtime/src/devices/linear-memory.ts";
import { WasmDriver, type WasmOptions } from "../../runtime/src/devices/wasm.ts";
import type { Stacks } from "../../runtime/src/devices/wasm-calls.ts";
import type { Buffer as DeviceBuffer } from "../../runtime/src/heap.ts";
import { bufferAt, type Frame } from "../../runtime/src/layout.ts";
import { type Damage, GuardedMemory, guardBytes, type Live } from "./guarded-memory.ts";

interface Owned extends Live {
  readonly what: string;
}

/** The memory for all stacks, and what of it is theirs at present. */
interface Stacked {
  readonly base: number;
  readonly end: number;
  readonly ranges: readonly Owned[];
}

class GuardedDriver extends WasmDriver {
  readonly #memory: GuardedMemory;
  readonly #live = new Map<number, Owned>();
  #stacks: Stacked | undefined;

  constructor(options: WasmOptions) {
    let memory: GuardedMemory | undefined;
    super({ poison: true, ...options }, (shared, maxBytes) => {
      memory = new GuardedMemory(shared, maxBytes);
      return memory;
    });
    this.#memory = memory!;
  }

  override allocate(sizeBytes: number, owner: string, tensor: string): DeviceBuffer {
    const buffer = super.allocate(sizeBytes, owner, tensor) as LinearBuffer;
    const { address } = buffer;
    if (owner === "stacks") {
      if (this.#stacks) this.#forget(this.#stacks.base);
      this.#stacks = { base: address, end: address + buffer.sizeBytes, ranges: [] };
    }
    this.#memory.cover(address + sizeBytes, address + buffer.sizeBytes);
    this.#live.set(address, { from: address, to: address + sizeBytes, what: tensor });
    return buffer;
  }

  override release(buffer: DeviceBuffer): void {
    const { address } = buffer as LinearBuffer;
    if (buffer.owner !== undefined) this.#forget(address);
    super.release(buffer);
  }

  override stacks(sizeBytes: number, threads: number): Stacks {
    if (sizeBytes === 0) return super.stacks(0, threads);
    const { from, strideBytes } = super.stacks(sizeBytes + guardBytes, threads);
    const ranges = Array.from({ length: threads }, (_, t): Owned => {
      const start = from + t * strideBytes;
      this.#memory.cover(start + sizeBytes, start + strideBytes);
      return { from: start, to: start + sizeBytes, what: `private memory of thread ${t}` };
    });
    // It may have been made for more.
    const { end } = this.#stacks!;
    this.#memory.cover(from + threads * strideBytes, end);
    this.#stacks = { base: from, end, ranges };
    return { from, strideBytes };
  }

  override async load(artifact: Artifact): Promise<Program> {
    const inner = await super.load(artifact);
    const check = (frame: Frame): void => this.#check(artifact, frame);
    return {
      run(frame, options) {
        const running = inner.run(frame, options);
        return running ? running.then(() => check(frame)) : check(frame);
      },
      async profile(frame) {
        const timings = await inner.profile(frame);
        check(frame);
        return timings;
      },
      destroy: () => inner.destroy(),
    };
  }

  #forget(address: number): void {
    const owned = this.#live.get(address);
    if (owned && this.failure() === null) this.#memory.cover(owned.from, owned.to);
    this.#live.delete(address);
  }

  #check(artifact: Artifact, frame: Frame): void {
    if (this.failure() !== null) return;
    const base = this.#stacks?.base;
    const owned = [...this.#live].flatMap(([address, range]) =>
      address === base && this.#stacks!.ranges.length > 0 ? this.#stacks!.ranges : [range],
    );
    // Of no bytes there may be several in one place.
    owned.sort((a, b) => a.from - b.from || a.to - b.to);
    const found = this.#memory.damage(owned);
    if (found) throw new Error(told(found, artifact, frame));
  }
}

/** What was overwritten, and which kernels write next to it. */
function told({ from, to, before, after }: Damage, artifact: Artifact, frame: Frame): string {
  const near = [
    ...(before ? [`${from - before.to} after ${(before as Owned).what}`] : []),
    ...(after ? [`${after.from - to} before ${(after as Owned).what}`] : []),
  ];
  const starts = new Set([before?.from, after?.from]);
  const named = artifact.plan.steps.flatMap(({ kernel, args }) => {
    const { name, bindings } = artifact.kernels[kernel]!;
    const writes = args.some((place, i) => {
      const { address } = bufferAt(frame, place) as LinearBuffer;
      return bindings[i]!.access !== "read" && starts.has(address);
    });
    return writes ? [name] : [];
  });
  const all = artifact.kernels.map((k) => k.name);
  const kernels = [...new Set(named.length > 0 ? named : all)];
  return `a run of ${artifact.name} wrote ${to - from} bytes outside of its bindings, ${near.join(", ")} (kernel ${kernels.join(" or ")})`;
}

/** A wasm device on guarded, poisoned memory. */
export const guardedWasmDevice = (options: WasmOptions = {}): Device =>
  new Device(new GuardedDriver(options));
