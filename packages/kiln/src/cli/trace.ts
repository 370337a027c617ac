/**
 * `kiln run --trace`: what was compiled and what ran as a file that Perfetto and Chrome's
 * `about:tracing` open. Kernels are told with their times but not their starts: those of a run are
 * laid end to end, up to the moment at which they were read.
 */
import { writeFileSync } from "node:fs";
import type { KernelTiming } from "@kiln-ml/runtime/loader";
import type { CompileStage } from "../devices/settings.ts";

/** A slice of Chrome's Trace Event Format; times are microseconds. */
interface Slice {
  readonly name: string;
  readonly cat: "compile" | "run" | "kernel";
  readonly ph: "X";
  readonly ts: number;
  readonly dur: number;
  readonly pid: 1;
  readonly tid: number;
  readonly args: Readonly<Record<string, string | number>>;
}

const threads = { compile: 1, run: 2, kernel: 2 } as const;

export class Trace {
  readonly #slices: Slice[] = [];
  readonly #now: () => number;
  readonly #began: number;

  /** `now` is a clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#began = now();
  }

  /** A stage of a program that is done, which took so long. */
  stage({ program, stage }: CompileStage, ms: number): void {
    this.#add("compile", stage, this.#now() - ms, ms, { program });
  }

  /** A run that is done, kernel by kernel. */
  run(program: string, timings: readonly KernelTiming[]): void {
    const whole = timings.reduce((sum, { ms }) => sum + ms, 0);
    let at = this.#now() - whole;
    this.#add("run", program, at, whole, { kernels: timings.length });
    for (const { name, ms, bytes, flops, timing } of timings) {
      this.#add("kernel", name, at, ms, { program, bytes, flops, timing });
      at += ms;
    }
  }

  #add(cat: Slice["cat"], name: string, at: number, ms: number, args: Slice["args"]): void {
    const ts = Math.max(0, (at - this.#began) * 1000);
    this.#slices.push({ name, cat, ph: "X", ts, dur: ms * 1000, pid: 1, tid: threads[cat], args });
  }

  /** The file's text. */
  json(): string {
    const named = (name: string, tid: number, text: string) => ({
      name,
      ph: "M",
      pid: 1,
      tid,
      args: { name: text },
    });
    const heads = [
      named("process_name", 1, "kiln"),
      named("thread_name", threads.compile, "compiler"),
      named("thread_name", threads.run, "kernels"),
    ];
    return JSON.stringify({ traceEvents: [...heads, ...this.#slices], displayTimeUnit: "ms" });
  }

  write(path: string): void {
    writeFileSync(path, this.json());
  }

  get size(): number {
    return this.#slices.length;
  }
}
