/** Times of kernels summed by program and kernel, and their table. */
import type { KernelTiming } from "@kiln-ml/runtime/loader";
import { table } from "./table.ts";

interface Total {
  readonly program: string;
  readonly kernel: string;
  calls: number;
  ms: number;
  bytes: number;
  flops: number;
}

export class Profile {
  readonly #totals = new Map<string, Total>();
  #timing = "clock";

  add(program: string, timings: readonly KernelTiming[]): void {
    for (const { name: kernel, ms, bytes, flops, timing } of timings) {
      const key = `${program}\n${kernel}`;
      const total = this.#totals.get(key) ?? {
        program,
        kernel,
        calls: 0,
        ms: 0,
        bytes: 0,
        flops: 0,
      };
      total.calls += 1;
      total.ms += ms;
      total.bytes += bytes;
      total.flops += flops;
      this.#totals.set(key, total);
      this.#timing = timing;
    }
  }

  /** The same as JSON, with totals in milliseconds, bytes and operations. */
  json(): string {
    const kernels = [...this.#totals.values()].sort((a, b) => b.ms - a.ms);
    return `${JSON.stringify({ timing: this.#timing, kernels }, null, 2)}\n`;
  }

  /** The most costly kernels first. */
  print(): string {
    const totals = [...this.#totals.values()].sort((a, b) => b.ms - a.ms);
    const sum = totals.reduce((ms, t) => ms + t.ms, 0);
    const rows = totals.map((t) => [
      t.program,
      t.kernel,
      `${t.calls}`,
      t.ms.toFixed(3),
      `${((100 * t.ms) / (sum || 1)).toFixed(1)}%`,
      rate(t.bytes, t.ms),
      rate(t.flops, t.ms),
    ]);
    const head = ["program", "kernel", "calls", "ms", "share", "GB/s", "GFLOP/s"];
    return `\n${table([head, ...rows])}\n${sum.toFixed(3)} ms in kernels, by ${this.#timing}\n`;
  }
}

/** Billions a second. */
export const rate = (amount: number, ms: number): string =>
  ms > 0 ? (amount / ms / 1e6).toFixed(2) : "-";
