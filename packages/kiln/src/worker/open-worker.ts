/**
 * Work off the page's thread, seen from the page: tasks of a worker by name, with what they report,
 * and an end to those that are no longer wanted. Loads no compiler: that is the worker's.
 */
import { checkOptions, DeviceError, GraphError, type OptionNames } from "@kiln-ml/artifact";
import type { CompileStage } from "../devices/settings.ts";
import { Channel, type WorkerLike } from "../open/channel.ts";
import type { AnyTasks, Told } from "./serve-tasks.ts";

export interface OpenWorkerOptions {
  /**
   * How long a task that is no longer wanted may take to stop, before the worker is ended; 1000.
   */
  readonly patienceMs?: number;
}

const openWorkerOptions: OptionNames<OpenWorkerOptions> = { patienceMs: 1 };

export interface CallOptions<Report = unknown> {
  /** Ends the task: the call rejects at once with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called with what the task reports. */
  readonly onReport?: (report: Report) => void;
  /**
   * Called as programs are compiled in the worker, once a stage. Of tasks that run at once, the one
   * that began last is told.
   */
  readonly onCompile?: (stage: CompileStage) => void;
}

const callOptions: OptionNames<CallOptions> = { signal: 1, onReport: 1, onCompile: 1 };

/** Tasks of a worker. */
export interface TaskWorker<T extends AnyTasks = AnyTasks> {
  /**
   * Runs a task there. Values go as messages: numbers, texts, records, typed arrays. Rejects with
   * what the task throws, and with DeviceError where the worker ends.
   */
  call<K extends keyof T & string>(
    task: K,
    input?: Parameters<T[K]>[0],
    options?: CallOptions,
  ): Promise<Awaited<ReturnType<T[K]>>>;
  /** Ends the worker and whatever it does. */
  end(): void;
}

/**
 * A worker whose script calls `serveTasks`. Given a function that starts it, a call starts it anew
 * after it ended by itself, or with a task that had to be ended by force: one that compiles hears
 * nothing until it is done.
 *
 *   const worker = openWorker(
 *     () => new Worker(new URL("./train.js", import.meta.url), { type: "module" }),
 *   );
 *   await worker.call("train", { epochs: 5 }, { onReport: ({ loss }) => draw(loss), signal });
 */
export function openWorker<T extends AnyTasks = AnyTasks>(
  worker: WorkerLike | (() => WorkerLike),
  options: OpenWorkerOptions = {},
): TaskWorker<T> {
  const { patienceMs = 1000 } = checkOptions("openWorker", options, openWorkerOptions);
  const start = typeof worker === "function" ? worker : undefined;
  const first = start ? start() : worker;
  if (typeof (first as Partial<WorkerLike> | null)?.postMessage !== "function")
    throw new GraphError(
      'openWorker: takes a worker, or a function that starts one\n  pass () => new Worker(url, { type: "module" })',
    );
  return new Tasks(first as WorkerLike, start, patienceMs) as unknown as TaskWorker<T>;
}

const died = (why: string): DeviceError =>
  new DeviceError(
    `openWorker: the worker ended: ${why}\n  its script calls serveTasks of kiln-ml/worker; a page's policy names it in worker-src`,
  );

class Tasks {
  readonly #start: (() => WorkerLike) | undefined;
  readonly #patienceMs: number;
  #channel: Channel<Told> | undefined;
  /** Settles once a task that is no longer wanted has stopped, or its worker was ended. */
  #stopping: Promise<void> = Promise.resolve();

  constructor(worker: WorkerLike, start: (() => WorkerLike) | undefined, patienceMs: number) {
    this.#channel = new Channel(worker, died);
    this.#start = start;
    this.#patienceMs = patienceMs;
  }

  async call(task: string, input: unknown, options: CallOptions = {}): Promise<unknown> {
    const { signal, onReport, onCompile } = checkOptions("call", options, callOptions);
    // What is asked of a worker that is about to be ended would be lost.
    await this.#stopping;
    signal?.throwIfAborted();
    const channel = this.#open();
    const heard = ({ report, compiled }: Told): void => {
      if (compiled) onCompile?.(compiled);
      else onReport?.(report);
    };
    const request = { call: "task", task, input, tellsStages: onCompile !== undefined };
    return channel.ask(request, signal, heard, (gone) => this.#force(channel, gone));
  }

  #open(): Channel<Told> {
    if (this.#channel && !(this.#start && this.#channel.isDead)) return this.#channel;
    if (!this.#start)
      throw new DeviceError(
        "openWorker: the worker was ended\n  pass a function that starts one, and it is started anew",
      );
    this.#channel = new Channel(this.#start(), died);
    return this.#channel;
  }

  /** Ends a worker that does not leave off by itself. */
  #force(channel: Channel<Told>, gone: Promise<void>): void {
    const late = new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        if (this.#channel === channel) this.#channel = undefined;
        channel.end(
          new DeviceError("openWorker: the worker was ended, as another task did not stop"),
        );
        resolve();
      }, this.#patienceMs);
      void gone.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    this.#stopping = Promise.all([this.#stopping, late]).then(() => {});
  }

  end(): void {
    this.#channel?.end(new DeviceError("openWorker: the worker was ended"));
    this.#channel = undefined;
  }
}
