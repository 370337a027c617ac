/**
 * Requests that run together: where the first axis of every input and output is one symbol, and
 * rows do not depend on each other, waiting requests are joined along it and their results parted.
 */
import type { ModelResult, OpenedModel } from "kiln-ml/model";
import { RequestError } from "./errors.ts";
import type { Metrics } from "./metrics.ts";
import type { Value } from "./tensor-json.ts";

type Inputs = Readonly<Record<string, Value>>;
type Results = Record<string, ModelResult>;

interface Waiting {
  readonly inputs: Inputs;
  readonly rows: number;
  /** What must be equal to run together: all extents but those of the rows. */
  readonly key: string;
  readonly done: (results: Results) => void;
  readonly fail: (error: unknown) => void;
}

/** The symbol that requests may be joined along, if the model has one. */
export function rowsOf({ inputs, outputs }: OpenedModel): string | undefined {
  const all = [...inputs, ...outputs];
  const symbol = inputs[0]?.shape[0];
  if (typeof symbol !== "string" || !/^\w+$/.test(symbol)) return undefined;
  const name = new RegExp(`\\b${symbol}\\b`);
  const isFirst = all.every(
    ({ shape }) =>
      shape[0] === symbol && shape.slice(1).every((d) => typeof d !== "string" || !name.test(d)),
  );
  return isFirst ? symbol : undefined;
}

export class Batches {
  readonly #model: OpenedModel;
  readonly #most: number;
  readonly #limit: number;
  readonly #metrics: Metrics;
  #waiting: Waiting[] = [];
  #running = 0;
  #closed = false;
  #idle: (() => void)[] = [];

  /** Runs have at most `most` rows of several requests; `limit` requests may wait. */
  constructor(model: OpenedModel, most: number, limit: number, metrics: Metrics) {
    this.#model = model;
    this.#most = rowsOf(model) === undefined ? 1 : most;
    this.#limit = limit;
    this.#metrics = metrics;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get running(): number {
    return this.#running;
  }

  /** Throws RequestError: 503 when it is closed, 429 when as many wait as may. */
  check(): void {
    if (this.#closed)
      throw new RequestError(503, "stopping", "the server is stopping: ask another one");
    if (this.#running > 0 && this.#waiting.length >= this.#limit)
      throw new RequestError(
        429,
        "queue_full",
        `${this.#limit} requests wait already, as many as may: try again later`,
      );
  }

  /** The results of one request; rejects with RequestError when it is full or closed. */
  async run(inputs: Inputs, signal: AbortSignal): Promise<Results> {
    signal.throwIfAborted();
    this.check();
    const result = this.#queued(inputs, signal);
    if (this.#running === 0) void this.#work();
    return result;
  }

  #queued(inputs: Inputs, signal: AbortSignal): Promise<Results> {
    const values = Object.values(inputs);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((w) => w !== one);
        one.fail(signal.reason);
      };
      const end = (): void => signal.removeEventListener("abort", leave);
      const one: Waiting = {
        inputs,
        rows: values[0]?.shape[0] ?? 1,
        key: JSON.stringify(values.map((v) => v.shape.slice(1))),
        done: (results) => {
          end();
          resolve(results);
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      signal.addEventListener("abort", leave);
      this.#waiting.push(one);
    });
  }

  async #work(): Promise<void> {
    // Requests that came in the same turn of the event loop may run together.
    this.#running = 1;
    await new Promise((next) => setImmediate(next));
    while (this.#waiting.length) {
      const group = this.#taken();
      this.#running = group.length;
      await this.#runTogether(group);
      // Clients that go away are heard between turns of the event loop alone.
      await new Promise((next) => setImmediate(next));
    }
    this.#running = 0;
    for (const tell of this.#idle.splice(0)) tell();
  }

  /** The first that waits, and those that may run with it. */
  #taken(): Waiting[] {
    const [first, ...rest] = this.#waiting as [Waiting, ...Waiting[]];
    const group = [first];
    let rows = first.rows;
    for (const other of rest) {
      if (other.key !== first.key || rows + other.rows > this.#most) continue;
      group.push(other);
      rows += other.rows;
    }
    this.#waiting = this.#waiting.filter((w) => !group.includes(w));
    return group;
  }

  async #runTogether(group: readonly Waiting[]): Promise<void> {
    try {
      this.#metrics.add("kiln_runs_total");
      this.#metrics.add(
        "kiln_rows_total",
        group.reduce((sum, g) => sum + g.rows, 0),
      );
      if (group.length === 1) return group[0]!.done(await this.#model.run(group[0]!.inputs));
      const joined = await this.#model.run(join(group.map((g) => g.inputs)));
      for (const [i, results] of part(
        joined,
        group.map((g) => g.rows),
      ).entries())
        group[i]!.done(results);
    } catch (error) {
      if (group.length === 1) return group[0]!.fail(error);
      // One of them is at fault, and it alone must hear of it.
      for (const one of group) await this.#runTogether([one]);
    }
  }

  /** Takes no more requests; resolves when those that it has are answered. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}

/** Values of several requests one after the other, along the first axis. */
export function join(all: readonly Inputs[]): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(all[0]!).map(([name, { data, shape }]) => {
      const parts = all.map((inputs) => inputs[name]!);
      const rows = parts.reduce((sum, p) => sum + p.shape[0]!, 0);
      const make = data.constructor as new (n: number) => Value["data"];
      const joined = new make(parts.reduce((sum, p) => sum + p.data.length, 0));
      let at = 0;
      for (const p of parts) {
        joined.set(p.data as never, at);
        at += p.data.length;
      }
      return [name, { data: joined, shape: [rows, ...shape.slice(1)] }];
    }),
  );
}

/** Results for each request of its rows. */
export function part(results: Results, rows: readonly number[]): Results[] {
  let from = 0;
  return rows.map((count) => {
    const start = from;
    from += count;
    const own = Object.entries(results).map(([name, { data, shape, dtype }]) => {
      const each = shape[0] ? data.length / shape[0] : 0;
      const of = data.slice(start * each, (start + count) * each) as ModelResult["data"];
      return [name, { data: of, shape: [count, ...shape.slice(1)], dtype }] as const;
    });
    return Object.fromEntries(own);
  });
}
