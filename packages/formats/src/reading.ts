/**
 * A file being read: its name, which every error begins with, and how many bytes reading it may allocate. The bound is
 * what stops small files that claim to be large: compressed zeros, and tensors whose strides repeat one element.
 */
import { ArtifactError, type OptionNames } from "@kiln-ml/artifact";

/** Refuses the file; `offset` is the byte at which the trouble stands. */
export type Fail = (what: string, offset?: number) => never;

export interface ReadOptions {
  /** What errors call the file. */
  readonly file?: string;
  /**
   * The most bytes to allocate for elements that are not in the file as such: inflated, narrowed, gathered by strides,
   * swapped. By default 32 MiB and eight times the size of the file.
   */
  readonly limitBytes?: number;
  /** Reads only the tensors whose name it accepts; all by default. */
  readonly select?: (name: string) => boolean;
}

export const readOptions: OptionNames<ReadOptions> = { file: 1, limitBytes: 1, select: 1 };

export interface Reading {
  readonly file: string;
  readonly fail: Fail;
  readonly select: (name: string) => boolean;
  /** Counts bytes about to be allocated; refuses the file where the limit is passed. */
  take(bytes: number, what: string, offset?: number): void;
}

const freeBytes = 32 * 2 ** 20;

/** The reading of a file of `size` bytes, called `name` where the options do not say. */
export function beginReading(name: string, size: number, options: ReadOptions = {}): Reading {
  const file = options.file ?? name;
  const limit = options.limitBytes ?? freeBytes + 8 * size;
  let taken = 0;
  const fail: Fail = (what, offset) => {
    const at = offset === undefined ? "" : ` offset ${offset}:`;
    throw new ArtifactError(`${file}:${at} ${what}`);
  };
  return {
    file,
    fail,
    select: options.select ?? (() => true),
    take(bytes, what, offset) {
      taken += bytes;
      // Written so that NaN is refused.
      if (!(taken <= limit))
        fail(
          `${what} takes ${bytes} bytes, which passes the limit of ${limit}\n  pass a larger limitBytes if the file is to be trusted`,
          offset,
        );
    },
  };
}

/** A plain view: Node's Buffer is a Uint8Array whose slice does not copy. */
export const plainBytes = (from: Uint8Array | ArrayBuffer): Uint8Array =>
  from instanceof Uint8Array
    ? new Uint8Array(from.buffer, from.byteOffset, from.byteLength)
    : new Uint8Array(from);

/** A name as messages show it: quoted, on one line, at most 80 characters of it. */
export const quoted = (name: string): string =>
  name.length > 80 ? `${JSON.stringify(name.slice(0, 80))}…` : JSON.stringify(name);

/** Names become keys of plain objects and parts of messages. */
export function checkName(name: string, fail: Fail, offset?: number): void {
  if (name in {}) fail(`"${name}" is the name of a property of every object`, offset);
  if (name.length > 1024)
    fail(`the name ${quoted(name)} has ${name.length} characters, more than 1024`, offset);
}

/** The number of elements of a shape; refuses products past 2^53 − 1. */
export function countOf(shape: readonly number[], fail: Fail, offset?: number): number {
  // Zero times an overflow is no overflow.
  if (shape.includes(0)) return 0;
  const count = shape.reduce((n, d) => n * d, 1);
  return Number.isSafeInteger(count)
    ? count
    : fail(`shape [${shape.join(",")}] has more than 2^53 - 1 elements`, offset);
}
