/**
 * Workers that make batches, seen from the loader: each is asked for one batch after the other and answers in order. Node's threads
 * and a page's workers speak alike. They are held only while an answer is awaited, so that none keeps a process alive.
 */
import {
  ArtifactError,
  checkOptions,
  DeviceError,
  GraphError,
  type KilnError,
  type OptionNames,
} from "@kiln-ml/ir";
import { setBatchShape } from "./batch-shape.ts";
import { naming } from "./items.ts";

/** What a worker of Node's `worker_threads` and one of a page have in common. */
export interface WorkerLike {
  postMessage(message: unknown): void;
  terminate(): unknown;
}

export interface Workers {
  readonly count: number;
  /** Starts one; its module calls `serveBatches`. */
  readonly start: () => WorkerLike;
}

export interface BatchRequest {
  readonly id: number;
  readonly indices: Uint32Array;
}

/** `shapes` are those of the typed arrays of the batch, in the order in which a walk meets them. */
export type BatchReply =
  | { readonly id: number; readonly batch: unknown; readonly shapes: (number[] | undefined)[] }
  | { readonly id: number; readonly error: { readonly file: boolean; readonly message: string } };

interface Pending {
  /** Whose request it is: loops over one loader may be several. */
  readonly loop: object;
  readonly worker: number;
  readonly resolve: (batch: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The typed arrays of a batch: of lists and records, as deep as they go. */
export function arraysOf(batch: unknown, found: ArrayBufferView[] = []): ArrayBufferView[] {
  if (ArrayBuffer.isView(batch)) found.push(batch);
  else if (typeof batch === "object" && batch !== null)
    for (const part of Object.values(batch)) arraysOf(part, found);
  return found;
}

const workersOptions: OptionNames<Workers> = { count: 1, start: 1 };

export class WorkerCrew {
  readonly #options: Workers;
  #workers: WorkerLike[] = [];
  readonly #pending = new Map<number, Pending>();
  #next = 0;
  #lost: KilnError | undefined;

  constructor(options: Workers) {
    const { count, start } = checkOptions("dataLoader", options, workersOptions);
    if (!Number.isInteger(count) || count < 1 || typeof start !== "function")
      throw new GraphError(
        'dataLoader: workers needs a count of 1 or more and a function that starts one\n  { count: 2, start: () => new Worker(new URL("./batches.js", import.meta.url)) }',
      );
    this.#options = options;
  }

  /** Batches that are asked for ahead: one that each makes, and one that waits for it. */
  get ahead(): number {
    return 2 * this.#options.count;
  }

  /** The batch of the samples at `indices`, made by the worker with the least to do. */
  request(indices: ArrayLike<number>, loop: object): Promise<unknown> {
    if (this.#lost) return Promise.reject(this.#lost);
    const load = new Array<number>(this.#options.count).fill(0);
    for (const { worker } of this.#pending.values()) load[worker]!++;
    const worker = load.indexOf(Math.min(...load));
    while (this.#workers.length <= worker) this.#workers.push(this.#started(this.#workers.length));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { loop, worker, resolve, reject });
      hold(this.#workers[worker]!, true);
      const message: BatchRequest = { id, indices: Uint32Array.from(indices) };
      this.#workers[worker]!.postMessage(message);
    });
  }

  #started(place: number): WorkerLike {
    const worker = this.#options.start();
    const crashed = (why: string) =>
      this.#lose(
        new DeviceError(
          `dataLoader: worker ${place} ended: ${why}\n  its module must load by itself and call serveBatches`,
        ),
      );
    listen(worker, {
      message: (data) => this.#answered(data as BatchReply),
      error: (error) => crashed(error instanceof Error ? error.message : String(error)),
      exit: (code) => crashed(`exit code ${code}`),
    });
    hold(worker, false);
    return worker;
  }

  #answered(reply: BatchReply): void {
    const pending = this.#pending.get(reply.id);
    // A batch that nobody waits for any more.
    if (!pending) return;
    this.#pending.delete(reply.id);
    this.#release(pending.worker);
    if ("error" in reply) {
      const Kind = reply.error.file ? ArtifactError : GraphError;
      pending.reject(naming(new Kind(reply.error.message)));
      return;
    }
    for (const [i, array] of arraysOf(reply.batch).entries())
      if (reply.shapes[i]) setBatchShape(array, reply.shapes[i]);
    pending.resolve(reply.batch);
  }

  #release(worker: number): void {
    for (const other of this.#pending.values()) if (other.worker === worker) return;
    if (this.#workers[worker]) hold(this.#workers[worker], false);
  }

  #lose(error: KilnError): void {
    // Closed by its owner.
    if (!this.#workers.length) return;
    this.#lost = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    void this.close();
  }

  /** A loop has ended: what it asked for is awaited no more. */
  forget(loop: object): void {
    for (const [id, pending] of this.#pending)
      if (pending.loop === loop) {
        this.#pending.delete(id);
        this.#release(pending.worker);
      }
  }

  async close(): Promise<void> {
    const workers = this.#workers;
    this.#workers = [];
    const closed = new GraphError("dataLoader: the loader was closed while a batch was awaited");
    for (const { reject } of this.#pending.values()) reject(closed);
    this.#pending.clear();
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

interface NodeWorker extends WorkerLike {
  on(event: string, heard: (value: unknown) => void): void;
  ref(): void;
  unref(): void;
}

interface PageWorker extends WorkerLike {
  addEventListener(
    event: string,
    heard: (event: { data?: unknown; message?: string }) => void,
  ): void;
}

const isNode = (worker: WorkerLike): worker is NodeWorker =>
  typeof (worker as Partial<NodeWorker>).on === "function";

function hold(worker: WorkerLike, on: boolean): void {
  if (!isNode(worker)) return;
  if (on) worker.ref();
  else worker.unref();
}

interface Heard {
  readonly message: (data: unknown) => void;
  readonly error: (error: unknown) => void;
  readonly exit: (code: unknown) => void;
}

function listen(worker: WorkerLike, { message, error, exit }: Heard): void {
  if (isNode(worker)) {
    worker.on("message", message);
    worker.on("error", error);
    worker.on("messageerror", error);
    worker.on("exit", exit);
    return;
  }
  const page = worker as PageWorker;
  page.addEventListener("message", (event) => message(event.data));
  page.addEventListener("error", (event) => error(event.message ?? "its module failed"));
  page.addEventListener("messageerror", () => error("an answer could not be read"));
}
