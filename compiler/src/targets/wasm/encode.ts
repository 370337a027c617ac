/**
 * A function's instructions as bytes, in one of two variants: `(f32x4.madd a b c)` and `nmadd` are
 * one relaxed instruction in one and two in the other. The plain `nmadd` computes c before a and
 * b, so the three must not write what another reads. Checks names and operand counts; does not
 * check operand types, which validation does. WebAssembly specification 2.0, section 5.4.
 *
 * Why an encoder of our own: a printer of WAT and an assembler that reads it again took half of
 * the time of a cold compile. Golden files hold the text, and tests that wabt makes the same bytes
 * of it.
 */
import { bug } from "@kiln-ml/ir";
import { Bytes } from "./bytes.ts";
import type { Code, ValueType, WasmFunction } from "./code.ts";
import { fused, memoryCopy, memoryFill } from "./opcodes.ts";

export const valueTypes: Readonly<Record<ValueType, number>> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
};

const endOp = 0x0b;
const elseOp = 0x05;
const emptyBlock = 0x40;
/** More bytes than an instruction has without its operands. */
const longest = 32;

const lanes = new DataView(new ArrayBuffer(16));
const laneBytes = new Uint8Array(lanes.buffer);

/** The index of a function of that name, given so many operands; notes what is imported. */
export type IndexOf = (name: string, operands: number, caller: string) => number;

/**
 * Encodes one function after the other into one buffer that grows; what it knows of names ends
 * with the function.
 */
export class FunctionEncoder {
  readonly #out: Bytes = new Bytes();
  readonly #relaxed: boolean;
  readonly #indexOf: IndexOf;
  #name = "";
  readonly #locals = new Map<string, number>();
  readonly #labels: string[] = [];

  constructor(relaxed: boolean, indexOf: IndexOf) {
    this.#relaxed = relaxed;
    this.#indexOf = indexOf;
  }

  /** Writes locals and body of the function with their size before them. */
  write(f: WasmFunction, to: Bytes): void {
    this.#name = f.name;
    this.#out.length = 0;
    this.#locals.clear();
    for (const name of f.params.keys()) this.#locals.set(name, this.#locals.size);
    this.#declare(f.locals);
    this.#all(f.body);
    this.#byte(endOp);
    to.reserve(5);
    to.unsigned(this.#out.length);
    to.append(this.#out.bytes, 0, this.#out.length);
  }

  #fail(what: string): never {
    return bug("encode", `${this.#name}: ${what}`);
  }

  #byte(value: number): void {
    this.#out.reserve(1);
    this.#out.byte(value);
  }

  /** Locals in runs of one type. */
  #declare(locals: ReadonlyMap<string, ValueType>): void {
    const runs: [type: ValueType, count: number][] = [];
    for (const [name, type] of locals) {
      if (this.#locals.has(name)) this.#fail(`${name} declared twice`);
      this.#locals.set(name, this.#locals.size);
      const last = runs.at(-1);
      if (last?.[0] === type) last[1] += 1;
      else runs.push([type, 1]);
    }
    this.#out.reserve(5 + 6 * runs.length);
    this.#out.unsigned(runs.length);
    for (const [type, count] of runs) {
      this.#out.unsigned(count);
      this.#out.byte(valueTypes[type]);
    }
  }

  #all(list: readonly Code[]): void {
    for (const c of list) this.#code(c);
  }

  #code(c: Code): void {
    const { op, args } = c;
    if (op.operands >= 0 && args.length !== op.operands)
      this.#fail(`${op.name} takes ${op.operands} operands, not ${args.length}`);
    switch (op.kind) {
      case "comment":
        return;
      case "block":
      case "if":
        this.#structure(c);
        return;
      case "madd":
      case "nmadd":
        this.#fused(c);
        return;
      default:
        this.#all(args);
        this.#out.reserve(longest);
        this.#out.op(op.code);
        this.#immediates(c);
    }
  }

  /** What follows the opcode. */
  #immediates(c: Code): void {
    const { op, args, immediate } = c;
    const out = this.#out;
    switch (op.kind) {
      case "plain":
        // The memories that these touch: there is one.
        if (op.code === memoryFill || op.code === memoryCopy) out.byte(0);
        if (op.code === memoryCopy) out.byte(0);
        return;
      case "local":
        out.unsigned(this.#locals.get(immediate as string) ?? this.#unknown("local", c));
        return;
      case "constant":
        this.#constant(c);
        return;
      case "memory":
      case "memoryLane":
        out.unsigned(31 - Math.clz32(op.width));
        out.unsigned(immediate as number);
        if (op.kind === "memoryLane") out.byte(c.detail as number);
        return;
      case "lane":
        out.byte(immediate as number);
        return;
      case "shuffle":
        for (const lane of immediate as readonly number[]) out.byte(lane);
        return;
      case "call":
        out.unsigned(this.#indexOf(immediate as string, args.length, this.#name));
        return;
      case "branch":
        out.unsigned(this.#depthOf(c));
        return;
      default:
        this.#fail(`${op.name} where an instruction must stand`);
    }
  }

  /** How many blocks lie between a branch and the one it names. */
  #depthOf(c: Code): number {
    const at = this.#labels.lastIndexOf(c.immediate as string);
    return at < 0 ? this.#unknown("block around", c) : this.#labels.length - 1 - at;
  }

  #unknown(what: string, { immediate }: Code): never {
    return this.#fail(`no ${what} is called ${immediate}`);
  }

  #constant({ op, immediate, detail }: Code): void {
    const out = this.#out;
    if (op.name === "i32.const") {
      out.signed(immediate as number);
      return;
    }
    if (op.name === "i64.const") {
      out.signed64(immediate as bigint);
      return;
    }
    const size = this.#laneBytes(op.name, immediate, detail);
    for (let i = 0; i < size; i++) out.byte(laneBytes[i]!);
  }

  /** Puts the number or lanes where `laneBytes` sees them; returns how many bytes they are. */
  #laneBytes(name: string, immediate: Code["immediate"], detail: Code["detail"]): number {
    if (name === "f32.const") lanes.setFloat32(0, immediate as number, true);
    if (name === "f64.const") lanes.setFloat64(0, immediate as number, true);
    if (name !== "v128.const") return name === "f32.const" ? 4 : 8;
    const values = immediate as readonly number[];
    for (let i = 0; i < values.length; i++)
      if (detail === "i32x4") lanes.setInt32(4 * i, values[i]!, true);
      else if (detail === "f32x4") lanes.setFloat32(4 * i, values[i]!, true);
      else lanes.setFloat64(8 * i, values[i]!, true);
    return 16;
  }

  #fused({ op, args }: Code): void {
    const out = this.#out;
    const [a, b, c] = args as readonly [Code, Code, Code];
    if (op.kind === "nmadd" && !this.#relaxed) this.#code(c);
    this.#code(a);
    this.#code(b);
    const parts = op.name.startsWith("f32x4") ? fused.f32x4 : fused.f64x2;
    out.reserve(2 * longest);
    if (!this.#relaxed) out.op(parts.mul);
    if (op.kind === "madd" || this.#relaxed) this.#code(c);
    out.reserve(longest);
    if (this.#relaxed) out.op(op.code);
    else out.op(op.kind === "nmadd" ? parts.sub : parts.add);
  }

  /** block, loop and if with what is in them. */
  #structure({ op, args, immediate, detail }: Code): void {
    const out = this.#out;
    if (op.kind === "if") this.#code(args[0]!);
    out.reserve(longest);
    out.byte(op.code);
    out.byte(detail ? valueTypes[detail as ValueType] : emptyBlock);
    this.#labels.push(immediate as string);
    if (op.kind === "if") {
      this.#all(args[1]!.args);
      if (args[2]?.args.some((c) => c.op.kind !== "comment")) {
        this.#byte(elseOp);
        this.#all(args[2].args);
      }
    } else this.#all(args);
    this.#labels.pop();
    this.#byte(endOp);
  }
}
