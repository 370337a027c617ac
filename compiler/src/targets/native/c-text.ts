/**
 * Instructions as C: expressions. A value of a vector has one of four types, which C converts
 * without a move; locals that hold vectors are `vf`. `statements.ts` prints what gives no value.
 */
import { bug } from "@kiln-ml/ir";
import type { Code } from "../wasm/code.ts";
import { type CType, operators, vectorTypes } from "./operators.ts";

export interface CText {
  readonly text: string;
  readonly type: CType;
}

/** What is known while one function is printed. */
export interface CFunction {
  readonly lanes: number;
  /** The C name of a local. */
  nameOf(local: string): string;
  typeOf(local: string): CType;
  /** A label that nothing else in the function has. */
  freshLabel(): string;
  /** Labels of the blocks that are open, with what they are called in C. */
  readonly labels: [label: string, text: string][];
  /** Statements of a block, for those that give a value. */
  statements(list: readonly Code[]): string;
}

const scalar = (text: string): CText => ({ text, type: "s" });

/** The value as one of the wanted type. */
export const cast = ({ text, type }: CText, wanted: CType): string =>
  type === wanted || wanted === "s" ? text : `((${vectorTypes[wanted]})${text})`;

export function expression(f: CFunction, c: Code): CText {
  const { op, args, immediate } = c;
  const known = operators.get(op.name);
  if (known) return operation(f, c);
  switch (op.kind) {
    case "local":
      return localText(f, c);
    case "constant":
      return constant(c, f.lanes);
    case "memory":
      return load(f, c);
    case "memoryLane":
      return loadLane(f, c);
    case "lane":
      return lane(f, c);
    case "shuffle":
      return shuffled(f, c);
    case "call": {
      const name = (immediate as string).replace(/^Math\./, "");
      return scalar(`${name}(${args.map((a) => expression(f, a).text).join(", ")})`);
    }
    case "if":
      return chosen(f, c);
    case "block":
      return blockValue(f, c);
    default:
      if (op.name === "select") return selected(f, c);
      // Bytes in lanes are a load of as many, widened twice.
      if (op.name === "i32x4.extend_low_i16x8_u") return load(f, args[0]!.args[0]!, "load_bytes");
      return bug("emit", `C has no spelling of ${op.name}`);
  }
}

function operation(f: CFunction, { op, args }: Code): CText {
  const { takes, gives, text } = operators.get(op.name)!;
  const given = args.map((a, i) => cast(expression(f, a), takes[i]!));
  return { text: text.replace(/\$(\d)/g, (_, i) => given[Number(i)]!), type: gives };
}

function localText(f: CFunction, { op, args, immediate }: Code): CText {
  const name = f.nameOf(immediate as string);
  const type = f.typeOf(immediate as string);
  if (op.name === "local.get") return { text: name, type };
  return { text: `(${name} = ${cast(expression(f, args[0]!), type)})`, type };
}

/** A number that C reads back as the same f32 or f64. */
export function floatText(v: number, suffix: "f" | ""): string {
  if (Number.isNaN(v)) return `__builtin_nan${suffix}("")`;
  if (!Number.isFinite(v)) return `${v < 0 ? "-" : ""}__builtin_inf${suffix}()`;
  const text = Object.is(v, -0) ? "-0" : String(v);
  return `${/[.e]/.test(text) ? text : `${text}.0`}${suffix}`;
}

function constant({ op, immediate, detail }: Code, lanes: number): CText {
  if (op.name === "i32.const") return scalar(`${immediate}L`);
  if (op.name === "f64.const") return scalar(`(${floatText(immediate as number, "")})`);
  const values = immediate as readonly number[];
  const same = values.every((v) => Object.is(v, values[0]));
  if (detail === "f64x2") return { text: `all_doubles(${floatText(values[0]!, "")})`, type: "d" };
  if (detail === "f32x4") {
    const one = floatText(Math.fround(values[0]!), "f");
    return { text: `all_floats(${one})`, type: "f" };
  }
  if (same) return { text: `all_ints(${intText(values[0]!)})`, type: "i" };
  if (values.length !== lanes) bug("emit", `a vector of ${values.length} lanes, not ${lanes}`);
  return { text: `((vi){${values.map(intText).join(", ")}})`, type: "i" };
}

/** The least i32 is no literal of C. */
const intText = (v: number): string => ((v | 0) === -(2 ** 31) ? "INT32_MIN" : String(v | 0));

/** The place that a memory instruction names. */
export function placeOf(f: CFunction, { args, immediate }: Code): string {
  const base = expression(f, args[0]!).text;
  return `mem + ${base}${immediate ? ` + ${immediate}` : ""}`;
}

const loads: Readonly<Record<string, readonly [text: string, type: CType]>> = {
  "v128.load": ["load_floats", "f"],
  "v128.load16x4_u": ["load_halves", "i"],
  "v128.load16x4_s": ["load_signed_halves", "i"],
  "v128.load32_splat": ["load_same", "i"],
  "v128.load32_zero": ["load_first", "i"],
  "i32.load": ["(long)load_int", "s"],
  "i32.load8_u": ["(long)load_byte", "s"],
  "i32.load16_u": ["(long)load_half", "s"],
  "f64.load": ["load_double", "s"],
};

function load(f: CFunction, c: Code, as?: string): CText {
  const [name, type] = as ? ([as, "i"] as const) : (loads[c.op.name] ?? refuse(c));
  return { text: `${name}(${placeOf(f, c)})`, type };
}

const refuse = (c: Code): never => bug("emit", `C has no spelling of ${c.op.name}`);

/** The loads and stores of an element of 8, 16 or 32 bits. */
export const elements: Readonly<Record<number, string>> = { 1: "byte", 2: "half", 4: "int" };

/** Which lane of 32 bits a lane of fewer begins. */
export const wordOf = ({ op, detail }: Code): number => ((detail as number) * op.width) / 4;

function loadLane(f: CFunction, c: Code): CText {
  const value = cast(expression(f, c.args[1]!), "i");
  const element = `load_${elements[c.op.width]}(${placeOf(f, c)})`;
  return { text: `with_int(${value}, ${wordOf(c)}, (int32_t)${element})`, type: "i" };
}

function lane(f: CFunction, { op, args, immediate }: Code): CText {
  const [vector, value] = args.map((a) => expression(f, a));
  switch (op.name) {
    case "i32x4.extract_lane":
      return scalar(`(long)${cast(vector!, "i")}[${immediate}]`);
    case "f32x4.extract_lane":
      return scalar(`${cast(vector!, "f")}[${immediate}]`);
    case "f64x2.extract_lane":
      return scalar(`${cast(vector!, "d")}[${immediate}]`);
    case "i32x4.replace_lane":
      return {
        text: `with_int(${cast(vector!, "i")}, ${immediate}, (int32_t)${value!.text})`,
        type: "i",
      };
    case "f32x4.replace_lane":
      return { text: `with_float(${cast(vector!, "f")}, ${immediate}, ${value!.text})`, type: "f" };
    default:
      return bug("emit", `C has no spelling of ${op.name}`);
  }
}

/**
 * Lanes in a new order. An order of sixteen bytes is one of quarters of a vector, however wide it
 * is: halves of vectors trade places in it.
 */
function shuffled(f: CFunction, { args, immediate }: Code): CText {
  const bytes = immediate as readonly number[];
  const wide = (4 * f.lanes) / bytes.length;
  const order = Array.from({ length: f.lanes }, (_, i) => {
    const from = bytes[Math.floor(i / wide) * 4]! / 4;
    return Math.floor(from) * wide + (i % wide);
  });
  const [a, b] = args.map((x) => cast(expression(f, x), "i"));
  const one = a === b && order.every((i) => i < f.lanes);
  const list = `${order.join(", ")}`;
  return { text: one ? `SHUFFLE(${a}, ${a}, ${list})` : `SHUFFLE(${a}, ${b}, ${list})`, type: "i" };
}

/** One of two values, of which only that one is computed. */
function chosen(f: CFunction, { args }: Code): CText {
  const [condition, then, otherwise] = args;
  const [a, b] = [then!, otherwise!].map((clause) => expression(f, clause.args[0]!));
  const type = a!.type === "s" ? "s" : "f";
  const test = expression(f, condition!).text;
  return { text: `(${test} ? ${cast(a!, type)} : ${cast(b!, type)})`, type };
}

function selected(f: CFunction, { args }: Code): CText {
  const [a, b, condition] = args.map((x) => expression(f, x));
  return scalar(`(${condition!.text} ? ${a!.text} : ${b!.text})`);
}

/** A block whose last instruction is its value. */
function blockValue(f: CFunction, { args, detail }: Code): CText {
  const type: CType = detail === "v128" ? "f" : "s";
  const last = cast(expression(f, args.at(-1)!), type);
  return { text: `({ ${f.statements(args.slice(0, -1))} ${last}; })`, type };
}
