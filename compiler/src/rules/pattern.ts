/**
 * Rules as text: `mul(x, 1) -> x where float(x)`. A parser for that language, and nothing else;
 * `match.ts` gives it meaning. A name without parentheses is a variable, one with parentheses an
 * op, a number a constant of any shape. `true` and `false` are constants of dtype bool, which
 * numbers never match.
 */
import { bug } from "@kiln-ml/ir";

export type Pattern =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "constant"; readonly value: number; readonly bool: boolean }
  | { readonly kind: "apply"; readonly op: string; readonly args: readonly Pattern[] };

/** A test of the dtype a variable has: `float`, `integer` or the name of one dtype. */
export interface DtypeTest {
  readonly test: string;
  readonly variable: string;
}

export interface RuleText {
  readonly lhs: Pattern & { kind: "apply" };
  readonly rhs: Pattern;
  readonly where: readonly DtypeTest[];
}

const token = /\s*(->|[A-Za-z][A-Za-z0-9]*|-?(?:\d+(?:\.\d+)?|inf)|[(),])/y;

export function parseRule(text: string): RuleText {
  const tokens = tokenize(text);
  const lhs = parsePattern(tokens, text);
  expect(tokens, "->", text);
  const rhs = parsePattern(tokens, text);
  const where: DtypeTest[] = [];
  for (let word = "where"; tokens[0] === word; word = "and") {
    tokens.shift();
    const test = tokens.shift()!;
    expect(tokens, "(", text);
    where.push({ test, variable: tokens.shift()! });
    expect(tokens, ")", text);
  }
  if (lhs.kind !== "apply" || tokens.length) bug("rules", `cannot read "${text}"`);
  return { lhs, rhs, where };
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  token.lastIndex = 0;
  for (let at = 0; at < text.trimEnd().length; at = token.lastIndex) {
    const found = token.exec(text);
    if (!found) bug("rules", `cannot read "${text}" at ${at}`);
    tokens.push(found[1]!);
  }
  return tokens;
}

function expect(tokens: string[], wanted: string, text: string): void {
  const got = tokens.shift();
  if (got !== wanted) bug("rules", `"${text}" has ${got ?? "its end"} where ${wanted} is due`);
}

function parsePattern(tokens: string[], text: string): Pattern {
  const head = tokens.shift() ?? bug("rules", `"${text}" ends early`);
  if (head === "true" || head === "false")
    return { kind: "constant", value: head === "true" ? 1 : 0, bool: true };
  if (/^-?(\d|inf$)/.test(head))
    return { kind: "constant", value: Number(head.replace("inf", "Infinity")), bool: false };
  if (tokens[0] !== "(") return { kind: "variable", name: head };
  const args: Pattern[] = [];
  for (let mark = "("; tokens[0] === mark; mark = ",") {
    tokens.shift();
    args.push(parsePattern(tokens, text));
  }
  expect(tokens, ")", text);
  return { kind: "apply", op: head, args };
}

/** The variables of a pattern, in the order in which they appear. */
export function variablesIn(p: Pattern, into: Set<string> = new Set()): Set<string> {
  if (p.kind === "variable") into.add(p.name);
  if (p.kind === "apply") for (const arg of p.args) variablesIn(arg, into);
  return into;
}
