/**
 * Reads one message by its table of fields: bytes → an object with a member a field. Refuses what leaves the message,
 * another wire type than the field's, groups, and a message given twice; fields that no table knows are stepped over.
 */
import { WireType } from "@bufbuild/protobuf/wire";
import type { Fields, Kind } from "./fields.ts";
import {
  type Growing,
  type ListKind,
  type Lists,
  listIn,
  readList,
  toNumber,
} from "./read-list.ts";
import { failAt, maxDepth, quote, type Source } from "./source.ts";

/** Reads the message that ends at `end` from where the source stands. */
export type ReadMessage<T> = (source: Source, end: number) => T;

interface Scalars {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly int: number;
  readonly float: number;
}
interface Repeated extends Lists {
  readonly texts: readonly string[];
  readonly byteLists: readonly Uint8Array[];
}

type MessageNames<F extends Fields> = {
  [N in keyof F]: F[N][1] extends "message" | "messages" ? N : never;
}[keyof F];

/** A reader for each field that is a message; one that is left out is stepped over but known to be there. */
export type Readers<F extends Fields> = { readonly [N in MessageNames<F>]: ReadMessage<unknown> };

type Value<K extends Kind, R> = K extends keyof Scalars
  ? Scalars[K] | undefined
  : K extends keyof Repeated
    ? Repeated[K]
    : K extends "message"
      ? R | undefined
      : readonly R[];

/** What `readFields` gives: lists are empty and single fields undefined where the message has none. `at` is its first byte. */
export type Values<F extends Fields, R> = {
  readonly [N in keyof F]: Value<
    F[N][1],
    N extends keyof R ? (R[N] extends ReadMessage<infer T> ? T : never) : never
  >;
} & { readonly at: number };

type Slot = readonly [name: string, kind: Kind];
const tables = new WeakMap<Fields, ReadonlyMap<number, Slot>>();

function slotsOf(fields: Fields): ReadonlyMap<number, Slot> {
  const found = tables.get(fields);
  if (found) return found;
  const slots = new Map(
    Object.entries(fields).map(([name, [number, kind]]) => [number, [name, kind] as const]),
  );
  tables.set(fields, slots);
  return slots;
}

export function readFields<F extends Fields, const R extends Readers<F>>(
  source: Source,
  end: number,
  fields: F,
  readers: R,
): Values<F, R> {
  const { reader } = source;
  const at = reader.pos;
  if (source.depth >= maxDepth) failAt(source, at, `messages lie more than ${maxDepth} deep`);
  source.depth++;
  const slots = slotsOf(fields);
  const values: Record<string, unknown> = { at };
  while (reader.pos < end) {
    const start = reader.pos;
    const [number, wire] = primitive(source, start, () => reader.tag());
    const slot = slots.get(number);
    if (slot === undefined) skip(source, start, wire);
    else readField(source, start, wire, slot, values, readers);
    if (reader.pos > end)
      failAt(source, start, `field ${number} ends ${reader.pos - end} bytes after its message`);
  }
  source.depth--;
  for (const [name, kind] of slots.values()) values[name] = finished(kind, values[name]);
  return values as Values<F, R>;
}

const none: readonly never[] = Object.freeze([]);

function finished(kind: Kind, value: unknown): unknown {
  if (kind === "texts" || kind === "byteLists" || kind === "messages") return value ?? none;
  if (kind in listIn) return listIn[kind as ListKind](value as Growing | undefined);
  return value;
}

/** The wire module throws plain errors, `RangeError` where bytes are missing. */
function primitive<T>(source: Source, at: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    return failAt(source, at, (error as Error).message);
  }
}

function skip(source: Source, at: number, wire: WireType): void {
  if (wire === WireType.StartGroup || wire === WireType.EndGroup)
    failAt(source, at, "a group, which ONNX does not have");
  primitive(source, at, () => source.reader.skip(wire));
}

/** The end of the length-delimited field whose length comes next. */
function endOf(source: Source, at: number): number {
  const { reader, bytes } = source;
  const length = primitive(source, at, () => reader.uint32());
  const end = reader.pos + length;
  if (end > bytes.length)
    failAt(
      source,
      at,
      `a field of ${length} bytes, but ${bytes.length - reader.pos} are left in the file`,
    );
  return end;
}

const wires: Readonly<Record<Kind, readonly WireType[]>> = {
  text: [WireType.LengthDelimited],
  texts: [WireType.LengthDelimited],
  bytes: [WireType.LengthDelimited],
  byteLists: [WireType.LengthDelimited],
  message: [WireType.LengthDelimited],
  messages: [WireType.LengthDelimited],
  int: [WireType.Varint],
  float: [WireType.Bit32],
  floats: [WireType.LengthDelimited, WireType.Bit32],
  doubles: [WireType.LengthDelimited, WireType.Bit64],
  ints: [WireType.LengthDelimited, WireType.Varint],
  int32s: [WireType.LengthDelimited, WireType.Varint],
  int64s: [WireType.LengthDelimited, WireType.Varint],
  uint64s: [WireType.LengthDelimited, WireType.Varint],
};

function readField(
  source: Source,
  at: number,
  wire: WireType,
  [name, kind]: Slot,
  values: Record<string, unknown>,
  readers: Readonly<Record<string, ReadMessage<unknown>>>,
): void {
  if (!wires[kind].includes(wire))
    failAt(
      source,
      at,
      `field ${quote(name)} has wire type ${wire}, not ${wires[kind].join(" or ")}`,
    );
  const { reader } = source;
  if (kind === "int") values[name] = toNumber(BigInt(primitive(source, at, () => reader.int64())));
  else if (kind === "float") values[name] = primitive(source, at, () => reader.float());
  else if (wire !== WireType.LengthDelimited || kind in listIn) {
    const end = wire === WireType.LengthDelimited ? endOf(source, at) : undefined;
    const list = values[name] as Growing | undefined;
    values[name] = primitive(source, at, () =>
      readList(reader, source.bytes, kind as ListKind, list, end),
    );
  } else {
    const end = endOf(source, at);
    const value = readDelimited(source, at, end, kind, readers[name]);
    const list = values[name] as unknown[] | undefined;
    if (kind !== "texts" && kind !== "byteLists" && kind !== "messages") {
      if (kind === "message" && list !== undefined)
        failAt(source, at, `field ${quote(name)} occurs twice`);
      values[name] = value;
    } else if (list === undefined) values[name] = [value];
    else list.push(value);
    reader.pos = end;
  }
}

function readDelimited(
  source: Source,
  at: number,
  end: number,
  kind: Kind,
  read: ReadMessage<unknown> | undefined,
): unknown {
  if (kind === "message" || kind === "messages") return read!(source, end);
  const bytes = source.bytes.subarray(source.reader.pos, end);
  return kind === "text" || kind === "texts" ? decodeText(source, at, bytes) : bytes;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Throws ArtifactError for bytes that are not UTF-8. */
export function decodeText(source: Source, at: number, bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return failAt(source, at, "text that is not UTF-8");
  }
}
