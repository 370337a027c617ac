/**
 * Sorting in emitted JavaScript: the order of one line of keys. A key above its place is one 64-bit integer, and integers are
 * what the engine sorts by itself without a comparator, much faster than code could; places make the sort stable.
 */

/** Pairs of words, the place below the key: little-endian, as every engine that runs WebAssembly is. */
const words = `let sortWords = new Int32Array(0);
function sortedPlaces(n) {
  new BigInt64Array(sortWords.buffer, 0, n).sort();
  return sortWords;
}`;

/**
 * order[0..count) = the places of the first of the keys, which are integers. For few of many, a list of the best so far is
 * kept in place of the keys already read.
 */
const sortIntegers = `function sortIntegers(keys, order, n, count, flip) {
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
  if (sortWords.length < 2 * n) sortWords = new Int32Array(2 * n);
  for (let i = 0; i < n; i++) {
    sortWords[2 * i] = i;
    sortWords[2 * i + 1] = keys[i] ^ flip;
  }
  const places = sortedPlaces(n);
  for (let i = 0; i < count; i++) order[i] = places[2 * i];
}`;

/**
 * The same of doubles: by their low words, then by their high words, each made to rise with the number. NaN becomes the greatest
 * of all patterns.
 */
const sortDoubles = `function sortDoubles(keys, order, n, count, flip) {
  const bits = new Int32Array(2 * n);
  const numbers = new Float64Array(bits.buffer);
  if (sortWords.length < 2 * n) sortWords = new Int32Array(2 * n);
  for (let i = 0; i < n; i++) {
    numbers[i] = keys[i] + 0;
    let low = bits[2 * i];
    let high = bits[2 * i + 1];
    if (keys[i] !== keys[i]) low = -1, high = 0x7fffffff;
    else if (high < 0) low = ~low, high ^= 0x7fffffff;
    bits[2 * i + 1] = high ^ flip;
    sortWords[2 * i] = i;
    sortWords[2 * i + 1] = low ^ flip ^ 0x80000000;
  }
  const byLow = sortedPlaces(n).slice(0, 2 * n);
  for (let i = 0; i < n; i++) {
    sortWords[2 * i] = i;
    sortWords[2 * i + 1] = bits[2 * byLow[2 * i] + 1];
  }
  const places = sortedPlaces(n);
  for (let i = 0; i < count; i++) order[i] = byLow[2 * places[2 * i]];
}`;

export const sortPrelude: Readonly<Record<string, string>> = {
  sortedPlaces: words,
  sortIntegers,
  sortDoubles,
};

export const sortNeeds: Readonly<Record<string, readonly string[]>> = {
  sortIntegers: ["sortedPlaces"],
  sortDoubles: ["sortedPlaces"],
};
