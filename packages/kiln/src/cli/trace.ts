/**
 * `kiln run --trace`: what was compiled and what ran as a file that Perfetto and Chrome's
 * `about:tracing` open. Kernels are told with their times but not their starts: those of a run are
 * laid end to end, up to the moment at which they were read. Slices of a row that began before the
 * one in front of them ended would not be shown: none does.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
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
  /** When the last slice of each row ended. */
  readonly #ends = { compile: 0, run: 0 };

  /** `now` is a clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#began = now();
  }

  /** A stage of a program that is done, which took so long. */
  stage({ program, stage }: CompileStage, ms: number): void {
    const end = this.#passed();
    // The time that telling takes is in it: a stage begins where the one before it ended.
    const start = Math.max(this.#ends.compile, end - ms);
    this.#add("compile", stage, start, end, { program });
    this.#ends.compile = end;
  }

  /** A run that is done, kernel by kernel: behind the one before it, if they are read at once. */
  run(program: string, timings: readonly KernelTiming[]): void {
    const whole = timings.reduce((sum, { ms }) => sum + ms, 0);
    const start = Math.max(this.#ends.run, this.#passed() - whole);
    this.#add("run", program, start, start + whole, { kernels: timings.length });
    let at = start;
    timings.forEach(({ name, ms, bytes, flops, timing }, i) => {
      const end = i === timings.length - 1 ? start + whole : at + ms;
      this.#add("kernel", name, at, end, { program, bytes, flops, timing });
      at = end;
    });
    this.#ends.run = start + whole;
  }

  /** Milliseconds since it began. */
  #passed(): number {
    return this.#now() - this.#began;
  }

  /** Both ends in whole nanoseconds, as readers keep them: what touches still does. */
  #add(cat: Slice["cat"], name: string, start: number, end: number, args: Slice["args"]): void {
    const [from, to] = [start, end].map((ms) => Math.round(ms * 1e6)) as [number, number];
    const [ts, dur] = [from / 1000, (to - from) / 1000];
    this.#slices.push({ name, cat, ph: "X", ts, dur, pid: 1, tid: threads[cat], args });
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

  /** Folders on the way to it are made. */
  write(path: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, this.json());
  }

  get size(): number {
    return this.#slices.length;
  }
}
