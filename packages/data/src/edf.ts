/**
 * EDF and BDF recordings (Kemp et al. 1992; BioSemi's 24 bits): signals in physical units.
 * Annotations of EDF+ are left out, and of interrupted files (EDF+D) the records follow each other.
 */

import { ArtifactError, checkOptions, type OptionNames } from "@kiln-ml/ir";
import { checkBytes } from "./check.ts";

export interface Signal {
  readonly label: string;
  /** What `data` is in, such as "uV". */
  readonly unit: string;
  /** Samples a second. */
  readonly rateHz: number;
  readonly data: Float32Array;
}

export interface EdfOptions {
  /** What errors call the file; "edf" by default. */
  readonly name?: string;
}

const edfOptions: OptionNames<EdfOptions> = { name: 1 };

/** Bytes of a header of the file, and of each signal. */
const block = 256;

interface Header {
  readonly records: number;
  readonly recordSeconds: number;
  readonly start: number;
  readonly bytes: number;
  readonly signals: readonly Described[];
}

interface Described {
  readonly label: string;
  readonly unit: string;
  readonly physical: readonly [number, number];
  readonly digital: readonly [number, number];
  /** Samples a record. */
  readonly samples: number;
}

/**
 * The signals of a recording. Throws ArtifactError, the name in front, for a file whose header does
 * not hold. `mne.io.read_raw_edf`.
 *
 * @param bytes The bytes of the file.
 * @example
 *   readEdf(new Uint8Array(256)) // throws ArtifactError
 */
export function readEdf(bytes: Uint8Array, options: EdfOptions = {}): Signal[] {
  checkBytes("readEdf", bytes);
  const { name = "edf" } = checkOptions("readEdf", options, edfOptions);
  const header = headerOf(bytes, name);
  const { signals, records, start, bytes: width } = header;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const recordBytes = signals.reduce((n, s) => n + s.samples, 0) * width;
  let offset = start;
  return signals.flatMap((signal) => {
    const first = offset;
    offset += signal.samples * width;
    if (/^(EDF|BDF) Annotations$/.test(signal.label)) return [];
    const data = new Float32Array(records * signal.samples);
    const [low, high] = signal.digital;
    const gain = (signal.physical[1] - signal.physical[0]) / (high - low);
    for (let r = 0, i = 0; r < records; r++)
      for (let s = 0, at = first + r * recordBytes; s < signal.samples; s++, at += width) {
        const raw =
          width === 2
            ? view.getInt16(at, true)
            : view.getUint16(at, true) + view.getInt8(at + 2) * 65536;
        data[i++] = (raw - low) * gain + signal.physical[0];
      }
    const { label, unit } = signal;
    return [{ label, unit, rateHz: signal.samples / header.recordSeconds, data }];
  });
}

function headerOf(file: Uint8Array, name: string): Header {
  const isBdf = file[0] === 0xff && String.fromCharCode(...file.subarray(1, 8)) === "BIOSEMI";
  const text = (at: number, length: number): string =>
    String.fromCharCode(...file.subarray(at, at + length)).trim();
  if (!isBdf && text(0, 8) !== "0")
    throw new ArtifactError(`${name}: is no EDF file: starts with ${JSON.stringify(text(0, 8))}`);
  const number = (at: number, length: number, what: string): number => {
    const field = text(at, length);
    const value = Number(field);
    if (field === "" || !Number.isFinite(value))
      throw new ArtifactError(`${name}: ${what} is ${JSON.stringify(field)}, not a number`);
    return value;
  };
  const count = number(252, 4, "number of signals");
  const start = number(184, 8, "length of the header");
  if (
    !(Number.isInteger(count) && count > 0) ||
    start !== block * (count + 1) ||
    start > file.length
  )
    throw new ArtifactError(
      `${name}: header of ${start} bytes for ${count} signals does not fit the file of ${file.length}`,
    );
  // The fields of all signals, one after the other, field by field.
  const field = (signal: number, before: number, length: number) =>
    block + before * count + signal * length;
  const signals = Array.from({ length: count }, (_, s): Described => {
    const label = text(field(s, 0, 16), 16);
    const of = (what: string) => `${what} of signal ${label}`;
    const described = {
      label,
      unit: text(field(s, 96, 8), 8),
      physical: [
        number(field(s, 104, 8), 8, of("least value")),
        number(field(s, 112, 8), 8, of("greatest value")),
      ] as const,
      digital: [
        number(field(s, 120, 8), 8, of("least code")),
        number(field(s, 128, 8), 8, of("greatest code")),
      ] as const,
      samples: number(field(s, 216, 8), 8, of("samples a record")),
    };
    if (
      described.digital[1] <= described.digital[0] ||
      !(Number.isInteger(described.samples) && described.samples >= 0)
    )
      throw new ArtifactError(
        `${name}: signal ${label} has codes ${described.digital.join(" to ")} and ${described.samples} samples a record`,
      );
    return described;
  });
  const width = isBdf ? 3 : 2;
  const recordBytes = signals.reduce((n, s) => n + s.samples, 0) * width;
  const present = recordBytes ? Math.floor((file.length - start) / recordBytes) : 0;
  const stated = number(236, 8, "number of records");
  // −1 is what a recorder leaves that was stopped.
  if (stated > present)
    throw new ArtifactError(
      `${name}: is cut: header says ${stated} records, the file has ${present}`,
    );
  const recordSeconds = number(244, 8, "length of a record");
  return {
    records: stated < 0 ? present : stated,
    recordSeconds: recordSeconds || 1,
    start,
    bytes: width,
    signals,
  };
}
