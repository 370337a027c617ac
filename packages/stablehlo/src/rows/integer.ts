/**
 * Integer arithmetic where StableHLO leaves something open or says another thing: division by zero and of the least integer by
 * −1, powers, shifts by as many bits as there are. Each is written so that no operand of an op is one it does not define.
 */
import { bytesOf, type Dtype, minOf } from "@kiln-ml/ir";
import { type Builder, nameOfType, type Ref } from "../builder.ts";

export const isSigned = (dtype: Dtype): boolean => minOf(dtype) < 0;
const bitsOf = (dtype: Dtype): number => 8 * bytesOf(dtype);

/** The divisor, and 1 where the quotient is not what the hardware's division gives. */
function safeDivisor(b: Builder, y: Ref): { readonly divisor: Ref; readonly zero: Ref } {
  const zero = b.compare("EQ", y, b.like(y, 0));
  const bad = isSigned(y.dtype) ? b.map("or", zero, b.compare("EQ", y, b.like(y, -1))) : zero;
  return { divisor: b.select(bad, b.like(y, 1), y), zero };
}

/** x / y: 0 where y is 0; −x where y is −1, which wraps. */
export function divide(b: Builder, x: Ref, y: Ref): Ref {
  const { divisor, zero } = safeDivisor(b, y);
  const quotient = b.select(zero, b.like(y, 0), b.map("divide", x, divisor));
  if (!isSigned(y.dtype)) return quotient;
  return b.select(b.compare("EQ", y, b.like(y, -1)), b.map("negate", x), quotient);
}

/** x rem y: 0 where y is 0 or −1, as the remainder by 1 is. */
export const remainder = (b: Builder, x: Ref, y: Ref): Ref =>
  b.map("remainder", x, safeDivisor(b, y).divisor);

/** True where a shift by y leaves a bit. */
function inWidth(b: Builder, y: Ref): Ref {
  const below = b.compare("LT", y, b.like(y, bitsOf(y.dtype)));
  return isSigned(y.dtype) ? b.map("and", below, b.compare("GE", y, b.like(y, 0))) : below;
}

export function shiftLeft(b: Builder, x: Ref, y: Ref): Ref {
  const fits = inWidth(b, y);
  const zero = b.like(x, 0);
  return b.select(fits, b.map("shift_left", x, b.select(fits, y, zero)), zero);
}

/** A shift by all bits but one leaves only signs, as one by more would. */
export function shiftRight(b: Builder, x: Ref, y: Ref): Ref {
  const fits = inWidth(b, y);
  if (isSigned(x.dtype)) {
    const last = b.like(y, bitsOf(y.dtype) - 1);
    return b.map("shift_right_arithmetic", x, b.select(fits, y, last));
  }
  const zero = b.like(x, 0);
  return b.select(fits, b.map("shift_right_logical", x, b.select(fits, y, zero)), zero);
}

/** x to a power that is not negative, by squaring; the function is written once for each type. */
const squared = (b: Builder, x: Ref, y: Ref): Ref =>
  b.call(`power_${nameOfType(x)}`, [x, y], x, (f, [base, exponent]) => {
    let [power, result] = [base!, f.like(base!, 1)];
    const bits = bitsOf(x.dtype) - (isSigned(x.dtype) ? 1 : 0);
    for (let i = 0; i < bits; i++) {
      const bit = f.map("and", exponent!, f.like(exponent!, 2 ** i));
      const set = f.compare("NE", bit, f.like(exponent!, 0));
      result = f.select(set, f.map("multiply", result, power), result);
      if (i < bits - 1) power = f.map("multiply", power, power);
    }
    return result;
  });

/** xʸ; of a negative y the part before the point: ±1 of bases that are ±1, else 0. */
export function integerPower(b: Builder, x: Ref, y: Ref): Ref {
  const whole = squared(b, x, y);
  if (!isSigned(y.dtype)) return whole;
  const [zero, one, minusOne] = [b.like(x, 0), b.like(x, 1), b.like(x, -1)];
  const odd = b.compare("NE", b.map("and", y, one), zero);
  const ofMinusOne = b.select(odd, minusOne, one);
  const inner = b.select(b.compare("EQ", x, minusOne), ofMinusOne, zero);
  const fraction = b.select(b.compare("EQ", x, one), one, inner);
  return b.select(b.compare("LT", y, zero), fraction, whole);
}
