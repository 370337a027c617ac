/**
 * Sorting in emitted JavaScript: the order of one line of keys. A key above its place is one 64-bit
 * integer, and integers are what the engine sorts by itself without a comparator, much faster than
 * code could; places make the sort stable. They lie in the spare array as pairs of words, the place
 * below the key: little-endian, as every engine that runs WebAssembly is.
 */

/**
 * order[0..count) = the places of the first of the keys, which are integers. For few of many, a
 * list of the best so far is kept in place of the keys already read.
 */
const sortIntegers = `function sortIntegers(keys, order, spare, n, count, flip) {
  if (count === 0) return;
  if (count <= 64 && count * 4 <= n) {
    for (let i = 0, m = 0; i < n; i++) {
      const k = keys[i] ^ flip;
      if (m < count) m++;
      else if (k >= keys[m - 1]) continue;
      let j = m - 1;
      for (; j > 0 && keys[j - 1] > k; j--) {
        keys[j] = keys[j - 1];
        order[j] = order[j - 1];
      }
      keys[j] = k;
      order[j] = i;
    }
    return;
  }
  for (let i = 0; i < n; i++) {
    spare[2 * i] = i;
    spare[2 * i + 1] = keys[i] ^ flip;
  }
  new BigInt64Array(spare.buffer, 0, n).sort();
  for (let i = 0; i < count; i++) order[i] = spare[2 * i];
}`;

/**
 * The same of doubles: by their low words, then by their high words, each made to rise with the
 * number. NaN becomes the greatest of all patterns. Behind the pairs lie the bits, and behind those
 * the order by low words.
 */
const sortDoubles = `function sortDoubles(keys, order, spare, n, count, flip) {
  const pairs = new BigInt64Array(spare.buffer, 0, n);
  const numbers = new Float64Array(spare.buffer, 8 * n, n);
  const bits = new Int32Array(spare.buffer, 8 * n, 2 * n);
  const byLow = new Int32Array(spare.buffer, 16 * n, n);
  for (let i = 0; i < n; i++) {
    numbers[i] = keys[i] + 0;
    let low = bits[2 * i];
    let high = bits[2 * i + 1];
    if (keys[i] !== keys[i]) low = -1, high = 0x7fffffff;
    else if (high < 0) low = ~low, high ^= 0x7fffffff;
    bits[2 * i + 1] = high ^ flip;
    spare[2 * i] = i;
    spare[2 * i + 1] = low ^ flip ^ 0x80000000;
  }
  pairs.sort();
  for (let i = 0; i < n; i++) byLow[i] = spare[2 * i];
  for (let i = 0; i < n; i++) {
    spare[2 * i] = i;
    spare[2 * i + 1] = bits[2 * byLow[i] + 1];
  }
  pairs.sort();
  for (let i = 0; i < count; i++) order[i] = byLow[spare[2 * i]];
}`;

export const sortPrelude: Readonly<Record<string, string>> = { sortIntegers, sortDoubles };
