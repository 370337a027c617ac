/**
 * Elementwise ops of two operands. The functions broadcast and promote; the records take one shape
 * and dtype. Integer arithmetic wraps; division truncates toward zero, and the quotient and the
 * remainder by zero are 0. A shift by as many bits as there are, or more, or by a negative number
 * leaves none of them.
 */
import { integerPower, powerOf } from "../../special.ts";
import { select } from "./compare.ts";
import { type Binary, binary } from "./define.ts";
import { unlessZero } from "./singular.ts";

/**
 * x + y. `torch.add`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   add(tensor([1, 2]), 10) // [11, 12]
 *   add(tensor([[1], [2]]), tensor([10, 20])) // [[11, 21], [12, 22]]; operands broadcast
 */
export const add: Binary = binary("add", {
  on: "number",
  eval: (x, y) => x! + y!,
  infix: "+",
  vjp: (g) => [g, g],
  domain: [-10, 10],
  smooth: true,
  ulp: 0,
});

/**
 * x − y. `torch.sub`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   sub(tensor([5, 7]), tensor([1, 2])) // [4, 5]
 */
export const sub: Binary = binary("sub", {
  on: "number",
  eval: (x, y) => x! - y!,
  infix: "-",
  vjp: (g) => [g, g.neg()],
  domain: [-10, 10],
  smooth: true,
  ulp: 0,
});

/**
 * x · y. `torch.mul`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   mul(tensor([1, 2, 3]), 2) // [2, 4, 6]
 */
export const mul: Binary = binary("mul", {
  on: "number",
  eval: (x, y) => x! * y!,
  // A product of two 32-bit integers may need more than the 53 bits of a double.
  evalInteger: (x, y) => Math.imul(x!, y!),
  infix: "*",
  vjp: (g, _y, a, b) => [g.mul(b!), g.mul(a!)],
  domain: [-10, 10],
  smooth: true,
  ulp: 0,
});

/**
 * x / y; of integers, truncated toward zero, and 0 where y is 0. The least integer by −1 wraps: it
 * is itself. `torch.div`, of integers with `rounding_mode="trunc"`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   div(tensor([1, 2]), 4) // [0.25, 0.5]
 *   div(tensor([7, -7], { dtype: "i32" }), tensor([2, 2], { dtype: "i32" })) // [3, −3]
 */
export const div: Binary = binary("div", {
  on: "number",
  eval: (x, y) => x! / y!,
  infix: "/",
  vjp: (g, y, _a, b) => [g.div(b!), g.neg().mul(y).div(b!)],
  domain: [0.5, 10],
  smooth: true,
  ulp: 3,
});

/**
 * x − y·trunc(x / y): the remainder has the sign of x. Of integers 0 where y is 0. `torch.fmod`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   rem(tensor([7, -7]), 3) // [1, −1]; the sign of x
 */
export const rem: Binary = binary("rem", {
  on: "number",
  eval: (x, y) => x! % y!,
  infix: "%",
  vjp: (g, _y, a, b) => [g, g.neg().mul(a!.div(b!).trunc())],
  domain: [0.5, 10],
  ulp: 3,
});

/**
 * xʸ; of integers exact and wrapped, and without its fraction where y is negative. The gradient is
 * 0 toward x where y is 0, and toward y where x is 0 and y is not negative. `torch.pow`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   pow(tensor([2, 3]), 2) // [4, 9]
 *   pow(2, tensor([0.5, -1])) // [√2, ½]
 */
export const pow: Binary = binary("pow", {
  on: "number",
  full: true,
  eval: (x, y) => powerOf(x!, y!),
  evalInteger: (x, y) => integerPower(x!, y!),
  vjp: (g, y, a, b) => {
    const base = unlessZero(g, a!);
    const flat = a!.equal(0).and(b!.greaterEqual(0));
    return [
      select(b!.equal(0), 0, g.mul(b!).mul(base.pow(b!.sub(1)))),
      select(flat, 0, g.mul(unlessZero(g, y)).mul(unlessZero(g, a!).log())),
    ];
  },
  domain: [0.2, 4],
  smooth: true,
  ulp: 64,
  costly: true,
});

/**
 * The angle of the point (y, x) in (−π, π]; the first operand is the ordinate. `torch.atan2`.
 *
 * @param x The ordinate, the first operand.
 * @param y The abscissa.
 * @example
 *   atan2(tensor([1, 1, -1]), tensor([1, -1, -1])) // [π/4, 2.35619, −2.35619]; in three quadrants
 */
export const atan2: Binary = binary("atan2", {
  on: "float",
  eval: (y, x) => Math.atan2(y!, x!),
  vjp: (g, _y, y, x) => {
    const squares = unlessZero(g, y!.mul(y!).add(x!.mul(x!)));
    return [g.mul(x!).div(squares), g.neg().mul(y!).div(squares)];
  },
  domain: [0.5, 5],
  smooth: true,
  ulp: 128,
  costly: true,
});

/**
 * The greater; NaN if either is. At a tie the gradient goes to the first operand. `torch.maximum`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   maximum(tensor([1, 5]), tensor([4, 2])) // [4, 5]
 */
export const maximum: Binary = binary("maximum", {
  on: "number",
  eval: (x, y) => Math.max(x!, y!),
  spell: (x, y) => `max(${x}, ${y})`,
  // a < b just when a < y, and y is stored anyway where only its sign matters, as in relu.
  vjp: (g, y, a) => [select(a!.less(y), 0, g), select(a!.less(y), g, 0)],
  domain: [-10, 10],
  ulp: 0,
});

/**
 * The less; NaN if either is. At a tie the gradient goes to the first operand. `torch.minimum`.
 *
 * @param x Numbers of any dtype but bool. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   minimum(tensor([1, 5]), tensor([4, 2])) // [1, 2]
 */
export const minimum: Binary = binary("minimum", {
  on: "number",
  eval: (x, y) => Math.min(x!, y!),
  spell: (x, y) => `min(${x}, ${y})`,
  vjp: (g, y, a) => [select(a!.greater(y), 0, g), select(a!.greater(y), g, 0)],
  domain: [-10, 10],
  ulp: 0,
});

const noGradient = (): readonly undefined[] => [undefined, undefined];

/**
 * Both true; of integers, bit by bit. `torch.logical_and`, `torch.bitwise_and`.
 *
 * @param x bool or integers. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   and(tensor([true, true]), tensor([true, false])) // [true, false]
 *   and(tensor([6], { dtype: "i32" }), tensor([3], { dtype: "i32" })) // [2]; 110 & 011 = 010
 */
export const and: Binary = binary("and", {
  on: "bits",
  eval: (x, y) => x! & y!,
  infix: "&",
  vjp: noGradient,
  domain: [0, 1],
  ulp: 0,
});

/**
 * Either true; of integers, bit by bit. `torch.logical_or`, `torch.bitwise_or`.
 *
 * @param x bool or integers. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   or(tensor([true, false]), tensor([false, false])) // [true, false]
 *   or(tensor([6], { dtype: "i32" }), tensor([3], { dtype: "i32" })) // [7]; 110 | 011 = 111
 */
export const or: Binary = binary("or", {
  on: "bits",
  eval: (x, y) => x! | y!,
  infix: "|",
  vjp: noGradient,
  domain: [0, 1],
  ulp: 0,
});

/**
 * One of them true; of integers, bit by bit. `torch.logical_xor`, `torch.bitwise_xor`.
 *
 * @param x bool or integers. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   xor(tensor([true, true]), tensor([true, false])) // [false, true]
 *   xor(tensor([6], { dtype: "i32" }), tensor([3], { dtype: "i32" })) // [5]; 110 ^ 011 = 101
 */
export const xor: Binary = binary("xor", {
  on: "bits",
  eval: (x, y) => x! ^ y!,
  infix: "^",
  vjp: noGradient,
  domain: [0, 1],
  ulp: 0,
});

/**
 * x·2ʸ, wrapped: 0 if y is at least the bits of the dtype, or negative. `torch.bitwise_left_shift`.
 *
 * @param x Integers. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   shiftLeft(tensor([1, 3], { dtype: "i32" }), 2) // [4, 12]
 */
export const shiftLeft: Binary = binary("shiftLeft", {
  on: "integer",
  eval: (x, y) => (y! >= 0 && y! < 32 ? x! * 2 ** y! : 0),
  infix: "<<",
  vjp: noGradient,
  domain: [0, 7],
  ulp: 0,
});

/**
 * ⌊x / 2ʸ⌋: arithmetic for signed dtypes; 0, or −1 for a negative x, if y is at least the bits of
 * the dtype, or negative. `torch.bitwise_right_shift`.
 *
 * @param x Integers. Any shape.
 * @param y Alike; it broadcasts against x.
 * @example
 *   shiftRight(tensor([12, -5], { dtype: "i32" }), 1) // [6, −3]
 */
export const shiftRight: Binary = binary("shiftRight", {
  on: "integer",
  eval: (x, y) => Math.floor(x! / 2 ** (y! >= 0 && y! < 32 ? y! : 32)),
  infix: ">>",
  vjp: noGradient,
  domain: [0, 7],
  ulp: 0,
});

/**
 * x, computed no sooner than y is: what reads the result waits for y, and is not taken for what
 * reads x itself. How values are computed again where they are needed instead of being kept; see
 * `checkpoint`. The gradient passes to x. `jax.lax.optimization_barrier`.
 *
 * @param x The value.
 * @param y What is to be computed before.
 * @example
 *   const [x, done] = [tensor([1, 2]), tensor([0])];
 *   after(x, done.broadcastTo([2])) // [1, 2]
 */
export const after: Binary = binary("after", {
  on: "any",
  eval: (x) => x!,
  spell: (x) => `(${x})`,
  vjp: (g) => [g, undefined],
  domain: [-10, 10],
  ulp: 0,
});
