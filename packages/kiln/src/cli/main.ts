/**
 * Chooses the command, and turns what goes wrong into a message and an exit code: 2 for wrong usage, 1 for everything
 * else. No stack is printed unless KILN_DEBUG is set.
 */
import { version } from "../version.ts";
import { fail } from "./failure.ts";
import { say } from "./terminal.ts";
import { UsageError } from "./usage.ts";

/** A command's module. */
interface Command {
  readonly help: string;
  run(args: readonly string[]): Promise<number>;
}

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  run: () => import("./run.ts"),
  compile: () => import("./compile.ts"),
  inspect: () => import("./inspect.ts"),
  bench: () => import("./bench.ts"),
  tune: () => import("./tune.ts"),
};

const help = `Usage: kiln <command> [options]

  kiln run script.ts [-- args]         run a script, on any target
  kiln compile model.ts -o model.kiln  write a model as an artifact
  kiln inspect model.ts | model.kiln   show what it is compiled to
  kiln bench model.ts                  time a model
  kiln tune model.ts                   find the fastest kernels for this adapter

  kiln <command> --help                options of a command
  kiln --version

Exit codes: 0 done, 1 the script or model failed, 2 wrong usage.
`;

/** Runs the command line; resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--version" || name === "-v") return tell(`${version}\n`);
  if (name === "--help" || name === "-h" || name === "help") return tell(help);
  // The user's frame is often further out than the usual ten.
  Error.stackTraceLimit = 60;
  try {
    if (name === undefined) throw new UsageError(`kiln: needs a command\n\n${help.trimEnd()}`);
    const known = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!known)
      throw new UsageError(
        `kiln: unknown command ${name}\n  commands are ${Object.keys(commands).join(", ")}`,
      );
    const command = await known();
    const end = rest.indexOf("--");
    const own = end < 0 ? rest : rest.slice(0, end);
    if (own.includes("--help") || own.includes("-h")) return tell(command.help);
    return await command.run(rest);
  } catch (error) {
    return fail(error);
  }
}

function tell(text: string): number {
  say(text);
  return 0;
}
