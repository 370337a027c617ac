/** The command line as choices: flags, or questions in a terminal. Writes nothing. */
import { createInterface } from "node:readline/promises";
import { near, Refusal } from "./refusal.ts";
import { type Template, templateNamed, templateNames, templates } from "./templates.ts";

export interface Choices {
  readonly folder: string;
  readonly template: Template;
}

export const help = `npm create kiln-app FOLDER -- --template NAME

Makes a project in FOLDER, which is new or empty, from a template:

${templates.map(({ name, title }) => `  ${name.padEnd(8)} ${title}`).join("\n")}

  -t, --template NAME   the template; in a terminal it is asked for
  -h, --help            this text
  -v, --version         the version, which is also Kiln's
`;

const flags = ["--template", "--help", "--version"];

interface Flags {
  readonly folders: readonly string[];
  readonly template?: string;
  readonly says?: "help" | "version";
}

/** Throws Refusal for what the command does not know. */
export function readFlags(args: readonly string[]): Flags {
  const folders: string[] = [];
  let template: string | undefined;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    const [flag, given] = arg.startsWith("--") ? (arg.split(/=(.*)/s) as [string, string?]) : [arg];
    if (flag === "--help" || flag === "-h") return { folders, says: "help" };
    if (flag === "--version" || flag === "-v") return { folders, says: "version" };
    if (flag === "--template" || flag === "-t") {
      if (template !== undefined) throw new Refusal("--template is given twice");
      template = given ?? args[++i];
      if (template === undefined || template === "" || template.startsWith("-"))
        throw new Refusal(`--template needs a name\n  it is ${templateNames.join(", ")}`);
    } else if (arg.startsWith("-") && arg !== "-") {
      const meant = near(flag, flags);
      throw new Refusal(
        `there is no option ${flag}\n  ${meant ? `did you mean ${meant}?` : "--help lists them"}`,
      );
    } else folders.push(arg);
  }
  return { folders, ...(template === undefined ? {} : { template }) };
}

/** What is chosen by flags; what is not is asked for by `ask`, where there is somebody. */
export async function chosen(
  { folders, template }: Flags,
  ask?: (question: string) => Promise<string>,
): Promise<Choices> {
  const [first, second] = folders;
  if (second !== undefined)
    throw new Refusal(
      templateNames.includes(second) && template === undefined
        ? `npm kept --template for itself\n  npm create kiln-app ${first} -- --template ${second}`
        : `one folder, please: ${folders.map((f) => JSON.stringify(f)).join(" and ")} are given`,
    );
  // A wrong name is said before anything is asked.
  const known = template === undefined ? undefined : templateNamed(template);
  if (first === "" || (first === undefined && !ask))
    throw new Refusal(
      `which folder is missing\n  npm create kiln-app my-app -- --template ${template ?? "train"}`,
    );
  if (!known && !ask)
    throw new Refusal(`which template is missing\n  --template is ${templateNames.join(", ")}`);
  const folder = first ?? ((await ask!("Folder (kiln-app): ")).trim() || "kiln-app");
  return { folder, template: known ?? (await askTemplate(ask!)) };
}

/** By number or name, until it is one. */
async function askTemplate(ask: (question: string) => Promise<string>): Promise<Template> {
  const list = templates.map(({ name, title }, i) => `  ${i + 1} ${name.padEnd(8)} ${title}\n`);
  let question = `Template:\n${list.join("")}Number or name (1): `;
  for (;;) {
    const answer = (await ask(question)).trim() || "1";
    const byNumber = templates[Number(answer) - 1];
    if (byNumber) return byNumber;
    try {
      return templateNamed(answer);
    } catch (error) {
      question = `${(error as Error).message}\nNumber or name (1): `;
    }
  }
}

/** Asks in a terminal; undefined where there is none. Ctrl-C and Ctrl-D refuse. */
export function terminal(): { ask(question: string): Promise<string>; close(): void } | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY || process.env.CI) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const ended = new AbortController();
  lines.on("close", () => ended.abort());
  return {
    ask: (question) =>
      lines.question(question, { signal: ended.signal }).catch(() => {
        throw new Refusal("nothing was made");
      }),
    close: () => lines.close(),
  };
}
