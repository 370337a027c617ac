/**
 * Instructions as C: statements. Loops that only their last instruction repeats are `do … while`;
 * other branches are jumps to labels.
 */
import { bug } from "@kiln-ml/ir";
import type { Code } from "../wasm/code.ts";
import { type CFunction, cast, elements, expression, placeOf, wordOf } from "./c-text.ts";

const indented = (lines: readonly string[]): string[] => lines.map((l) => `  ${l}`);
const braces = (head: string, body: readonly string[], tail = ""): string[] => [
  `${head}{`,
  ...indented(body),
  `}${tail}`,
];

/** A condition without parentheses around all of it, which look like an assignment in doubt. */
function bare(text: string): string {
  if (!text.startsWith("(")) return text;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") depth++;
    else if (text[i] === ")" && --depth === 0)
      return i === text.length - 1 ? text.slice(1, -1) : text;
  }
  return text;
}

export const printAll = (f: CFunction, list: readonly Code[]): string[] =>
  list.flatMap((c) => statement(f, c));

export function statement(f: CFunction, c: Code): string[] {
  const { op, args, immediate } = c;
  switch (op.kind) {
    case "comment":
      // A backslash at the end, though blanks follow, would make the next line part of it.
      return [
        `// ${String(immediate)
          .replace(/[\r\n]/g, " ")
          .replaceAll("??", "? ?")
          .replace(/\\\s*$/, "\\.")}`,
      ];
    case "local":
      return [`${expression(f, c).text.replace(/^\((.*)\)$/, "$1")};`];
    case "memory":
      return [storeText(f, c)];
    case "memoryLane":
      return [storeLane(f, c)];
    case "call":
      return [callText(f, c)];
    case "branch":
      return [branchText(f, c)];
    case "if":
      return whenText(f, c);
    case "block":
      return op.name === "loop" ? loopText(f, c) : blockText(f, c);
    case "plain":
      if (op.name === "drop") return [prefetchText(f, args[0]!)];
      if (op.name === "return") return ["return;"];
      break;
  }
  return bug("emit", `${op.name} is no statement of C`);
}

/** A load whose value is dropped brings a line near. */
const prefetchText = (f: CFunction, c: Code): string => `__builtin_prefetch(${placeOf(f, c)});`;

const stores: Readonly<Record<string, readonly [name: string, type: "f" | "s"]>> = {
  "v128.store": ["store_floats", "f"],
  "f64.store": ["store_double", "s"],
  "i32.store": ["store_int", "s"],
};

function storeText(f: CFunction, c: Code): string {
  const [name, type] = stores[c.op.name] ?? bug("emit", `C has no spelling of ${c.op.name}`);
  const value = cast(expression(f, c.args[1]!), type);
  const lanes = c.args[2];
  if (lanes) return `store_some(${placeOf(f, c)}, ${value}, ${expression(f, lanes).text});`;
  return `${name}(${placeOf(f, c)}, ${value});`;
}

/** A lane, or all of them narrowed: those are packed first where an instruction stores a word. */
function storeLane(f: CFunction, c: Code): string {
  const value = c.args[1]!;
  const narrow = packedAs(c);
  if (narrow) {
    const lanes = cast(expression(f, value.args[0]!), "i");
    return `${narrow}(${placeOf(f, c)}, ${lanes});`;
  }
  const lane = `${cast(expression(f, value), "i")}[${wordOf(c)}]`;
  return `store_${elements[c.op.width]}(${placeOf(f, c)}, ${lane});`;
}

const packedAs = ({ op, args }: Code): string | undefined =>
  args[1]!.op.kind !== "shuffle"
    ? undefined
    : op.name === "v128.store64_lane"
      ? "store_halves"
      : "store_bytes";

/** The functions that sort take memory first, since their arguments are addresses. */
function callText(f: CFunction, { args, immediate }: Code): string {
  const given = args.map((a) => expression(f, a).text).join(", ");
  return `${(immediate as string).replaceAll(".", "_")}(mem, ${given});`;
}

function branchText(f: CFunction, { op, args, immediate }: Code): string {
  const at = f.labels.findLastIndex(([label]) => label === immediate);
  if (at < 0) bug("emit", `no block is called ${immediate}`);
  const jump = `goto ${f.labels[at]![1]};`;
  return op.name === "br" ? jump : `if (${bare(expression(f, args[0]!).text)}) ${jump}`;
}

function whenText(f: CFunction, { args }: Code): string[] {
  const [condition, then, otherwise] = args;
  const head = `if (${bare(expression(f, condition!).text)}) `;
  const lines = braces(head, printAll(f, then!.args));
  return otherwise
    ? [...lines.slice(0, -1), ...braces("} else ", printAll(f, otherwise.args))]
    : lines;
}

/** Whether an instruction in the list jumps to the label. */
const jumps = (list: readonly Code[], label: unknown): boolean =>
  list.some((c) => (c.op.kind === "branch" && c.immediate === label) || jumps(c.args, label));

function loopText(f: CFunction, { args, immediate }: Code): string[] {
  const last = args.at(-1);
  const repeats = last?.op.name === "br_if" && last.immediate === immediate;
  const body = args.slice(0, -1);
  if (repeats && !jumps(body, immediate) && !jumps(last.args, immediate)) {
    const lines = printAll(f, body);
    return braces("do ", lines, ` while (${bare(expression(f, last.args[0]!).text)});`);
  }
  return labelled(f, immediate as string, (label) => [
    `${label}:;`,
    ...braces("", printAll(f, args)),
  ]);
}

function blockText(f: CFunction, { args, immediate }: Code): string[] {
  if (!jumps(args, immediate)) return braces("", printAll(f, args));
  return labelled(f, immediate as string, (label) => [
    ...braces("", printAll(f, args)),
    `${label}:;`,
  ]);
}

function labelled(f: CFunction, name: string, print: (label: string) => string[]): string[] {
  const label = f.freshLabel();
  f.labels.push([name, label]);
  const lines = print(label);
  f.labels.pop();
  return lines;
}
