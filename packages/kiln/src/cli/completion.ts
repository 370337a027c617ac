/** `kiln completion`: a script for the shell, of the tables that parse the command line. */
import { helpOf, type Option } from "./options.ts";
import { say } from "./terminal.ts";
import { parseOptions, UsageError } from "./usage.ts";

export const options: readonly Option[] = [];

export const help = helpOf(
  "completion bash | zsh | fish",
  options,
  `bash and zsh:  source <(kiln completion bash)
fish:          kiln completion fish | source
`,
);

/** Options by command, and what each takes. */
export type CommandOptions = Readonly<Record<string, readonly Option[]>>;

/** Values of an option that are words to choose from. */
const words = ({ value = "" }: Option): readonly string[] =>
  /^[a-z]+(\|[a-z]+)+$/.test(value) ? value.split("|") : [];

function bash(commands: CommandOptions): string {
  const cases = Object.entries(commands).map(
    ([name, list]) => `    ${name}) words="${list.map((o) => `--${o.name}`).join(" ")}" ;;`,
  );
  const after = Object.entries(commands).flatMap(([name, list]) =>
    list
      .filter((o) => words(o).length)
      .map((o) => `    "${name} --${o.name}") words="${words(o).join(" ")}" ;;`),
  );
  return `_kiln() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "${Object.keys(commands).join(" ")} --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]} $before" in
${after.join("\n")}
  esac
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$word")); return; fi
  case "$word" in -*) ;; *) return ;; esac
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words --help" -- "$word"))
}
complete -o default -F _kiln kiln
`;
}

const zsh = (commands: CommandOptions): string =>
  `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;

function fish(commands: CommandOptions): string {
  const quoted = (text: string): string => `'${text.split("\n")[0]!.replaceAll("'", "\\'")}'`;
  const names = Object.keys(commands).join(" ");
  const rows = Object.entries(commands).flatMap(([name, list]) => [
    `complete -c kiln -n "not __fish_seen_subcommand_from ${names}" -a ${name}`,
    ...list.map((o) => {
      const takes = words(o).length ? ` -x -a '${words(o).join(" ")}'` : o.value ? " -r" : "";
      return `complete -c kiln -n "__fish_seen_subcommand_from ${name}" -l ${o.name}${takes} -d ${quoted(o.help)}`;
    }),
  ]);
  return `${rows.join("\n")}\n`;
}

const shells = { bash, zsh, fish } as const;

export async function run(args: readonly string[], commands: CommandOptions): Promise<number> {
  const { positionals } = parseOptions("completion", args, {});
  const [shell = "", extra] = positionals;
  if (!Object.hasOwn(shells, shell) || extra !== undefined)
    throw new UsageError(
      `kiln completion: needs one shell, got ${positionals.join(" ") || "none"}\n  shells are ${Object.keys(shells).join(", ")}`,
    );
  say(shells[shell as keyof typeof shells](commands));
  return 0;
}
