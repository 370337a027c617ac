/**
 * Functions in folded WAT to code of both variants, in one pass over the text: the plain code is
 * written, and copied to the relaxed one where they part. Checks words,
 * names, immediates and operand counts; does not check operand types, which validation does.
 *
 * `(f32x4.madd a b c)` and `nmadd` are one relaxed instruction in one variant and two in the other.
 * The plain `nmadd` computes c before a and b, so the three must not write what another reads.
 */

import { Code } from "./code.ts";
import { writeConstant } from "./constants.ts";
import { parseInteger } from "./literals.ts";
import { fused, type Instruction, memoryCopy, memoryFill } from "./opcodes.ts";
import { Names, Scanner } from "./scan.ts";
import { wordOf } from "./words.ts";

/** What the module's other sections say of a function, and where its code lies. */
export interface FunctionEntry {
  readonly name: number;
  exported: string | undefined;
  readonly params: number[];
  result: number | undefined;
  readonly plain: [from: number, to: number];
  readonly relaxed: [from: number, to: number];
}

/** A call as seen first: its callee, how many operands, and in which function it stands. */
export interface Call {
  readonly name: number;
  readonly operands: number;
  readonly where: string;
}

const paren = 40;
const dollar = 36;
const lowerA = 97;
const lowerO = 111;
const endOp = 0x0b;
const elseOp = 0x05;
const emptyBlock = 0x40;
const callOp = 0x10;
/** Of a block that no branch can name. */
const noLabel = -1;

export class FunctionReader {
  readonly plain: Code = new Code();
  readonly relaxed: Code = new Code();
  /** How much of `plain` is in `relaxed` too, or has another spelling there. */
  #shared = 0;
  readonly names: Names = new Names();
  readonly functions: FunctionEntry[] = [];
  readonly calls: Call[] = [];
  readonly #scan = new Scanner();
  /** By name. */
  readonly #defined: (FunctionEntry | undefined)[] = [];
  /** By name: the index in `calls`. */
  readonly #called: (number | undefined)[] = [];
  /** By name: the local's index plus `#firstLocal` of its function; smaller numbers are stale. */
  readonly #locals: (number | undefined)[] = [];
  #firstLocal = 1;
  #localCount = 0;
  readonly #labels: number[] = [];

  /** Reads every function of the text. */
  read(text: string): void {
    const scan = this.#scan;
    scan.begin(text);
    // Code is shorter than its text.
    this.plain.reserve(text.length + 16);
    this.relaxed.reserve(text.length + 16);
    while (scan.skip() === paren) this.#function();
    if (scan.at < text.length) scan.fail(`${scan.found()} where a function must stand`);
  }

  /** The function of that name, if a text read so far defines it. */
  definition(name: number): FunctionEntry | undefined {
    return this.#defined[name];
  }

  #function(): void {
    const scan = this.#scan;
    scan.where = "the module";
    if (this.#opening().name !== "func") scan.fail(`${scan.word()} where func must stand`);
    const name = this.#name();
    scan.where = this.names.names[name]!;
    if (this.definition(name) !== undefined) scan.fail("defined twice");
    const entry: FunctionEntry = {
      name,
      exported: undefined,
      params: [],
      result: undefined,
      plain: [this.plain.length, 0],
      relaxed: [this.relaxed.length, 0],
    };
    this.functions.push(entry);
    this.#defined[name] = entry;
    this.#firstLocal += this.#localCount;
    this.#localCount = 0;
    this.#body(entry);
    this.#share();
    entry.plain[1] = this.plain.length;
    entry.relaxed[1] = this.relaxed.length;
  }

  #body(entry: FunctionEntry): void {
    const scan = this.#scan;
    const locals: number[] = [];
    let first: Instruction | undefined;
    while (first === undefined && !scan.closes()) {
      const word = this.#opening();
      if (word.kind !== "declaration") first = word;
      else this.#declaration(word.name, entry, locals);
    }
    this.#declareLocals(locals);
    if (first !== undefined) {
      this.#instruction(first);
      while (!scan.closes()) this.#instruction(this.#opening());
    }
    this.plain.byte(endOp);
    if (this.plain.length > this.plain.bytes.length) scan.fail("code longer than its text");
  }

  /** Brings `relaxed` up to date with what was written to `plain` alone. */
  #share(): void {
    this.relaxed.append(this.plain.bytes, this.#shared, this.plain.length);
    this.#shared = this.plain.length;
  }

  #declaration(word: string, entry: FunctionEntry, locals: number[]): void {
    const scan = this.#scan;
    if (word === "export") entry.exported = scan.quoted();
    else if (word === "result") {
      if (entry.result !== undefined) scan.fail("two results");
      entry.result = this.#valueType();
    } else if (word === "param" || word === "local") {
      if (word === "param" && locals.length > 0) scan.fail("a param after a local");
      this.#declareLocal();
      (word === "param" ? entry.params : locals).push(this.#valueType());
    } else scan.fail(`${word} inside a function`);
    scan.close();
  }

  #declareLocal(): void {
    const name = this.#name();
    if ((this.#locals[name] ?? 0) >= this.#firstLocal)
      this.#scan.fail(`${this.names.names[name]} declared twice`);
    this.#locals[name] = this.#firstLocal + this.#localCount;
    this.#localCount += 1;
  }

  /** Locals in runs of one type. */
  #declareLocals(types: readonly number[]): void {
    const starts = types.flatMap((type, i) => (type === types[i - 1] ? [] : [i]));
    this.plain.unsigned(starts.length);
    starts.forEach((start, i) => {
      this.plain.unsigned((starts[i + 1] ?? types.length) - start);
      this.plain.byte(types[start]!);
    });
  }

  /** Passes an opening parenthesis and the word after it. */
  #opening(): Instruction {
    this.#scan.open();
    return this.#word();
  }

  #word(): Instruction {
    const scan = this.#scan;
    scan.atom();
    return wordOf(scan);
  }

  #valueType(): number {
    const word = this.#word();
    if (word.kind !== "valueType") this.#scan.fail(`${word.name} where a value type must stand`);
    return word.code;
  }

  /** Passes a name, `$` and all, and numbers it. */
  #name(): number {
    const scan = this.#scan;
    if (scan.skip() !== dollar) scan.fail(`${scan.found()} where a $name must stand`);
    scan.atom();
    return this.names.intern(scan.text, scan.start, scan.at, scan.hash);
  }

  /** The rest of an instruction whose word was read, through its closing parenthesis. */
  #instruction(op: Instruction): void {
    // biome-ignore format: one kind a row
    switch (op.kind) {
      case "plain": this.#plain(op); break;
      case "local": this.#local(op); break;
      case "constant": this.#constant(op); break;
      case "memory":
      case "memoryLane": this.#memory(op); break;
      case "lane": this.#lane(op); break;
      case "madd":
      case "nmadd": this.#fused(op); break;
      case "call": this.#call(); break;
      case "branch": this.#branch(op); break;
      case "block": this.#block(op); break;
      case "if": this.#if(op); break;
      case "shuffle": this.#shuffle(op); break;
      default: this.#scan.fail(`${op.name} where an instruction must stand`);
    }
  }

  #plain(op: Instruction): void {
    this.#operands(op);
    this.plain.op(op.code);
    // The memories that these touch: there is one.
    if (op.code === memoryFill || op.code === memoryCopy) this.plain.byte(0);
    if (op.code === memoryCopy) this.plain.byte(0);
  }

  #constant(op: Instruction): void {
    writeConstant(this.plain, op.code, this.#scan);
    this.#scan.close();
  }

  /** Instructions through the closing parenthesis; returns how many. */
  #children(): number {
    let count = 0;
    while (!this.#scan.closes()) {
      this.#instruction(this.#opening());
      count += 1;
    }
    return count;
  }

  #operands(op: Instruction): void {
    const count = this.#children();
    if (op.operands >= 0 && count !== op.operands)
      this.#scan.fail(`${op.name} takes ${op.operands} operands, not ${count}`);
  }

  #local(op: Instruction): void {
    const name = this.#name();
    const local = (this.#locals[name] ?? 0) - this.#firstLocal;
    if (local < 0) this.#scan.fail(`no local is called ${this.names.names[name]}`);
    this.#operands(op);
    this.plain.byte(op.code);
    this.plain.unsigned(local);
  }

  /** `offset=` and `align=` in that order, either left out. */
  #memory(op: Instruction): void {
    const offset = this.#field("offset=", lowerO, 0);
    const align = this.#field("align=", lowerA, op.width);
    const hint = 31 - Math.clz32(align);
    if (1 << hint !== align || align > op.width)
      this.#scan.fail(`${op.name} with align=${align}, not a power of two up to ${op.width}`);
    const lane = op.kind === "memoryLane" ? this.#laneIndex(16 / op.width) : 0;
    this.#operands(op);
    this.plain.op(op.code);
    this.plain.unsigned(hint);
    this.plain.unsigned(offset);
    if (op.kind === "memoryLane") this.plain.byte(lane);
  }

  #field(prefix: string, first: number, otherwise: number): number {
    const scan = this.#scan;
    if (scan.skip() !== first) return otherwise;
    scan.atom();
    const start = scan.start + prefix.length;
    const value = parseInteger(scan.text, start, scan.at, 32);
    if (!scan.text.startsWith(prefix, scan.start) || value === undefined || value < 0)
      return scan.fail(`${scan.word()} where ${prefix} and a number may stand`);
    return value;
  }

  #laneIndex(lanes: number): number {
    const scan = this.#scan;
    scan.atom();
    const lane = parseInteger(scan.text, scan.start, scan.at, 8) ?? -1;
    if (!(lane >= 0 && lane < lanes))
      scan.fail(`${scan.word()} where a lane below ${lanes} must stand`);
    return lane;
  }

  #lane(op: Instruction): void {
    const lane = this.#laneIndex(op.width);
    this.#operands(op);
    this.plain.op(op.code);
    this.plain.byte(lane);
  }

  #shuffle(op: Instruction): void {
    const lanes = Array.from({ length: 16 }, () => this.#laneIndex(32));
    this.#operands(op);
    this.plain.op(op.code);
    for (const lane of lanes) this.plain.byte(lane);
  }

  #fused(op: Instruction): void {
    const scan = this.#scan;
    const { plain, relaxed } = this;
    const parts = op.name.startsWith("f32x4") ? fused.f32x4 : fused.f64x2;
    const from = plain.length;
    this.#operand(op, 0);
    this.#operand(op, 1);
    this.#share();
    plain.op(parts.mul);
    const middle = plain.length;
    this.#shared = middle;
    this.#operand(op, 2);
    if (!scan.closes()) scan.fail(`${op.name} takes 3 operands, not more`);
    this.#share();
    relaxed.op(op.code);
    if (op.kind === "nmadd") plain.swap(from, middle);
    plain.op(op.kind === "nmadd" ? parts.sub : parts.add);
    this.#shared = plain.length;
  }

  #operand(op: Instruction, index: number): void {
    if (this.#scan.closes()) this.#scan.fail(`${op.name} takes 3 operands, not ${index}`);
    this.#instruction(this.#opening());
  }

  #call(): void {
    const scan = this.#scan;
    const name = this.#name();
    const operands = this.#children();
    let index = this.#called[name];
    if (index === undefined) {
      index = this.calls.length;
      this.#called[name] = index;
      this.calls.push({ name, operands, where: scan.where });
    }
    const first = this.calls[index]!;
    if (first.operands !== operands)
      scan.fail(
        `${this.names.names[name]} called with ${operands} operands, elsewhere ${first.operands}`,
      );
    this.plain.byte(callOp);
    this.#share();
    this.plain.callee(name);
    this.relaxed.callee(name);
  }

  #branch(op: Instruction): void {
    const scan = this.#scan;
    const name = this.#name();
    const at = this.#labels.lastIndexOf(name);
    if (at < 0) scan.fail(`no block around is called ${this.names.names[name]}`);
    this.#operands(op);
    this.plain.byte(op.code);
    this.plain.unsigned(this.#labels.length - 1 - at);
  }

  /** The label and the result that may follow `block`, `loop` and `if`, and the first word after. */
  #blockType(): { label: number; type: number; first: Instruction | undefined } {
    const scan = this.#scan;
    const label = scan.skip() === dollar ? this.#name() : noLabel;
    if (scan.closes()) return { label, type: emptyBlock, first: undefined };
    const word = this.#opening();
    if (word.name !== "result") return { label, type: emptyBlock, first: word };
    const type = this.#valueType();
    scan.close();
    return { label, type, first: scan.closes() ? undefined : this.#opening() };
  }

  #block(op: Instruction): void {
    const { label, type, first } = this.#blockType();
    this.plain.byte(op.code);
    this.plain.byte(type);
    this.#labels.push(label);
    if (first !== undefined) {
      this.#instruction(first);
      this.#children();
    }
    this.#labels.pop();
    this.plain.byte(endOp);
  }

  #if(op: Instruction): void {
    const scan = this.#scan;
    const { label, type, first } = this.#blockType();
    if (first === undefined) scan.fail("if without a condition");
    else this.#instruction(first);
    this.plain.byte(op.code);
    this.plain.byte(type);
    this.#labels.push(label);
    if (this.#opening().name !== "then") scan.fail(`${scan.word()} where then must stand`);
    this.#children();
    if (!scan.closes()) {
      if (this.#opening().name !== "else") scan.fail(`${scan.word()} where else must stand`);
      if (!scan.closes()) {
        this.plain.byte(elseOp);
        this.#children();
      }
      scan.close();
    }
    this.#labels.pop();
    this.plain.byte(endOp);
  }
}
