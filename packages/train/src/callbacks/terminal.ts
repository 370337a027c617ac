/**
 * Shows a run: on a terminal a line that is redrawn, with progress, time left, throughput, metrics
 * and the course of the loss; plain lines elsewhere, and where NO_COLOR is set or TERM is dumb.
 * Several runs at once each have a line.
 */

import type { MetricValue } from "../meter.ts";
import type { Callback, EpochRecord, Logs, Run } from "../run.ts";

/** What it writes to: `process.stderr`, a page's console, or a stand-in. */
export interface Out {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface TerminalOptions {
  readonly out?: Out;
  /** Redraws and colours; where there is a terminal, unless NO_COLOR is set. */
  readonly fancy?: boolean;
  /** Begins the lines, so that several runs can be told apart. */
  readonly label?: string;
}

const redrawMs = 200;
const plainMs = 10_000;
const bars = "▁▂▃▄▅▆▇█";

/** Values as a row of bars, the least the lowest; of what is no number a space. */
export function sparkline(values: readonly number[], width = 20): string {
  const last = values.slice(-width);
  const finite = last.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const step = (v: number): number =>
    high > low ? Math.round(((v - low) / (high - low)) * (bars.length - 1)) : 0;
  return last.map((v) => (Number.isFinite(v) ? bars[step(v)] : " ")).join("");
}

/** 0.9375, 1.23e-7, 1234. */
export const shortNumber = (x: number): string => {
  const size = Math.abs(x);
  if (!Number.isFinite(x) || Number.isInteger(x)) return String(x);
  return size >= 1e-3 && size < 1e5 ? String(Number(x.toPrecision(4))) : x.toExponential(2);
};

/** 42 ms, 0.42 s, 4.2 s, 42 s, 3 min 5 s, 2 h 10 min. */
export function duration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (seconds > 0 && seconds < 0.0995) return `${Math.ceil(1000 * seconds)} ms`;
  if (seconds > 0 && seconds < 9.95) return `${Number(seconds.toPrecision(2))} s`;
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

const shown = (logs: Logs): string =>
  Object.entries(logs)
    .filter((entry): entry is [string, number & MetricValue] => typeof entry[1] === "number")
    .map(([name, value]) => `${name} ${shortNumber(value)}`)
    .join("  ");

/**
 * Lines at the foot of one terminal, drawn over at each change; what is printed between them
 * scrolls above.
 */
class Foot {
  readonly #out: Out;
  readonly #lines = new Map<object, string>();
  #drawn = 0;

  constructor(out: Out) {
    this.#out = out;
  }

  set(owner: object, line: string): void {
    this.#lines.set(owner, line);
    this.#draw("");
  }

  /** A line that stays above; with `owner` its own goes. */
  keep(text: string, owner?: object): void {
    if (owner) this.#lines.delete(owner);
    this.#draw(`${text}\n`);
  }

  drop(owner: object): void {
    if (this.#lines.delete(owner)) this.#draw("");
  }

  #draw(above: string): void {
    const width = (this.#out.columns || 80) - 1;
    const up = this.#drawn ? `\x1b[${this.#drawn}A` : "";
    const lines = [...this.#lines.values()].map(
      (line) => `${[...line].slice(0, width).join("")}\n`,
    );
    this.#out.write(`${up}\r\x1b[J${above}${lines.join("")}`);
    this.#drawn = lines.length;
  }
}

const feet = new WeakMap<Out, Foot>();
const footOf = (out: Out): Foot => {
  const foot = feet.get(out) ?? new Foot(out);
  feet.set(out, foot);
  return foot;
};

/** Whether `out` may be redrawn: a terminal that is not dumb, and nobody set NO_COLOR. */
const isFancy = (out: Out): boolean =>
  out.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";

/** A page's console, which has lines and nothing to draw over. */
const consoleOut: Out = { write: (text) => console.log(text.trimEnd()) };

/** The standard error of a process; where there is none, the console. */
const standardOut = (): Out =>
  (globalThis as { process?: { stderr?: Out } }).process?.stderr ?? consoleOut;

class Terminal implements Callback {
  readonly name = "terminal";
  readonly #out: Out;
  readonly #fancy: boolean;
  readonly #label: string;
  readonly #losses: number[] = [];
  #shownAt = 0;
  #started = 0;
  #samplesBefore = 0;

  constructor({ out = standardOut(), fancy = isFancy(out), label }: TerminalOptions) {
    this.#out = out;
    this.#fancy = fancy;
    this.#label = label === undefined ? "" : `${label}: `;
  }

  onStart(run: Run): void {
    this.#started = performance.now();
    this.#shownAt = this.#started;
    this.#samplesBefore = run.samples;
  }

  onStepEnd(run: Run): Promise<void> | undefined {
    const due = performance.now() - this.#shownAt >= (this.#fancy ? redrawMs : plainMs);
    return due ? this.#show(run) : undefined;
  }

  async #show(run: Run): Promise<void> {
    const logs = await run.read();
    if (typeof logs.loss === "number") this.#losses.push(logs.loss);
    // Reading waits for the device, so the clock starts after it.
    this.#shownAt = performance.now();
    const line = this.#line(run, logs);
    if (this.#fancy) footOf(this.#out).set(this, line);
    else this.#out.write(`${line}\n`);
  }

  onEpochEnd(run: Run): void {
    const line = this.#summary(run, run.records.at(-1)!);
    if (this.#fancy) footOf(this.#out).keep(line, this);
    else this.#out.write(`${line}\n`);
    this.#shownAt = performance.now();
  }

  onEnd(run: Run): void {
    if (this.#fancy) footOf(this.#out).drop(this);
    if (run.stopped !== undefined && !run.interrupted)
      this.#out.write(`${this.#label}stopped: ${run.stopped}\n`);
  }

  #summary(run: Run, { epoch, seconds, samplesPerSecond, logs }: EpochRecord): string {
    const speed = `${Math.round(samplesPerSecond)} samples/s`;
    return `${this.#label}epoch ${epoch}/${run.epochs}  ${shown(logs)}  ${duration(seconds)}  ${speed}`;
  }

  #line(run: Run, logs: Logs): string {
    const seconds = (performance.now() - this.#started) / 1000;
    const rate = (run.samples - this.#samplesBefore) / seconds;
    const { batch, batches } = run;
    const where = `${this.#label}epoch ${run.epoch}/${run.epochs}`;
    const speed = `${Math.round(rate)} samples/s`;
    if (batches === undefined) return `${where}  step ${batch}  ${shown(logs)}  ${speed}`;
    const left = (run.epochs - run.epoch + 1) * batches - batch;
    const eta = (left * run.samples) / Math.max(1, run.step) / rate;
    const bar = this.#fancy ? `${progressBar(batch / batches)} ` : "";
    const curve = this.#fancy ? `  ${sparkline(this.#losses)}` : "";
    return `${where} ${bar}${batch}/${batches}  ${shown(logs)}  ${speed}  ${duration(eta)} left${curve}`;
  }
}

const progressBar = (share: number, width = 16): string => {
  const full = Math.round(share * width);
  return `\x1b[32m${"━".repeat(full)}\x1b[0m${"─".repeat(width - full)}`;
};

/** The renderer that `fit` uses of itself; give it options, or `renderer: false` for silence. */
export const terminal = (options: TerminalOptions = {}): Callback => new Terminal(options);
