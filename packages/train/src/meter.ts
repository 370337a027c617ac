/**
 * Metrics as state of a program: each step merges what its batch adds into sums on the device, and nobody waits. They are read
 * where somebody looks: at the end of an epoch, or when a line is drawn.
 */
import {
  assign,
  currentValue,
  fromHost,
  GraphError,
  param,
  type Tensor,
  tensor,
  toHost,
  zerosLike,
} from "@kiln-ml/ir";

/** Tensors by name, of shapes without the axis of the batch. */
export type Sums = Readonly<Record<string, Tensor>>;
/** The elements of sums on the host. */
export type HostSums = Readonly<Record<string, ArrayLike<number>>>;
export type MetricValue = number | readonly number[] | readonly (readonly number[])[];

/** A measure of a model over all samples of an epoch. */
export interface Metric {
  readonly name: string;
  /** "max" if more is better; what "best" means where nobody says. */
  readonly mode?: "min" | "max";
  /** What a batch adds, as graph. It runs within the step, and no gradient flows. */
  batch(output: Tensor, target: Tensor): Sums;
  /** `sums` and what a batch adds as one; element by element their sum, if not given. First sums are zeros. */
  merge?(sums: Sums, batch: Sums): Sums;
  /** From the sums over all batches. */
  value(sums: HostSums): MetricValue;
}

/** The state of one metric in one program. */
class Meter {
  readonly metric: Metric;
  readonly prefix: string;
  readonly states = new Map<string, Tensor>();

  constructor(metric: Metric, prefix: string) {
    this.metric = metric;
    this.prefix = prefix;
  }

  add(sums: Sums): void {
    const before = Object.fromEntries(
      Object.entries(sums).map(([name, t]) => [name, currentValue(this.#state(name, t))]),
    );
    const after = this.metric.merge?.(before, sums) ?? added(before, sums);
    for (const [name, t] of Object.entries(after))
      assign(this.states.get(name)!, t.convert(this.states.get(name)!.dtype));
  }

  #state(name: string, like: Tensor): Tensor {
    const found = this.states.get(name);
    if (found) return found;
    const shape = like.shape.map((d) => {
      if (typeof d === "number") return d;
      throw new GraphError(
        `${this.metric.name}: ${name} has the extent ${String(d)}, which differs from batch to batch\n  sum over the axis of the batch`,
      );
    });
    const size = shape.reduce((a, b) => a * b, 1);
    const zeros = tensor(toHost(like.dtype, new Array<number>(size).fill(0)), {
      dtype: like.dtype,
      shape,
    });
    const made = param(zeros, { name: `${this.prefix}.${name}`, trainable: false });
    this.states.set(name, made);
    return made;
  }

  async value(): Promise<MetricValue> {
    const host: Record<string, ArrayLike<number>> = {};
    for (const [name, t] of this.states) host[name] = fromHost(t.dtype, await t.data());
    return this.metric.value(host);
  }
}

const added = (a: Sums, b: Sums): Sums =>
  Object.fromEntries(Object.entries(b).map(([name, t]) => [name, a[name]!.add(t)]));

/** The mean of the loss over samples; batches count by their rows. */
const lossMetric: Metric = {
  name: "loss",
  mode: "min",
  batch: (loss, rows) => ({ sum: loss.convert("f32").mul(rows), rows }),
  value: ({ sum, rows }) => sum![0]! / rows![0]!,
};

/** All metrics of one program, the loss first. */
export class Meters {
  readonly #loss: Meter;
  readonly #others: readonly Meter[];

  constructor(metrics: readonly Metric[], prefix: string) {
    this.#loss = new Meter(lossMetric, `${prefix}.loss`);
    this.#others = metrics.map((m) => new Meter(m, `${prefix}.${m.name}`));
    const names = this.names;
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined)
      throw new GraphError(
        `metrics: two of them are called ${twice}\n  leave one out, or give it another name`,
      );
  }

  get names(): string[] {
    return this.#all.map((m) => m.metric.name);
  }

  get #all(): readonly Meter[] {
    return [this.#loss, ...this.#others];
  }

  /** Counts a batch; called where the step is built. `rows`: f32[]. */
  add(loss: Tensor, rows: Tensor, output?: Tensor, target?: Tensor): void {
    this.#loss.add(lossMetric.batch(loss, rows));
    for (const meter of this.#others) {
      if (!output || !target)
        throw new GraphError(
          `${meter.metric.name}: the step gives no output and target to measure\n  return { loss, output, target } from it`,
        );
      meter.add(meter.metric.batch(output.stopGradient(), target));
    }
  }

  /** All state by name. */
  get states(): Map<string, Tensor> {
    return new Map(
      this.#all.flatMap((m) => [...m.states].map(([name, t]) => [`${m.metric.name}.${name}`, t])),
    );
  }

  /** Sets all sums to 0; called where a program is built. */
  reset(): void {
    for (const t of this.states.values()) assign(t, zerosLike(t));
  }

  async values(): Promise<Record<string, MetricValue>> {
    const values: Record<string, MetricValue> = {};
    for (const m of this.#all) values[m.metric.name] = await m.value();
    return values;
  }
}
