/** `docs/passes.md`: the compiler's stages in the order they run, with the examples from their sources. */
import { readFileSync } from "node:fs";
import { stages } from "@kiln-ml/compiler";
import { banner, firstParagraph, headOf, sourcesIn } from "./source.ts";

/** Where stages are that are no file of `passes/`. */
const elsewhere: Readonly<Record<string, string>> = {
  fuse: "compiler/src/fuse/fuse.ts",
  lower: "compiler/src/lower/lower.ts",
  order: "compiler/src/plan/order.ts",
  plan: "compiler/src/plan/plan.ts",
  emit: "compiler/src/target.ts",
};

function pathOf(stage: string): string {
  return elsewhere[stage] ?? `compiler/src/passes/${stage}.ts`;
}

/** The indented lines under `label:` in a head comment. */
function example(head: string, label: string): string {
  const lines = head.split("\n");
  const from = lines.indexOf(`${label}:`);
  if (from < 0) return "";
  const rest = lines.slice(from + 1);
  const end = rest.findIndex((line) => !line.startsWith("  "));
  const shown = rest.slice(0, end < 0 ? rest.length : end).map((line) => line.slice(2));
  return `${label[0]!.toUpperCase()}${label.slice(1)}:\n\n\`\`\`text\n${shown.join("\n")}\n\`\`\`\n`;
}

/** What follows the examples. */
function remarks(head: string): string {
  const after = head.indexOf("\nafter:");
  if (after < 0) return "";
  const gap = head.indexOf("\n\n", after);
  return gap < 0 ? "" : firstParagraph(head.slice(gap + 2));
}

function section(stage: string): string {
  const path = pathOf(stage);
  const head = headOf(readFileSync(path, "utf8"));
  if (!head) throw new Error(`docs: ${path} has no comment at its head`);
  const count = stages.filter((name) => name === stage).length;
  const times = count > 1 ? `, ${count} times` : "";
  const parts = [
    `## ${stage}`,
    `\`${path}\`${times}. ${firstParagraph(head)}`,
    example(head, "before").trimEnd(),
    example(head, "after").trimEnd(),
    remarks(head),
  ];
  return parts.filter(Boolean).join("\n\n");
}

/** The rules of simplification, as they are written in files that `chosen` takes. */
function rulesIn(chosen: (path: string) => boolean): string {
  const files = sourcesIn("compiler/src/rules").filter(({ path }) => chosen(path));
  const lines = files.flatMap(({ text }) =>
    Array.from(text.matchAll(/"([\w(][^"\n]* -> [^"\n]+)"/g), ([, rule]) => rule!),
  );
  if (lines.length === 0) throw new Error("docs: no rule found in compiler/src/rules");
  return `\`\`\`text\n${lines.join("\n")}\n\`\`\``;
}

const isFast = (path: string): boolean => path.endsWith("/fast.ts");

const rules = (): string => `## Rules

What \`simplify\` applies until nothing changes. Each keeps every bit of the result; a test evaluates both sides.

${rulesIn((path) => !isFast(path))}

Only where the caller opts in, as each may change the last bits or what becomes of NaN and infinity:

${rulesIn(isFast)}`;

/** The text of `docs/passes.md`. */
export function passesPage(): string {
  const order = stages.map((stage) => `\`${stage}\``).join(", ");
  const sections = [...new Set(stages)].map(section);
  return `${banner}

# Passes

The compiler's order: ${order}. Those before \`fuse\` take a program and give a program; the example of each is from the comment at its head and is a test.

${[...sections, rules()].join("\n\n")}
`;
}
