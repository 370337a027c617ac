/**
 * What C's operators and functions are on four f32 lanes and on one f64. Functions of `Math` that
 * the tables lack are the host's, lane by lane.
 */
import { type Code, call, f64Const, op } from "../code.ts";
import type { PlainName } from "../opcodes.ts";
import { perLane } from "./halves.ts";
import { doubleMath, vectorMath } from "./index.ts";
import { type Bind, f32, select } from "./vector.ts";

export type Width = "f32x4" | "f64";

export interface Dialect {
  readonly local: "v128" | "f64";
  /** Instructions of the operators, `bool ==` those of comparisons' outcomes. */
  readonly infix: Readonly<Record<string, PlainName>>;
  readonly negate: PlainName;
  readonly not: PlainName;
  number(value: number): Code;
  /** `test`: a and b are outcomes of comparisons. */
  select(condition: Code, a: Code, b: Code, test: boolean): Code;
  call(name: string, x: readonly Code[], bind: Bind): Code | undefined;
}

/** Names of C and of shading languages for ops of ours. */
const aliases: Readonly<Record<string, string>> = {
  fmod: "rem",
  roundEven: "round",
  inversesqrt: "rsqrt",
  inverseSqrt: "rsqrt",
};
const instructions: Readonly<Record<string, "abs" | "max" | "min">> = {
  abs: "abs",
  fabs: "abs",
  max: "max",
  fmax: "max",
  min: "min",
  fmin: "min",
};

const operators = (width: Width): Readonly<Record<string, PlainName>> => ({
  "+": `${width}.add`,
  "-": `${width}.sub`,
  "*": `${width}.mul`,
  "/": `${width}.div`,
  "<": `${width}.lt`,
  "<=": `${width}.le`,
  ">": `${width}.gt`,
  ">=": `${width}.ge`,
  "==": `${width}.eq`,
  "!=": `${width}.ne`,
});

function instruction(width: Width, name: string, x: readonly Code[]): Code | undefined {
  return Object.hasOwn(instructions, name)
    ? op(`${width}.${instructions[name]!}`, ...x)
    : undefined;
}

const inMath = (name: string, x: readonly Code[]): boolean =>
  x.length <= 2 && typeof Reflect.get(Math, name) === "function";

export const dialects: Readonly<Record<Width, Dialect>> = {
  f32x4: {
    local: "v128",
    infix: {
      ...operators("f32x4"),
      "&&": "v128.and",
      "||": "v128.or",
      "bool ==": "i32x4.eq",
      "bool !=": "v128.xor",
    },
    negate: "f32x4.neg",
    not: "v128.not",
    number: f32,
    select,
    call: (name, x, bind) =>
      instruction("f32x4", name, x) ??
      vectorMath(aliases[name] ?? name, x, bind) ??
      (inMath(name, x) ? perLane(name, x, bind) : undefined),
  },
  f64: {
    local: "f64",
    infix: {
      ...operators("f64"),
      "&&": "i32.and",
      "||": "i32.or",
      "bool ==": "i32.eq",
      "bool !=": "i32.ne",
    },
    negate: "f64.neg",
    not: "i32.eqz",
    number: f64Const,
    select: (condition, a, b) => op("select", a, b, condition),
    call: (name, x, bind) =>
      instruction("f64", name, x) ??
      doubleMath(aliases[name] ?? name, x, bind) ??
      (inMath(name, x) ? call(`Math.${name}`, x) : undefined),
  },
};
