/**
 * The only way to the terminal: what files say, such as names, cannot move its cursor, change its
 * title or hide a part of a line. Everything that the command prints goes through here.
 */
import { visible } from "@kiln-ml/ir/errors";

/** Prints to the standard output. */
export function say(text: string): void {
  status("");
  process.stdout.write(visible(text));
}

/**
 * Prints a failure to the standard error; the first line in red where a terminal shows colours and
 * NO_COLOR is not set.
 */
export function complain(text: string): void {
  status("");
  const plain = visible(text);
  const end = plain.indexOf("\n");
  const coloured = process.stderr.isTTY && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  process.stderr.write(
    coloured && end > 0 ? `\x1b[31m${plain.slice(0, end)}\x1b[0m${plain.slice(end)}` : plain,
  );
}

/** Prints to the standard error what is no failure: results are on the standard output alone. */
export function note(text: string): void {
  status("");
  process.stderr.write(visible(text));
}

let isShown = false;

/**
 * How far a command has come, in a line of a terminal that the next one takes the place of; "" is
 * its end. Files and pipes get none.
 */
export function status(text: string): void {
  const stream = process.stderr;
  if (!stream.isTTY || process.env.TERM === "dumb" || (text === "" && !isShown)) return;
  isShown = text !== "";
  stream.write(`\r\x1b[2K${inLine(text).slice(0, (stream.columns || 80) - 1)}`);
}

/** Whoever stops reading, as `head` does, has seen enough: that is no failure. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
      throw error;
    });
}

/** A name from a file as a part of one line. */
export const inLine = (name: string): string =>
  visible(name).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
