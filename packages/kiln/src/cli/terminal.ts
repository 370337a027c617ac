/**
 * The only way to the terminal: what files say, such as names, cannot move its cursor, change its title or hide a part of a
 * line. Everything that the command prints goes through here.
 */
import { visible } from "@kiln-ml/ir/errors";

/** Prints to the standard output. */
export function say(text: string): void {
  process.stdout.write(visible(text));
}

/** Prints to the standard error. */
export function complain(text: string): void {
  process.stderr.write(visible(text));
}

/** A name from a file as a part of one line. */
export const inLine = (name: string): string =>
  visible(name).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
