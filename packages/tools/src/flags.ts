/**
 * Flags of the repository's own scripts: `--help` lists them, and one that does not exist is two
 * lines and exit code 2, no stack. The command line of users has a table of its own.
 */
import { type ParseArgsConfig, parseArgs } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** `[--only PATTERN]` as `[--only …]`: each flag, with its default where it has one. */
const usage = (options: Options): string =>
  Object.entries(options)
    .map(([name, { type, default: usual = "…" }]) =>
      type === "boolean" ? `[--${name}]` : `[--${name} ${usual || '""'}]`,
    )
    .join(" ");

/**
 * `parseArgs` for the flags that `command` was given; ends the process for `--help` and for wrong
 * ones.
 */
export function flagsOf<const O extends Options>(
  command: string,
  { options }: { readonly options: O },
) {
  if (process.argv.includes("--help")) {
    console.log(`usage: ${command} ${usage(options)}`);
    process.exit(0);
  }
  try {
    return parseArgs({ options });
  } catch (error) {
    const [reason] = (error as Error).message.split(/[.\n]/);
    console.error(`${command}: ${reason}\n  see ${command} --help`);
    return process.exit(2);
  }
}
