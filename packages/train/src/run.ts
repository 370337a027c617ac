/**
 * What callbacks see and may do: where a run is, what it measured, how to end it and how to save
 * it. A renderer, a logger and a checkpoint are all callbacks; the loop knows none of them.
 */
import { GraphError } from "@kiln-ml/ir";
import type { Module } from "@kiln-ml/nn";
import type { Optimizer } from "@kiln-ml/optim";
import type { ProgramFacts } from "./front.ts";
import type { MetricValue } from "./meter.ts";

/** What an epoch measured: `loss`, metrics by name, and those of the validation as `val.…`. */
export type Logs = Readonly<Record<string, MetricValue>>;

export interface EpochRecord {
  /** From 1. */
  readonly epoch: number;
  /** Steps since the start of the run, resumed ones included. */
  readonly step: number;
  readonly seconds: number;
  readonly samplesPerSecond: number;
  readonly logs: Logs;
}

/** How a run went. */
export interface History {
  readonly epochs: readonly EpochRecord[];
  /** Why it ended before its last epoch, if it did. */
  readonly stopped?: string;
  /** True after Ctrl-C or an abort. */
  readonly interrupted: boolean;
  /** The values of one name, an epoch each; NaN for an epoch without. */
  values(name: string): number[];
}

/** A run at work. */
export interface Run {
  readonly net: Module;
  readonly optimizer: Optimizer;
  readonly epochs: number;
  /** The present epoch, from 1. */
  readonly epoch: number;
  /** Batches done in this epoch, and all there are where that is known. */
  readonly batch: number;
  readonly batches: number | undefined;
  /** Steps since the start, and samples in this process. */
  readonly step: number;
  readonly samples: number;
  /** "train", or "validation" between the last step of an epoch and its end. */
  readonly phase: "train" | "validation";
  readonly records: readonly EpochRecord[];
  /** What there is to monitor. */
  readonly names: readonly string[];
  /** True once the run ends before its time. */
  readonly interrupted: boolean;
  readonly stopped: string | undefined;
  /** The options of the run in words, for a log. */
  readonly configuration: Readonly<Record<string, string>>;
  /** Loss and metrics of this epoch so far. Waits for the device: not for every step. */
  read(): Promise<Logs>;
  /**
   * The number of the first step whose loss was not finite; 0 if there is none. Waits for the
   * device.
   */
  badStep(): Promise<number>;
  /**
   * What a step is compiled to, once one has run; undefined where the compiler cannot tell.
   * Compiles it again: once a run.
   */
  program(): Promise<ProgramFacts | undefined>;
  /** Ends the run after this step, or this epoch; the reason goes into the history. */
  stop(reason: string): void;
  /** The whole state of the run as one safetensors file: `fit` resumes from it. */
  snapshot(): Promise<Uint8Array>;
}

/**
 * Waited for if it gives a promise: one that has nothing to do at a step gives none, and costs
 * none.
 */
type Hook = (run: Run) => void | Promise<void>;

/** What a run calls, in the order of the list; all are awaited. */
export interface Callback {
  /** Prefix of messages, and the name that its state is saved under. */
  readonly name: string;
  /** Before the first step. */
  onStart?: Hook;
  /** After each step was asked for; the device may not have done it yet. */
  onStepEnd?: Hook;
  /** When validation begins, after the last step of an epoch. */
  onValidation?: Hook;
  /** After the validation; the last entry of `run.records` is this epoch's. */
  onEpochEnd?: Hook;
  /** After Ctrl-C or an abort, in place of the end of the epoch. */
  onInterrupt?: Hook;
  /** In the end, after an error too. */
  onEnd?: (run: Run, error?: unknown) => void | Promise<void>;
  /** Where it saves runs that can go on, which a run does by itself once its engine was lost. */
  readonly folder?: string;
  /** Goes on after others have seen the same event, since it saves what they decided. */
  readonly last?: boolean;
  /** What it has to know after a resume, as JSON. */
  state?(): unknown;
  load?(state: never): void;
}

/** The number that a callback watches. Throws GraphError for a name that the run does not have. */
export function checkMonitor(op: string, monitor: string, { names }: Run): void {
  if (!names.includes(monitor))
    throw new GraphError(
      `${op}: there is no ${monitor} to monitor\n  this run has ${names.join(", ")}`,
    );
}

/** The value of `monitor` in the last epoch; undefined where it is no number. */
export function monitored(monitor: string, run: Run): number | undefined {
  const value = run.records.at(-1)?.logs[monitor];
  return typeof value === "number" ? value : undefined;
}

/** Whether less is better, as names go: losses, errors and perplexity. */
export const modeOf = (monitor: string): "min" | "max" =>
  /(^|\.)(loss|mae|mse|rmse|hamming|perplexity|cer|wer)$|error/.test(monitor) ? "min" : "max";

export function historyOf(run: Run): History {
  const epochs = [...run.records];
  return {
    epochs,
    ...(run.stopped === undefined ? {} : { stopped: run.stopped }),
    interrupted: run.interrupted,
    values: (name) => epochs.map(({ logs }) => (typeof logs[name] === "number" ? logs[name] : NaN)),
  };
}
