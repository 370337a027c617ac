/**
 * The pickle machine: a stack, marks and a memo. It executes nothing: a call makes a value by the table of known names,
 * and any other name is refused, or kept as an opaque record of its arguments. It ends, as no opcode jumps.
 */
import type { Fail, Reading } from "../reading.ts";
import { callGlobal, referTo } from "./call.ts";
import { opcodeOf } from "./opcodes.ts";
import { scalars } from "./scalars.ts";
import { PickleStream } from "./stream.ts";
import {
  Attributes,
  describe,
  Foreign,
  Opaque,
  type PickleHost,
  type PickleValue,
} from "./values.ts";

export interface Unpickled {
  readonly value: PickleValue;
  /** The byte after the pickle. */
  readonly end: number;
}

/** Where a pickle stands: from `start` of `bytes`, which begin at the offset `base` of the file. */
export interface PicklePlace {
  readonly bytes: Uint8Array;
  readonly start?: number;
  readonly base?: number;
}

/** The value of a pickle. Throws ArtifactError with the offset for anything that is not one, or not a harmless one. */
export function readPickle(place: PicklePlace, host: PickleHost, reading: Reading): Unpickled {
  return new Machine(place, host, reading).run();
}

/** About what an empty list, dict or set takes in memory; one byte of the file may ask for one. */
const containerBytes = 128;
/** And an item of one. */
const itemBytes = 16;

/** About the bytes of a copy. */
function sizeOf(value: PickleValue): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return itemBytes * value.length;
  return value instanceof Map || value instanceof Set ? itemBytes * value.size : 0;
}

class Machine {
  readonly stream: PickleStream;
  readonly host: PickleHost;
  readonly fail: Fail;
  readonly reading: Reading;
  stack: PickleValue[] = [];
  readonly marks: PickleValue[][] = [];
  readonly memo = new Map<number, PickleValue>();
  /** The offset of the opcode at hand. */
  offset = 0;

  constructor({ bytes, start = 0, base = 0 }: PicklePlace, host: PickleHost, reading: Reading) {
    this.stream = new PickleStream(bytes, start, base, reading.fail);
    this.host = host;
    this.fail = reading.fail;
    this.reading = reading;
  }

  run(): Unpickled {
    const { stream } = this;
    for (;;) {
      this.offset = stream.base + stream.at;
      const byte = stream.u8();
      const opcode = opcodeOf(byte);
      if (opcode === undefined)
        return this.fail(
          `0x${byte.toString(16).padStart(2, "0")} is no pickle opcode`,
          this.offset,
        );
      if (opcode === "stop") return { value: this.pop(), end: stream.at };
      const read = scalars.get(opcode);
      if (read) this.push(read(stream, this.offset));
      else if (!this.container(opcode) && !this.object(opcode)) this.control(opcode);
    }
  }

  push(value: PickleValue): true {
    if (typeof value === "object" && value !== null)
      this.reading.take(containerBytes, "what the pickle holds", this.offset);
    this.stack.push(value);
    return true;
  }

  pop(): PickleValue {
    if (this.stack.length === 0) this.fail("the pickle takes from an empty stack", this.offset);
    return this.stack.pop()!;
  }

  top(): PickleValue {
    if (this.stack.length === 0) this.fail("the pickle looks at an empty stack", this.offset);
    return this.stack.at(-1)!;
  }

  /** What was pushed since the last mark. */
  marked(): PickleValue[] {
    const below = this.marks.pop();
    if (!below) return this.fail("the pickle has no mark", this.offset);
    const items = this.stack;
    this.stack = below;
    return items;
  }

  /** Lists, tuples, dicts, sets, and what is put into them. */
  container(opcode: string): boolean {
    switch (opcode) {
      case "emptyList":
      case "emptyTuple":
        return this.push([]);
      case "list":
      case "tuple":
        return this.push(this.marked());
      case "tuple1":
        return this.push([this.pop()]);
      case "tuple2":
        return this.push(this.last(2));
      case "tuple3":
        return this.push(this.last(3));
      case "emptyDict":
        return this.push(new Map());
      case "emptySet":
        return this.push(new Set());
      case "frozenSet":
        return this.push(new Set(this.marked()));
      case "dict": {
        const items = this.marked();
        this.push(new Map());
        return this.setItems(items);
      }
      case "append":
        return this.append([this.pop()]);
      case "appends":
      case "addItems":
        return this.append(this.marked());
      case "setItem":
        return this.setItems(this.last(2));
      case "setItems":
        return this.setItems(this.marked());
      default:
        return false;
    }
  }

  last(count: number): PickleValue[] {
    if (this.stack.length < count) this.fail("the pickle takes from an empty stack", this.offset);
    return this.stack.splice(-count);
  }

  append(items: readonly PickleValue[]): true {
    const to = this.top();
    if (to instanceof Set) for (const item of items) to.add(item);
    else {
      const list = to instanceof Opaque ? to.items : to;
      if (!Array.isArray(list))
        return this.fail(`the pickle appends to ${describe(to)}`, this.offset);
      for (const item of items) list.push(item);
    }
    return true;
  }

  setItems(items: readonly PickleValue[]): true {
    const to = this.top();
    const map = to instanceof Opaque ? to.entries : to;
    if (!(map instanceof Map))
      return this.fail(`the pickle sets items of ${describe(to)}`, this.offset);
    if (items.length % 2) this.fail("the pickle has a key without a value", this.offset);
    for (let i = 0; i < items.length; i += 2) map.set(items[i]!, items[i + 1]!);
    return true;
  }

  /** Names, calls, state, persistent ids. */
  object(opcode: string): boolean {
    const s = this.stream;
    switch (opcode) {
      case "global":
        return this.push(this.name(s.line(), s.line()));
      case "stackGlobal": {
        const [module, name] = this.last(2);
        if (typeof module !== "string" || typeof name !== "string")
          return this.fail("the pickle names something by what is not text", this.offset);
        return this.push(this.name(module, name));
      }
      case "reduce":
      case "newObj": {
        const [callee, args] = this.last(2);
        return this.push(this.call(callee!, args!));
      }
      case "newObjEx": {
        const [callee, args, named] = this.last(3);
        if (!(named instanceof Map && named.size === 0))
          this.fail("the pickle makes an object of named arguments", this.offset);
        return this.push(this.call(callee!, args!));
      }
      case "inst": {
        const callee = this.name(s.line(), s.line());
        return this.push(this.call(callee, this.marked()));
      }
      case "obj": {
        const [callee, ...args] = this.marked();
        return this.push(this.call(callee ?? null, args));
      }
      case "build":
        return this.build(this.pop());
      case "persId":
        return this.push(this.host.persistent(s.line(), this.offset));
      case "binPersId":
        return this.push(this.host.persistent(this.pop(), this.offset));
      default:
        return false;
    }
  }

  name = (module: string, name: string): PickleValue =>
    referTo(`${module}.${name}`, this.offset, this.host, this.fail);

  call(callee: PickleValue, args: PickleValue): PickleValue {
    // A call may copy or walk what a few bytes of the pickle refer to.
    const size = Array.isArray(args) ? args.reduce((n: number, arg) => n + sizeOf(arg), 0) : 0;
    this.reading.take(size, "what the pickle makes", this.offset);
    return callGlobal(callee, args, this.offset, this.host, this.fail);
  }

  build(state: PickleValue): true {
    const object = this.top();
    this.reading.take(sizeOf(state), "the state of what the pickle makes", this.offset);
    if (object instanceof Opaque) object.state = state;
    else if (object instanceof Attributes) {
      if (!(state instanceof Map))
        return this.fail(`the state of a record is ${describe(state)}`, this.offset);
      for (const [key, value] of state) object.fields.set(key, value);
    } else if (object instanceof Foreign) {
      if (!this.host.build?.(object, state, this.offset))
        this.fail(`the pickle gives state to ${describe(object)}`, this.offset);
    } else if (!(object instanceof Map))
      // The attributes of a dict, such as the versions that PyTorch notes, are not part of its items.
      this.fail(`the pickle gives state to ${describe(object)}`, this.offset);
    return true;
  }

  /** The memo, the stack itself, and what frames the rest. */
  control(opcode: string): void {
    const s = this.stream;
    switch (opcode) {
      case "mark":
        this.reading.take(containerBytes, "the marks of the pickle", this.offset);
        this.marks.push(this.stack);
        this.stack = [];
        return;
      case "pop":
        if (this.stack.length === 0 && this.marks.length) this.marked();
        else this.pop();
        return;
      case "popMark":
        return void this.marked();
      case "dup":
        return void this.push(this.top());
      case "get":
        return void this.push(this.recall(Number(s.decimal())));
      case "binGet":
        return void this.push(this.recall(s.u8()));
      case "longBinGet":
        return void this.push(this.recall(s.u32()));
      case "put":
        return void this.memo.set(Number(s.decimal()), this.top());
      case "binPut":
        return void this.memo.set(s.u8(), this.top());
      case "longBinPut":
        return void this.memo.set(s.u32(), this.top());
      case "memoize":
        return void this.memo.set(this.memo.size, this.top());
      case "proto": {
        const version = s.u8();
        if (version > 5) this.fail(`pickle protocol ${version} is not one of 0 to 5`, this.offset);
        return;
      }
      default:
        // A frame only says how much to read at once.
        s.skip(8);
    }
  }

  recall(index: number): PickleValue {
    const value = this.memo.get(index);
    return value === undefined ? this.fail(`the pickle has no memo ${index}`, this.offset) : value;
  }
}
