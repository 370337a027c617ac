/**
 * Writes one message by its table of fields, in the order of the table. Members that are undefined are left out; lists
 * of numbers are packed.
 */
import { type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Fields, Kind } from "./fields.ts";

/** Writes the fields of a message that has been begun. */
export type WriteMessage<T> = (writer: BinaryWriter, value: T) => void;

/** A field's value, of the type its kind has in the reader; for messages a function that writes one, or several. */
type Input<K extends Kind> = K extends "text"
  ? string
  : K extends "texts"
    ? readonly string[]
    : K extends "bytes"
      ? Uint8Array
      : K extends "byteLists"
        ? readonly Uint8Array[]
        : K extends "int" | "float"
          ? number
          : K extends "message"
            ? (writer: BinaryWriter) => void
            : K extends "messages"
              ? readonly ((writer: BinaryWriter) => void)[]
              : ArrayLike<number | bigint>;

export type Inputs<F extends Fields> = { readonly [N in keyof F]?: Input<F[N][1]> | undefined };

type Put = (writer: BinaryWriter, number: number, value: never) => void;

const delimited = (writer: BinaryWriter, number: number): BinaryWriter =>
  writer.tag(number, WireType.LengthDelimited);

const packed =
  (put: (writer: BinaryWriter, value: never) => void): Put =>
  (writer, number, values: ArrayLike<never>) => {
    if (values.length === 0) return;
    delimited(writer, number).fork();
    for (let i = 0; i < values.length; i++) put(writer, values[i]!);
    writer.join();
  };

const repeated =
  (put: Put): Put =>
  (writer, number, values: readonly never[]) => {
    for (const value of values) put(writer, number, value);
  };

const text: Put = (w, number, value: string) => delimited(w, number).string(value);
const bytes: Put = (w, number, value: Uint8Array) => delimited(w, number).bytes(value);
const message: Put = (w, number, write: (writer: BinaryWriter) => void) => {
  delimited(w, number).fork();
  write(w);
  w.join();
};
const int64s = packed((w, v: number | bigint) => w.int64(v));

const puts: Readonly<Record<Kind, Put>> = {
  text,
  texts: repeated(text),
  bytes,
  byteLists: repeated(bytes),
  int: (w, number, value: number) => w.tag(number, WireType.Varint).int64(value),
  float: (w, number, value: number) => w.tag(number, WireType.Bit32).float(value),
  floats: packed((w, v: number) => w.float(v)),
  doubles: packed((w, v: number) => w.double(v)),
  ints: int64s,
  int32s: packed((w, v: number) => w.int32(v)),
  int64s,
  uint64s: packed((w, v: number | bigint) => w.uint64(v)),
  message,
  messages: repeated(message),
};

export function writeFields<F extends Fields>(
  writer: BinaryWriter,
  fields: F,
  inputs: Inputs<F>,
): void {
  for (const [name, [number, kind]] of Object.entries(fields)) {
    const value = inputs[name];
    if (value !== undefined) puts[kind](writer, number, value as never);
  }
}

/** Each item as a message to be written by `write`. */
export const each = <T>(
  items: Iterable<T>,
  write: WriteMessage<T>,
): readonly ((writer: BinaryWriter) => void)[] =>
  Array.from(items, (item) => (writer: BinaryWriter) => write(writer, item));
