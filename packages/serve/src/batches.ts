/**
 * Requests that run together: where the first axis of every input and output is one symbol, and
 * rows do not depend on each other, waiting requests are joined along it and their results parted.
 */
import type { ModelResult, OpenedModel } from "kiln-ml/model";
import type { Metrics } from "./metrics.ts";
import { type Entry, Queue } from "./queue.ts";
import type { Value } from "./tensor-json.ts";

type Inputs = Readonly<Record<string, Value>>;
type Results = Record<string, ModelResult>;

interface Item {
  readonly inputs: Inputs;
  readonly rows: number;
  /** What must be equal to run together: all extents but those of the rows. */
  readonly key: string;
}

const rowsIn = (group: readonly Entry<Item, Results>[]): number =>
  group.reduce((sum, { item }) => sum + item.rows, 0);

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

export class Batches extends Queue<Item, Results> {
  readonly #model: OpenedModel;
  readonly #most: number;
  readonly #metrics: Metrics;

  /** Runs have at most `most` rows of several requests, 1 joins none; `limit` requests may wait. */
  constructor(model: OpenedModel, most: number, limit: number, metrics: Metrics) {
    super(limit);
    this.#model = model;
    this.#most = most;
    this.#metrics = metrics;
  }

  /** The results of one request; rejects with RequestError when it is full or closed. */
  async run(inputs: Inputs, signal: AbortSignal): Promise<Results> {
    signal.throwIfAborted();
    this.check();
    const values = Object.values(inputs);
    const rows = values[0]?.shape[0] ?? 1;
    const key = JSON.stringify(values.map((v) => v.shape.slice(1)));
    const result = this.wait({ inputs, rows, key }, signal);
    if (this.running === 0) void this.#work();
    return result;
  }

  async #work(): Promise<void> {
    // Requests that came in the same turn of the event loop may run together.
    this.running = 1;
    await new Promise((next) => setImmediate(next));
    while (this.waiting > 0) {
      const group = this.#nextGroup();
      this.running = group.length;
      await this.#runTogether(group);
      // Clients that go away are heard between turns of the event loop alone.
      await new Promise((next) => setImmediate(next));
    }
    this.running = 0;
  }

  /** The first that waits, and those that may run with it. */
  #nextGroup(): Entry<Item, Results>[] {
    return this.take(({ key, rows }, taken) => {
      const [first] = taken;
      if (!first) return true;
      // Rows may be none, so that their sum alone does not keep requests apart.
      const mayJoin = this.#most > 1 && key === first.item.key;
      return mayJoin && rowsIn(taken) + rows <= this.#most;
    });
  }

  async #runTogether(group: readonly Entry<Item, Results>[]): Promise<void> {
    const [first, ...others] = group as readonly [Entry<Item, Results>];
    try {
      this.#metrics.add("kiln_runs_total");
      this.#metrics.add("kiln_rows_total", rowsIn(group));
      if (others.length === 0) return first.done(await this.#model.run(first.item.inputs));
      const joined = await this.#model.run(join(group.map((g) => g.item.inputs)));
      const parts = part(
        joined,
        group.map((g) => g.item.rows),
      );
      for (const [i, results] of parts.entries()) group[i]!.done(results);
    } catch (error) {
      if (others.length === 0) return first.fail(error);
      // One of them is at fault, and it alone must hear of it.
      for (const one of group) await this.#runTogether([one]);
    }
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
