/**
 * Options of the repository's own scripts. Strict: what is wrong is a line and exit code 2, not a
 * stack. `--help` prints the comment at the top of the script, which is where its usage is written.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { type ParseArgsConfig, parseArgs } from "node:util";

type Table = NonNullable<ParseArgsConfig["options"]>;

/** The values of `options` in this process's arguments. `script` is the caller's `import.meta.url`. */
export function scriptOptions<const O extends Table>(
  script: string,
  options: O,
): ReturnType<typeof parseArgs<{ options: O }>>["values"] {
  const path = fileURLToPath(script);
  if (process.argv.slice(2).some((arg) => arg === "--help" || arg === "-h")) {
    console.log(headerOf(readFileSync(path, "utf8")));
    process.exit(0);
  }
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    const [reason = ""] = (error as Error).message.split(". ");
    console.error(
      `${process.env.npm_lifecycle_event ?? basename(path)}: ${reason}; --help lists the options`,
    );
    process.exit(2);
  }
}

/** The first comment of a source text, without its marks. */
export function headerOf(source: string): string {
  const [, text = ""] = /\/\*\*([\s\S]*?)\*\//.exec(source) ?? [];
  return text.replace(/^ *\* ?/gm, "").trim();
}
