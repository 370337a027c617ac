/**
 * Data sets made of others, without a copy of them: a sample is found, read and changed when it is
 * asked for. What only chooses samples keeps the kind of its source; what changes them gives items.
 * Names of samples come through, for errors.
 */
import {
  checkOptions,
  GraphError,
  kindOf,
  type OptionNames,
  printShape,
  ShapeError,
} from "@kiln-ml/ir";
import { type Dataset, type Fields, type NumericArray, subset } from "./dataset.ts";
import {
  arrayLike,
  checkIndex,
  checkSource,
  type Items,
  isDataset,
  itemsOf,
  named,
  type Source,
  sampleError,
} from "./items.ts";
import { uniforms } from "./samplers.ts";

/**
 * fn of each sample, when it is asked for. The samples of a data set are tuples with an array a
 * field.
 *
 * An error of `fn` names the sample. What is random in `fn` should follow from `index`, or epochs
 * cannot be repeated. `tf.data.Dataset.map`.
 *
 * @param source A data set or items.
 * @example
 *   const doubled = map(itemsOf([1, 2, 3]), (n) => n * 2);
 *   doubled.get(2) // 6
 */
export function map<S, R>(
  source: Source<S>,
  fn: (sample: S, index: number) => R | Promise<R>,
): Items<R> {
  checkSource("map", source);
  checkFunction("map", fn);
  const items = itemsOf(source);
  const apply = (sample: S, index: number): R | Promise<R> => {
    try {
      const result = fn(sample, index);
      return result instanceof Promise
        ? result.catch((error: unknown) => Promise.reject(sampleError("map", items, index, error)))
        : result;
    } catch (error) {
      throw sampleError("map", items, index, error);
    }
  };
  return named(items, {
    length: items.length,
    get(index: number): R | Promise<R> {
      const sample = items.get(index);
      return sample instanceof Promise ? sample.then((s) => apply(s, index)) : apply(sample, index);
    },
  });
}

/**
 * The samples for which `keep` is true. Each is read once, now, so that indices are known: rejects
 * with the error of the first that cannot be, which names it. `tf.data.Dataset.filter`.
 *
 * @param source A data set, items or a list.
 * @example
 *   const even = await filter(itemsOf([1, 2, 3, 4]), (n) => n % 2 === 0);
 *   even.length // 2
 *   even.get(1) // 4
 */
export async function filter<S, D extends Source<S>>(
  source: D & Source<S>,
  keep: (sample: S, index: number) => boolean | Promise<boolean>,
): Promise<D> {
  checkSource("filter", source);
  checkFunction("filter", keep);
  const items = itemsOf<S>(source);
  const kept: number[] = [];
  for (let i = 0; i < items.length; i++) {
    try {
      if (await keep(await items.get(i), i)) kept.push(i);
    } catch (error) {
      throw sampleError("filter", items, i, error);
    }
  }
  return subset(source as Source<S>, Uint32Array.from(kept)) as unknown as D;
}

function checkFunction(op: string, fn: unknown): void {
  if (typeof fn !== "function")
    throw new GraphError(`${op}: needs a function of a sample, got ${kindOf(fn)}`);
}

/**
 * The first `count` samples, or all if there are fewer. `tf.data.Dataset.take`.
 *
 * @param source A data set, items or a list.
 * @example
 *   take(itemsOf([1, 2, 3]), 2).length // 2
 */
export const take = <S, D extends Source<S>>(source: D & Source<S>, count: number): D =>
  range<S, D>("take", source, count, (n) => [0, Math.min(count, n)]);

/**
 * All samples but the first `count`. `tf.data.Dataset.skip`.
 *
 * @param source A data set, items or a list.
 * @example
 *   skip(itemsOf([1, 2, 3]), 2).get(0) // 3
 */
export const skip = <S, D extends Source<S>>(source: D & Source<S>, count: number): D =>
  range<S, D>("skip", source, count, (n) => [Math.min(count, n), n]);

function range<S, D>(
  op: string,
  source: D & Source<S>,
  count: number,
  of: (length: number) => readonly [start: number, end: number],
) {
  checkSource(op, source);
  if (!Number.isInteger(count) || count < 0)
    throw new GraphError(`${op}: count must be an integer of 0 or more, got ${kindOf(count)}`);
  const [start, end] = of(source.length);
  const indices = Uint32Array.from({ length: end - start }, (_, i) => start + i);
  return subset(source as Source<S>, indices) as unknown as D;
}

/**
 * The samples of one source after those of another; data sets of the same shapes and arrays give a
 * data set, anything else items. Throws ShapeError for data sets whose samples differ.
 * `torch.utils.data.ConcatDataset`.
 *
 * @param datasets Sources, one or more.
 * @param sources Sources, one or more.
 * @example
 *   const [a, b] = [itemsOf(["x", "y"]), itemsOf(["z"])];
 *   data.concat(a, b).length // 3
 *   data.concat(a, b).get(2) // "z"
 */
export function concat<T extends Fields>(...datasets: readonly Dataset<T>[]): Dataset<T>;
export function concat<S>(...sources: readonly Items<S>[]): Items<S>;
export function concat<S>(...sources: readonly Source<S>[]): Source<S> {
  if (sources.length === 0) throw new GraphError("concat: needs a data set or more");
  for (const source of sources) checkSource("concat", source);
  const ends: number[] = [];
  for (const { length } of sources) ends.push((ends.at(-1) ?? 0) + length);
  const length = ends.at(-1)!;
  /** Which source has the sample, and the samples before it. */
  const locate = (index: number): readonly [number, number] => {
    checkIndex(index, length);
    const part = ends.findIndex((end) => index < end);
    return [part, index - (part ? ends[part - 1]! : 0)];
  };
  const name = sources.some((s) => s.name) && {
    name(index: number): string {
      const [part, at] = locate(index);
      return sources[part]!.name?.(at) ?? `sample ${at} of source ${part}`;
    },
  };
  if (sources.every((s): s is Dataset<S & Fields> => isDataset(s)))
    return { ...concatDatasets(sources, length, locate), ...name } as Source<S>;
  const items = sources.map((s) => itemsOf(s));
  const get = (index: number): S | Promise<S> => {
    const [part, at] = locate(index);
    return items[part]!.get(at);
  };
  return { length, get, ...name };
}

function concatDatasets(
  datasets: readonly Dataset[],
  length: number,
  locate: (index: number) => readonly [number, number],
): Dataset {
  const { shapes } = datasets[0]!;
  const text = (all: Dataset["shapes"]): string => all.map((s) => printShape(s)).join(", ");
  for (const [i, other] of datasets.entries())
    if (text(other.shapes) !== text(shapes))
      throw new ShapeError(
        `concat: samples differ: data set 0 has ${text(shapes)}, data set ${i} has ${text(other.shapes)}`,
      );
  const gather = async (indices: ArrayLike<number>): Promise<Fields> => {
    const wanted: number[][] = datasets.map(() => []);
    const rows: number[][] = datasets.map(() => []);
    for (let row = 0; row < indices.length; row++) {
      const [part, at] = locate(indices[row]!);
      wanted[part]!.push(at);
      rows[part]!.push(row);
    }
    // One gather of each source, since a source may read a file for it.
    const parts = await Promise.all(
      datasets.map((d, i) => (wanted[i]!.length ? d.gather(wanted[i]!) : undefined)),
    );
    return mergeRows(parts, rows, indices.length, shapes);
  };
  return { length, shapes, gather };
}

function mergeRows(
  parts: readonly (Fields | undefined)[],
  rows: readonly (readonly number[])[],
  count: number,
  shapes: Dataset["shapes"],
): Fields {
  return shapes.map((shape, f) => {
    const size = shape.reduce((a, b) => a * b, 1);
    let out: NumericArray | undefined;
    for (const [i, part] of parts.entries()) {
      const from = part?.[f];
      if (!from) continue;
      out ??= arrayLike(from, count * size);
      if (out.constructor !== from.constructor)
        throw new ShapeError(
          `concat: field ${f} is ${out.constructor.name} in one data set and ${from.constructor.name} in data set ${i}`,
        );
      for (const [j, row] of rows[i]!.entries())
        out.set(from.subarray(j * size, (j + 1) * size), row * size);
    }
    return out ?? new Float32Array(0);
  });
}

type SampleOf<D> = D extends Dataset<infer T> ? T : D extends Items<infer S> ? S : never;

/**
 * Tuples of the samples at one index: as many as the sources all have. Throws ShapeError where
 * their lengths differ. `torch.utils.data.StackDataset`.
 *
 * @param sources Data sets or items, of one length.
 * @example
 *   const pairs = zip(itemsOf(["a", "b"]), itemsOf([1, 2]));
 *   pairs.get(1) // ["b", 2]
 */
export function zip<const D extends readonly (Items<unknown> | Dataset)[]>(
  ...sources: D
): Items<{ -readonly [K in keyof D]: SampleOf<D[K]> }> {
  if (sources.length === 0) throw new GraphError("zip: needs a data set or more");
  for (const source of sources) checkSource("zip", source);
  const items = sources.map((s) => itemsOf(s as Source<unknown>));
  const lengths = items.map((s) => s.length);
  if (lengths.some((n) => n !== lengths[0]))
    throw new ShapeError(
      `zip: sources differ in samples: ${lengths.join(", ")}\n  take as many of each`,
    );
  const get = (index: number): unknown => {
    const parts = items.map((s) => s.get(index));
    return parts.some((p) => p instanceof Promise) ? Promise.all(parts) : parts;
  };
  const first = items.find((s) => s.name);
  return named(first ?? {}, { length: lengths[0]!, get }) as never;
}

export interface WindowOptions {
  /** Samples a window. */
  readonly size: number;
  /** From the start of one window to that of the next, default 1. */
  readonly stride?: number;
}

const windowOptions: OptionNames<WindowOptions> = { size: 1, stride: 1 };

/**
 * Lists of `size` samples that follow each other: n samples give ⌊(n − size)/stride⌋ + 1 windows,
 * or none. With a time series of one sample a step, these are its sections.
 * `tf.data.Dataset.window`.
 *
 * @param source A data set or items, in order of time.
 * @example
 *   const pairs = window(itemsOf([1, 2, 3, 4]), { size: 2 });
 *   pairs.length // 3
 *   pairs.get(1) // [2, 3]
 */
export function window<S>(source: Source<S>, options: WindowOptions): Items<readonly S[]> {
  checkSource("window", source);
  const { size, stride = 1 } = checkOptions("window", options, windowOptions);
  for (const [key, n] of Object.entries({ size, stride }))
    if (!Number.isInteger(n) || n < 1)
      throw new GraphError(`window: ${key} must be an integer of 1 or more, got ${kindOf(n)}`);
  const items = itemsOf(source);
  const length = Math.max(0, Math.floor((items.length - size) / stride) + 1);
  return named(
    items,
    {
      length,
      get(index: number): readonly S[] | Promise<S[]> {
        const start = checkIndex(index, length) * stride;
        const parts = Array.from({ length: size }, (_, i) => items.get(start + i));
        return parts.some((p) => p instanceof Promise) ? Promise.all(parts) : (parts as S[]);
      },
    },
    (index) => index * stride,
  );
}

export interface ShuffleOptions {
  /** Samples that are held at a time; the more, the better they are mixed. */
  readonly buffer: number;
  /** Fixes the order, default 0. */
  readonly seed?: number;
}

const shuffleOptions: OptionNames<ShuffleOptions> = { buffer: 1, seed: 1 };

/**
 * A stream in a random order, for what has no indices: a buffer is filled, then one of it drawn for
 * each that comes. A sample comes out at most `buffer` places before its own.
 * `tf.data.Dataset.shuffle`.
 *
 * @param stream Samples, one after the other.
 * @example
 *   const seen = [];
 *   for await (const n of shuffleBuffer([1, 2, 3, 4], { buffer: 2, seed: 0 })) seen.push(n);
 *   seen.sort() // [1, 2, 3, 4]
 */
export async function* shuffleBuffer<S>(
  stream: Iterable<S> | AsyncIterable<S>,
  options: ShuffleOptions,
): AsyncGenerator<S, void, undefined> {
  const { buffer, seed = 0 } = checkOptions("shuffleBuffer", options, shuffleOptions);
  if (!Number.isInteger(buffer) || buffer < 1)
    throw new GraphError(
      `shuffleBuffer: buffer must be an integer of 1 or more, got ${kindOf(buffer)}`,
    );
  const draw = uniforms("shuffleBuffer", seed, 0);
  const held: S[] = [];
  let drawn = 0;
  for await (const sample of stream) {
    if (held.length < buffer) {
      held.push(sample);
      continue;
    }
    const at = Math.floor(draw(drawn++) * held.length);
    yield held[at]!;
    held[at] = sample;
  }
  while (held.length) {
    const at = Math.floor(draw(drawn++) * held.length);
    const last = held.pop()!;
    yield at === held.length ? last : held[at]!;
    if (at < held.length) held[at] = last;
  }
}
