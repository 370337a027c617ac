/**
 * The C text of an op's record as instructions, for four f32 lanes or one f64: numbers, operands,
 * arithmetic, comparisons, logic, `?:` and calls. No assignments, casts, integers or bits.
 * Comparisons give a lane mask, of f64 an i32.
 *
 * So a new op needs nothing here: its record's text is what js and WGSL print as well. `?:` and
 * logic evaluate both sides, as lanes must; a call of what `dialect.ts` lacks is the host's, lane
 * by lane.
 */
import { DtypeError } from "@kiln-ml/ir";
import { type Code, isCheap, op } from "../code.ts";
import { type Dialect, dialects, type Width } from "./dialect.ts";
import type { Bind } from "./vector.ts";

/** Whether a value is a number or the outcome of a comparison. */
interface Value {
  readonly code: Code;
  readonly test: boolean;
}

const token =
  /\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)[fF]?|([A-Za-z_]\w*)|([<>=!]=|&&|\|\||[-+*/%<>!?:(),]))/y;

function tokens(text: string): string[] {
  const list: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.trimEnd().length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (!match) throw new DtypeError(`emit: no C expression on target wasm: ${text.slice(at)}`);
    list.push(match[1] ?? match[2] ?? match[3]!);
  }
  return list;
}

/** Binary operators by strength, weakest first. */
const levels: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["==", "!="],
  ["<", "<=", ">", ">="],
  ["+", "-"],
  ["*", "/", "%"],
];

class Parser {
  readonly #tokens: readonly string[];
  readonly #names: Readonly<Record<string, Code>>;
  readonly #dialect: Dialect;
  readonly #bind: Bind;
  #at = 0;

  constructor(text: string, names: Readonly<Record<string, Code>>, dialect: Dialect, bind: Bind) {
    this.#tokens = tokens(text);
    this.#names = names;
    this.#dialect = dialect;
    this.#bind = bind;
  }

  whole(): Value {
    const value = this.#conditional();
    if (this.#at < this.#tokens.length) this.#fail();
    return value;
  }

  #fail(): never {
    const rest = this.#tokens.slice(this.#at).join(" ");
    throw new DtypeError(`emit: no C expression on target wasm: ${rest || "end of text"}`);
  }

  #take(wanted: string): boolean {
    if (this.#tokens[this.#at] !== wanted) return false;
    this.#at += 1;
    return true;
  }

  #expect(wanted: string): void {
    if (!this.#take(wanted)) this.#fail();
  }

  #conditional(): Value {
    const condition = this.#binary(0);
    if (!this.#take("?")) return condition;
    const yes = this.#conditional();
    this.#expect(":");
    const no = this.#conditional();
    return {
      code: this.#dialect.select(this.#test(condition), yes.code, no.code, yes.test),
      test: yes.test,
    };
  }

  #binary(level: number): Value {
    const operators = levels[level];
    if (!operators) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const operator = operators.find((o) => this.#take(o));
      if (!operator) return left;
      left = this.#joined(operator, left, this.#binary(level + 1));
    }
  }

  #joined(operator: string, a: Value, b: Value): Value {
    if (operator === "%") return this.#call("rem", [a, b]);
    const logic = operator === "&&" || operator === "||";
    const operands = logic ? [this.#test(a), this.#test(b)] : [a.code, b.code];
    const instruction = this.#dialect.infix[a.test && !logic ? `bool ${operator}` : operator];
    if (!instruction) this.#fail();
    const test = logic || !/^[-+*/]$/.test(operator);
    return { code: op(instruction, ...operands), test };
  }

  /** A number counts as true where it is not 0. */
  #test({ code, test }: Value): Code {
    return test ? code : op(this.#dialect.infix["!="]!, code, this.#dialect.number(0));
  }

  #unary(): Value {
    if (this.#take("+")) return this.#unary();
    if (this.#take("-")) {
      const { code } = this.#unary();
      return { code: op(this.#dialect.negate, code), test: false };
    }
    if (this.#take("!"))
      return { code: op(this.#dialect.not, this.#test(this.#unary())), test: true };
    return this.#primary();
  }

  #primary(): Value {
    if (this.#take("(")) {
      const value = this.#conditional();
      this.#expect(")");
      return value;
    }
    const word = this.#tokens[this.#at] ?? this.#fail();
    if (/^[.\d]/.test(word)) {
      this.#at += 1;
      return { code: this.#dialect.number(Number(word)), test: false };
    }
    if (!/^[A-Za-z_]/.test(word)) this.#fail();
    this.#at += 1;
    if (this.#take("(")) return this.#call(word, this.#operands());
    if (!Object.hasOwn(this.#names, word))
      throw new DtypeError(`emit: no operand ${word} on target wasm`);
    return { code: this.#names[word]!, test: false };
  }

  #operands(): Value[] {
    const list: Value[] = [];
    do list.push(this.#conditional());
    while (this.#take(","));
    this.#expect(")");
    return list;
  }

  /** Functions repeat their operands, so compound ones are bound. */
  #call(name: string, operands: readonly Value[]): Value {
    const { local } = this.#dialect;
    const x = operands.map(({ code }) => (isCheap(code) ? code : this.#bind(local, code)));
    const code = this.#dialect.call(name, x, this.#bind);
    if (code === undefined)
      throw new DtypeError(`emit: no function ${name} of ${x.length} operands on target wasm`);
    return { code, test: false };
  }
}

/** The code of C text in which `names` stand for the operands, which are cheap to repeat. */
export const fromC = (
  text: string,
  names: Readonly<Record<string, Code>>,
  width: Width,
  bind: Bind,
): Code => new Parser(text, names, dialects[width], bind).whole().code;

/** The code of a record's `spell` on operands that are cheap to repeat. */
export function fromSpelling(
  spell: (...x: string[]) => string,
  x: readonly Code[],
  width: Width,
  bind: Bind,
): Code {
  const names = x.map((_, i) => `x${i}`);
  const operands = Object.fromEntries(names.map((name, i) => [name, x[i]!]));
  return fromC(spell(...names), operands, width, bind);
}
