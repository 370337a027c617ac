/**
 * Instructions as folded WAT, to be read: a statement a line, those of blocks indented. `madd` and
 * `nmadd` stand as they are, or as a variant of the module spells them, which other assemblers can
 * read. Golden files, `kiln inspect` and the test against wabt read it; nothing that runs does.
 */
import type { Code, WasmFunction } from "./code.ts";

export type Variant = "plain" | "relaxed";

/** The text of a function. */
export function listing(f: WasmFunction, variant?: Variant): string {
  const declared = (what: string, of: ReadonlyMap<string, string>): string[] =>
    [...of].map(([name, type]) => `(${what} $${name} ${type})`);
  const head = [
    `(func $${f.name}`,
    ...(f.exported ? [`(export "${f.name}")`] : []),
    ...declared("param", f.params),
    ...(f.result ? [`(result ${f.result})`] : []),
  ];
  const locals = declared("local", f.locals).join(" ");
  return [
    head.join(" "),
    ...(locals ? [`  ${locals}`] : []),
    ...statements(f.body, variant).map(indented),
    ")",
  ].join("\n");
}

const indented = (line: string): string => `  ${line}`;

const statements = (body: readonly Code[], variant: Variant | undefined): string[] =>
  body.flatMap((c) => statement(c, variant));

function statement(c: Code, variant: Variant | undefined): string[] {
  const { op, args, immediate, detail } = c;
  if (op.kind === "comment") return [`;; ${immediate}`];
  if (op.kind === "if" && !detail) {
    const [condition, then, otherwise] = args;
    const clauses = [then!, ...(otherwise ? [otherwise] : [])].flatMap(
      ({ op: { name }, args }, i) => [
        i === 0 ? `(if ${expression(condition!, variant)} (${name}` : `) (${name}`,
        ...statements(args, variant).map(indented),
      ],
    );
    return [...clauses, "))"];
  }
  if (op.kind === "block" && !detail) {
    const head = `(${op.name}${immediate ? ` $${immediate}` : ""}`;
    const lines = [head, ...statements(args, variant).map(indented)];
    // A comment would take the parenthesis with it.
    if (args.at(-1)?.op.kind === "comment") return [...lines, ")"];
    return [...lines.slice(0, -1), `${lines.at(-1)})`];
  }
  return [expression(c, variant)];
}

function expression(c: Code, variant: Variant | undefined): string {
  const { op, args } = c;
  const text = args.map((a) => expression(a, variant));
  if (variant && (op.kind === "madd" || op.kind === "nmadd"))
    return spelledOut(op.name, op.kind, text as [string, string, string], variant);
  return `(${[op.name, ...immediates(c), ...text].join(" ")})`;
}

function spelledOut(
  name: string,
  kind: "madd" | "nmadd",
  [a, b, c]: readonly [string, string, string],
  variant: Variant,
): string {
  const type = name.slice(0, 5);
  if (variant === "relaxed") return `(${type}.relaxed_${kind} ${a} ${b} ${c})`;
  const product = `(${type}.mul ${a} ${b})`;
  return kind === "madd" ? `(${type}.add ${product} ${c})` : `(${type}.sub ${c} ${product})`;
}

/** What stands between the word and the operands. */
function immediates({ op: { kind, name }, immediate, detail }: Code): string[] {
  switch (kind) {
    case "local":
    case "call":
    case "branch":
      return [`$${immediate}`];
    case "block":
    case "if":
      return [...(immediate ? [`$${immediate}`] : []), ...(detail ? [`(result ${detail})`] : [])];
    case "memory":
      return immediate ? [`offset=${immediate}`] : [];
    case "memoryLane":
      return [...(immediate ? [`offset=${immediate}`] : []), `${detail}`];
    case "lane":
      return [`${immediate}`];
    case "shuffle":
      return [(immediate as readonly number[]).join(" ")];
    case "constant":
      if (name === "v128.const") return lanesOf(detail as string, immediate as readonly number[]);
      return [number(name.slice(0, 3), immediate as number | bigint)];
    default:
      return [];
  }
}

const lanesOf = (shape: string, values: readonly number[]): string[] => [
  shape,
  ...values.map((v) => number(shape.slice(0, 3), v)),
];

function number(type: string, v: number | bigint): string {
  if (typeof v === "bigint") return String(v);
  if (Number.isNaN(v)) return "nan";
  if (!Number.isFinite(v)) return v < 0 ? "-inf" : "inf";
  if (Object.is(v, -0)) return "-0";
  return type === "f32" ? shortest(v) : String(v);
}

/** The shortest decimal of at most nine digits that reads back as the same f32. */
function shortest(v: number): string {
  if (Number.isInteger(v) && Math.abs(v) < 1e9) return String(v);
  for (const digits of [6, 7, 8]) {
    const near = Number(v.toPrecision(digits));
    if (Math.fround(near) === Math.fround(v)) return String(near);
  }
  return String(Number(v.toPrecision(9)));
}
