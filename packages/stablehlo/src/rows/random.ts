/**
 * Random bits: Threefry-2x32 (Salmon, Moraes, Dror & Shaw 2011) written out over counters, one function for each shape. The
 * engine's own generators may give any values, and these are to be Kiln's bit for bit.
 */
import { type Builder, nameOfType, type Ref } from "../builder.ts";
import type { Row, Rows } from "../row.ts";

const rotations = [
  [13, 15, 26, 6],
  [17, 29, 16, 24],
] as const;
const parity = 0x1bd11bda;

function rotated(b: Builder, x: Ref, by: number): Ref {
  const left = b.map("shift_left", x, b.like(x, by));
  return b.map("or", left, b.map("shift_right_logical", x, b.like(x, 32 - by)));
}

/** The row-major number of each element, so that a partitioned engine counts its own part only. */
function counters(b: Builder, shape: readonly number[]): Ref {
  let stride = 1;
  let sum = b.constant("u32", 0, shape);
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const along = b.iota("u32", shape, axis);
    const scaled = stride === 1 ? along : b.map("multiply", along, b.like(along, stride));
    sum = b.map("add", sum, scaled);
    stride *= shape[axis]!;
  }
  return sum;
}

/** Five blocks of four rounds, the key turned after each. */
function threefry(b: Builder, key: Ref, shape: readonly number[]): Ref {
  const word = (i: number) => b.broadcast(b.reshape(b.slice(key, [i], [i + 1]), []), shape, []);
  const [k0, k1] = [word(0), word(1)];
  const keys = [k0, k1, b.map("xor", b.map("xor", k0, k1), b.constant("u32", parity, shape))];
  let x = b.map("add", counters(b, shape), k0);
  let y = k1;
  for (let block = 0; block < 5; block++) {
    for (const by of rotations[block % 2]!) {
      x = b.map("add", x, y);
      y = b.map("xor", rotated(b, y, by), x);
    }
    x = b.map("add", x, keys[(block + 1) % 3]!);
    y = b.map("add", b.map("add", y, keys[(block + 2) % 3]!), b.like(y, block + 1));
  }
  return x;
}

const randomBits: Row = ({ b, type }, key) =>
  b.call(`threefry_${nameOfType(type)}`, [key!], type, (f, [k]) => threefry(f, k!, type.shape));

export const random: Rows = { randomBits };
