/** `docs/errors.md`: the messages of errors, collected from the tests that compare them word for word. */
import { banner, sourcesIn, table } from "./source.ts";

interface Message {
  readonly kind: string;
  readonly text: string;
  readonly test: string;
}

/** With what is before the title of a test: `test(` or a function at the left margin that makes one. */
const literal = /(\b\w*[tT]est\(\s*|^\w+\(\s*)?(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)')/gm;
/** `op: requirement broken`. */
const form = /^[a-zA-Z][\w.]*(?: [\w.[\]]+){0,2}: \S/;

/** The messages in one test file: string literals of the form of a message, near the name of an error class. */
function messagesIn(path: string, text: string): Message[] {
  const found: Message[] = [];
  for (const match of text.matchAll(literal)) {
    const [, title, double, single] = match;
    const raw = double ?? single!.replaceAll('"', '\\"').replaceAll("\\'", "'");
    if (title || !form.test(raw)) continue;
    const before = text.slice(Math.max(0, match.index - 240), match.index);
    const kinds = before.match(/\b(Shape|Dtype|Graph|Artifact|Device)Error\b/g);
    if (kinds) found.push({ kind: kinds.at(-1)!, text: JSON.parse(`"${raw}"`), test: path });
  }
  return found;
}

const repair = (text: string): string => text.split("\n").slice(1).join(" ").trim();

/** The text of `docs/errors.md`. */
export function errorsPage(): string {
  const tests = sourcesIn("tests").filter(({ path }) => /(errors|bad-input)\.test\.ts$/.test(path));
  const messages = tests.flatMap(({ path, text }) => messagesIn(path, text));
  const unique = new Map(messages.map((m) => [m.text, m]));
  const kinds = [...new Set(messages.map((m) => m.kind))].sort();
  const sections = kinds.map((kind) => {
    const own = [...unique.values()].filter((m) => m.kind === kind);
    own.sort((a, b) => (a.text < b.text ? -1 : 1));
    const rows = own.map((m) => [`\`${m.text.split("\n")[0]}\``, repair(m.text), m.test]);
    return `## ${kind}\n\n${table([["message", "way out", "test"], ...rows])}\n`;
  });
  return `${banner}

# Errors

Messages as the tests compare them, by class. A ShapeError, DtypeError or GraphError is about the graph that a script builds, an ArtifactError about a
file, a DeviceError about the machine.

${sections.join("\n")}`;
}
