/** Threefry-2x32 with 20 rounds, after Salmon, Moraes, Dror & Shaw 2011, section 3.3, in exact integers. */
type Pair = readonly [bigint, bigint];

const word = (x: bigint): bigint => BigInt.asUintN(32, x);
const rotations = [13n, 15n, 26n, 6n, 17n, 29n, 16n, 24n];
const parity = 0x1bd11bdan;

export function threefry(key: Pair, counter: Pair): Pair {
  const keys = [key[0], key[1], key[0] ^ key[1] ^ parity];
  let [x, y] = [word(counter[0] + keys[0]!), word(counter[1] + keys[1]!)];
  for (let round = 0; round < 20; round++) {
    const by = rotations[round % 8]!;
    x = word(x + y);
    y = word(y << by) | (y >> (32n - by));
    y ^= x;
    if (round % 4 === 3) {
      const block = (round + 1) / 4;
      x = word(x + keys[block % 3]!);
      y = word(y + keys[(block + 1) % 3]! + BigInt(block));
    }
  }
  return [x, y];
}
