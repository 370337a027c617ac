/** Looks up the atom that a scanner has just read among the words of the instruction table. */

import { type Instruction, instructions } from "./opcodes.ts";
import { Names, Scanner } from "./scan.ts";

/** Numbered as `instructions` is; built at the first use. */
let words: Names | undefined;

function makeWords(): Names {
  const names = new Names();
  const scan = new Scanner();
  scan.begin(instructions.map(({ name }) => name).join(" "));
  for (const _ of instructions) {
    scan.atom();
    names.intern(scan.text, scan.start, scan.at, scan.hash);
  }
  return names;
}

/** The row of the atom read last; fails where there is none. */
export function wordOf(scan: Scanner): Instruction {
  words ??= makeWords();
  const index = words.find(scan.text, scan.start, scan.at, scan.hash);
  if (index < 0) scan.fail(`no instruction is called ${scan.word()}`);
  return instructions[index]!;
}
