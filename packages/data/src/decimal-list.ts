/**
 * The file `{ "data": [0, 0.5, …] }` read straight into an array of floats. JSON.parse makes a list of millions of doubles first, which
 * takes most of the time. Only plain decimals, which are all that such files have; a file of any other form is left to JSON.parse.
 */

const [zero, nine, comma, dot, open, close] = [48, 57, 44, 46, 91, 93] as const;

/** 10ᵏ, exact in double up to k = 22. A significand below 2⁵³ over one of them is rounded once (Clinger 1990). */
const powers = Array.from({ length: 23 }, (_, k) => 10 ** k);

const isSpace = (byte: number): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;

/** The numbers of the only list of a JSON file, or undefined where the file is of another form. */
export function decimalList(bytes: Uint8Array): Float32Array | undefined {
  const start = bytes.indexOf(open);
  const end = bytes.lastIndexOf(close);
  const frame = new TextDecoder().decode(bytes.subarray(0, start)).replace(/\s/g, "");
  const rest = new TextDecoder().decode(bytes.subarray(end + 1)).replace(/\s/g, "");
  if (start < 0 || end < start || frame !== '{"data":' || rest !== "}") return undefined;
  // Two bytes a number are the least that there can be.
  const out = new Float32Array((end - start) >> 1);
  const count = readDecimals(bytes, start + 1, end, out);
  return count < 0 ? undefined : out.subarray(0, count);
}

/** How many numbers were read into `out`; −1 where anything but plain decimals with commas between them stands there. */
function readDecimals(bytes: Uint8Array, start: number, end: number, out: Float32Array): number {
  let count = 0;
  let at = start;
  while (at < end && isSpace(bytes[at]!)) at++;
  if (at === end) return 0;
  for (;;) {
    let value = 0;
    let point = -1;
    const first = at;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte >= zero && byte <= nine) value = value * 10 + (byte - zero);
      else if (byte === dot && point < 0) point = at;
      else break;
    }
    const places = point < 0 ? 0 : at - point - 1;
    const isNumber = at > first && point !== first && point !== at - 1;
    const isJson = !(bytes[first] === zero && at > first + 1 && point !== first + 1);
    if (!isNumber || !isJson || value > Number.MAX_SAFE_INTEGER || places > 22) return -1;
    out[count++] = places ? value / powers[places]! : value;
    while (at < end && isSpace(bytes[at]!)) at++;
    if (at === end) return count;
    if (bytes[at++] !== comma) return -1;
    while (at < end && isSpace(bytes[at]!)) at++;
  }
}
