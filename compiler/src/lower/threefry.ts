/**
 * Threefry-2x32 with 20 rounds as a u32 expression: the first word for counter (index, 0). The same
 * arithmetic as the reference in the IR (Salmon, Moraes, Dror & Shaw, SC11), written out because no
 * target has it.
 */
import type { Expr } from "../kernel/kernel.ts";

const u32 = (value: number): Expr => ({ kind: "const", dtype: "u32", value });
const op = (name: string, ...args: Expr[]): Expr => ({
  kind: "call",
  op: name,
  args,
  dtype: "u32",
});
const add = (a: Expr, b: Expr): Expr => op("add", a, b);

const rotations = [
  [13, 15, 26, 6],
  [17, 29, 16, 24],
] as const;

/** The first word of threefry2x32(key (k0, k1), counter (index, 0)). */
export function threefry(k0: Expr, k1: Expr, index: Expr): Expr {
  const keys = [k0, k1, op("xor", op("xor", k0, k1), u32(0x1bd11bda))];
  let [x, y] = [add(index, k0), k1];
  for (let block = 0; block < 5; block++) {
    for (const r of rotations[block % 2]!) {
      x = add(x, y);
      const rotated = op("or", op("shiftLeft", y, u32(r)), op("shiftRight", y, u32(32 - r)));
      y = op("xor", rotated, x);
    }
    x = add(x, keys[(block + 1) % 3]!);
    y = add(add(y, keys[(block + 2) % 3]!), u32(block + 1));
  }
  return x;
}
