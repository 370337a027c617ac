/**
 * Chooses the command, and turns what goes wrong into a message and an exit code: 2 for wrong
 * usage, 1 for everything else. No stack is printed unless KILN_DEBUG is set.
 */
import { settings } from "../devices/settings.ts";
import { version } from "../version.ts";
import type { CommandOptions } from "./completion.ts";
import { fail } from "./failure.ts";
import type { Option } from "./options.ts";
import { say, status } from "./terminal.ts";
import { meant, UsageError } from "./usage.ts";

/** A command's module. */
interface Command {
  readonly help: string;
  readonly options: readonly Option[];
  /** `tables` are the options of all commands, for one that asks. */
  run(args: readonly string[], tables: CommandOptions): Promise<number>;
}

interface Row {
  readonly usage: string;
  readonly what: string;
  readonly load: () => Promise<Command>;
}

// biome-ignore format: one command a row
const commands: Readonly<Record<string, Row>> = {
  run:     { usage: "script.ts | model.kiln",     what: "run a script, or an artifact once",          load: () => import("./run.ts") },
  compile: { usage: "model.ts -o model.kiln",     what: "write a model as an artifact",               load: () => import("./compile.ts") },
  inspect: { usage: "model.ts | model.kiln",      what: "show what it is compiled to, and why",       load: () => import("./inspect.ts") },
  bench:   { usage: "model.ts | model.kiln",      what: "time a model",                               load: () => import("./bench.ts") },
  tune:    { usage: "model.ts",                   what: "find the fastest kernels for this adapter",  load: () => import("./tune.ts") },
  generate: { usage: "MODEL --prompt TEXT",       what: "what a language model goes on with",         load: () => import("./generate.ts") },
  chat:    { usage: "MODEL",                      what: "a conversation with a language model",       load: () => import("./chat.ts") },
  serve:   { usage: "MODEL",                      what: "a model over HTTP",                          load: () => import("./serve.ts") },
  doctor:  { usage: "",                           what: "what this machine has, and what it lacks",   load: () => import("./doctor.ts") },
  explain: { usage: "CLASS | OP | MESSAGE",       what: "what an error means, and what to do",        load: () => import("./explain.ts") },
  cache:   { usage: "[clear]",                    what: "the programs that are kept compiled",        load: () => import("./cache.ts") },
  completion: { usage: "bash | zsh | fish",       what: "a script that completes these, for a shell", load: () => import("./completion.ts") },
};

const heads = Object.entries(commands).map(([name, { usage }]) =>
  `kiln ${name} ${usage}`.trimEnd(),
);
const width = Math.max(...heads.map((h) => h.length)) + 2;
const help = `Usage: kiln <command> [options]

${Object.values(commands)
  .map(({ what }, i) => `  ${heads[i]!.padEnd(width)}${what}`)
  .join("\n")}

  ${"kiln <command> --help".padEnd(width)}options of a command
  ${"kiln --version".padEnd(width)}its version, and the targets found here

NO_COLOR turns colours off, KILN_DEBUG shows stacks, KILN_CACHE says where programs are kept.
Exit codes: 0 done, 1 the script or model failed, 2 wrong usage.
`;

/** Runs the command line; resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h" || name === "help") return tell(help);
  // The user's frame is often further out than the usual ten.
  Error.stackTraceLimit = 60;
  try {
    if (name === "--version" || name === "-v") return tell(await versionText());
    if (name === undefined) throw new UsageError(`kiln: needs a command\n\n${help.trimEnd()}`);
    const known = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!known)
      throw new UsageError(
        `kiln: unknown command ${name}\n  ${meant(name, Object.keys(commands)) ?? `commands are ${Object.keys(commands).join(", ")}`}`,
      );
    const command = await known.load();
    const end = rest.indexOf("--");
    const own = end < 0 ? rest : rest.slice(0, end);
    if (own.includes("--help") || own.includes("-h")) return tell(command.help);
    // What a script prints goes past us, and would be mixed up with it.
    if (name !== "run" && process.stderr.isTTY)
      settings.compiling = ({ program, stage }) => status(`compiling ${program}: ${stage}`);
    return await command.run(rest, name === "completion" ? await optionTables() : {});
  } catch (error) {
    return fail(error);
  }
}

async function optionTables(): Promise<CommandOptions> {
  const names = Object.keys(commands);
  const loaded = await Promise.all(names.map((name) => commands[name]!.load()));
  return Object.fromEntries(names.map((name, i) => [name, loaded[i]!.options]));
}

/** The first line is the version alone, for scripts. */
async function versionText(): Promise<string> {
  const { adapterHere } = await import("../devices/session.ts");
  const { wasmMissing } = await import("../devices/wasm-support.ts");
  const adapter = await adapterHere();
  const found = ["js", ...(wasmMissing() ? [] : ["wasm"])];
  const webgpu = /^(discrete|integrated)$/.test(adapter)
    ? `webgpu (${adapter} adapter)`
    : undefined;
  return `${version}\ntargets here: ${[...found, ...(webgpu ? [webgpu] : [])].join(", ")}\n`;
}

function tell(text: string): number {
  say(text);
  return 0;
}
