/**
 * What a pickle can hold here: plain values, containers, names, and what known names make of arguments. There is no
 * object with behaviour among them.
 */

/** A name the pickle refers to: `collections.OrderedDict`. It is never looked up outside the table of known names. */
export class Global {
  readonly name: string;
  readonly offset: number;
  constructor(name: string, offset: number) {
    this.name = name;
    this.offset = offset;
  }
}

/** Something made by a name that is not known, where the caller asked to skip those: what it was made of. */
export class Opaque {
  readonly name: string;
  readonly offset: number;
  readonly args: readonly PickleValue[];
  state: PickleValue = null;
  /** Entries that were appended or set: a subclass of a list or dict. */
  readonly items: PickleValue[] = [];
  readonly entries = new Map<PickleValue, PickleValue>();
  constructor(name: string, offset: number, args: readonly PickleValue[]) {
    this.name = name;
    this.offset = offset;
    this.args = args;
  }
}

/** A plain record of attributes: argparse.Namespace and its like. */
export class Attributes {
  readonly fields = new Map<PickleValue, PickleValue>();
}

/** What a file format puts into the pickle for itself: storages, tensors, arrays. */
export abstract class Foreign {
  abstract readonly kind: string;
}

/** Tuples are lists here. */
export type PickleValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | PickleValue[]
  | Set<PickleValue>
  | Map<PickleValue, PickleValue>
  | Global
  | Opaque
  | Attributes
  | Foreign;

/** What a known name makes of its arguments, at an offset of the file. */
export type Make = (args: readonly PickleValue[], offset: number) => PickleValue;

export interface PickleHost {
  /** Names that may be called, by `module.name`. Names that are only referred to have no need to be here. */
  readonly makers: ReadonlyMap<string, Make>;
  /** Names that may be referred to but not called. */
  readonly known: ReadonlySet<string>;
  /** The object a persistent id stands for; refuses by itself. */
  readonly persistent: (id: PickleValue, offset: number) => PickleValue;
  /** State given to an object that `makers` made; true if it took it. */
  readonly build?: (object: Foreign, state: PickleValue, offset: number) => boolean;
  /** What to do about other names. */
  readonly unknown: "refuse" | "skip";
}

/** In the words of an error message. */
export function describe(value: PickleValue): string {
  if (value === null) return "None";
  if (typeof value === "string") return "a string";
  if (typeof value !== "object")
    return `${typeof value === "boolean" ? "" : "the number "}${value}`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value instanceof Map) return `a dict of ${value.size}`;
  if (value instanceof Set) return `a set of ${value.size}`;
  if (value instanceof Global || value instanceof Opaque) return value.name;
  if (value instanceof Foreign) return value.kind;
  return value instanceof Attributes ? "a record" : `${value.length} bytes`;
}
