/**
 * Index arithmetic of the languages with infix operators: JavaScript and WGSL write it alike.
 */

import { atLeast, atom, prec, type Text } from "./scope.ts";
import type { Comparison, IndexLanguage } from "./target-language.ts";

const infix = (a: Text, op: string, b: Text, strength: number): Text => ({
  text: `${atLeast(a, strength)} ${op} ${atLeast(b, strength + 1)}`,
  prec: strength,
  lanes: 1,
});

/** `greater`: whether comparisons may be printed with `>`. */
export const infixIndices = (equals: string, greater: boolean): IndexLanguage => ({
  greater,
  named: (name, lanes) => atom(name, lanes),
  never: atom("false"),
  integer: (n) => (n < 0 ? { text: String(n), prec: prec.unary, lanes: 1 } : atom(String(n))),
  negate: (a) => ({ text: `-${atLeast(a, prec.unary)}`, prec: prec.unary, lanes: 1 }),
  add: (a, b) => infix(a, "+", b, prec.add),
  subtract: (a, b) => infix(a, "-", b, prec.add),
  multiply: (a, b) => infix(a, "*", b, prec.mul),
  compare(op: Comparison, a, b) {
    const strength = op === "==" ? prec.equal : prec.compare;
    const [l, r] = [atLeast(a, prec.add), atLeast(b, prec.add)];
    return { text: `${l} ${op === "==" ? equals : op} ${r}`, prec: strength, lanes: 1 };
  },
});
