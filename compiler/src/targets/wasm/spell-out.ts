/**
 * Function texts for an assembler that does not know our pseudo instructions: each is spelled out as
 * the variant has it. Everything else stays character for character. For tests and tools; the
 * compiler itself never needs it.
 */

import { atEnd, Scanner } from "./scan.ts";

const paren = 40;
const quote = 34;

/** The text with every `madd` and `nmadd` spelled out. The text must have been assembled before. */
export function spellOut(text: string, relaxed: boolean): string {
  const scan = new Scanner();
  scan.begin(text);
  let spelled = "";
  for (;;) {
    const from = scan.at;
    const char = scan.skip();
    spelled += text.slice(from, scan.at);
    if (char === atEnd) return spelled;
    spelled += piece(scan, relaxed);
  }
}

/** A parenthesis with what is in it, a quoted name or an atom; the scanner stands on it. */
function piece(scan: Scanner, relaxed: boolean): string {
  const from = scan.at;
  const char = scan.skip();
  if (char === quote) scan.quoted();
  else if (char !== paren) scan.atom();
  else return list(scan, relaxed);
  return scan.text.slice(from, scan.at);
}

function list(scan: Scanner, relaxed: boolean): string {
  scan.open();
  scan.atom();
  const [, type, op] = /^(f32x4|f64x2)\.(n?madd)$/.exec(scan.word()) ?? [];
  if (op === undefined) return `(${scan.word()}${rest(scan, relaxed).join("")})`;
  const [a, b, c] = rest(scan, relaxed);
  if (relaxed) return `(${type}.relaxed_${op}${a}${b}${c})`;
  const product = `(${type}.mul${a}${b})`;
  return op === "madd" ? `(${type}.add ${product}${c})` : `(${type}.sub${c} ${product})`;
}

/** The pieces up to the closing parenthesis, each with the space before it. */
function rest(scan: Scanner, relaxed: boolean): string[] {
  const pieces: string[] = [];
  for (let from = scan.at; !scan.closes(); from = scan.at)
    pieces.push(scan.text.slice(from, scan.at) + piece(scan, relaxed));
  return pieces;
}
