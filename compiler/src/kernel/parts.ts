/**
 * What kernel IR consists of: one row a kind of statement, its form as text. The holes of a form
 * say what each field is, and walks, maps, uses, keys, printing, parsing and the scopes of `verify`
 * are read off them. Decides nothing; see docs/decisions/kernel-ir.md.
 *
 * `{field:role}`; `+` for a list; `?word` for a field that may be absent, which the word precedes.
 */
import type { Condition, Dim } from "@kiln-ml/ir";
import type { Expr, Stmt } from "./kernel.ts";
import type { MatrixStep } from "./matrix.ts";

// biome-ignore format: one statement a row
const stmtForms = {
  comment:         "comment {text:text}",
  let:             "let {name:value} = {value:expr}",
  letIndex:        "index {name:index} = {value:dim}",
  letDynamic:      "dynamic {name:index} = {value:expr}",
  letInvocation:   "invocation {name:index}",
  letSubgroup:     "subgroup {name:index}",
  acc:             "acc {name:accumulator}: {dtype:dtype} = {init:expr}{widened:flag}{narrow:flag}",
  set:             "set {name:changes} = {value:expr}",
  accumulate:      "accumulate {name:changes} by {reducer:word} {value:expr}{position:dim?at}",
  fma:             "fma {name:changes} += {a:expr} * {b:expr}",
  loop:            "loop {name:index}{start:dim?from} < {extent:dim}{step:number?step} {loop:word}{body:block}",
  if:              "if {when:when}{then:block}",
  store:           "store {to:writes}[{index:dim}] = {value:expr}",
  prefetch:        "prefetch {from:reads}[{index:dim}]",
  array:           "array {name:array}: {space:word} {dtype:dtype}[{size:dim}]{width:number?width}{widened:flag}{narrow:flag}{parts:number?parts}",
  sort:            "sort {keys:updates} into {order:writes} with {spare:updates} size {size:dim} count {count:dim}{descending:flag}",
  scheduleBarrier: "scheduleBarrier",
  barrier:         "barrier",
  combine:         "combine {names:changes+} by {reducers:word+}{team:number?team}{apart:flag}",
  prefix:          "prefix {names:changes+} carry {carries:changes+} by {reducers:word+}",
} as const satisfies Record<Exclude<Stmt["kind"], "matrix">, string>;

// biome-ignore format: one step a row
const matrixForms = {
  zero:     "matrix zero {name:matrix} {shape:shape}",
  load:     "matrix load {name:matrix} {side:word} {shape:shape} from {from:reads}[{index:dim}] stride {stride:number}{turned:flag}",
  multiply: "matrix multiply {name:fills} += {left:uses} * {right:uses}",
  store:    "matrix store {to:writes}[{index:dim}] stride {stride:number} = {name:uses}",
} as const satisfies Record<MatrixStep["step"], string>;

/** Statements at which the invocations of a workgroup meet, and see what the others stored. */
const meetings: ReadonlySet<Stmt["kind"]> = new Set(["barrier", "combine", "prefix"]);

/** Names that a statement binds: in its block where it has one, else in what follows. */
const binders = ["value", "index", "accumulator", "array", "matrix"] as const;
export type Binder = (typeof binders)[number];
/** What a statement does with memory that it names. */
export type Access = "reads" | "writes" | "updates";
const accesses: ReadonlySet<string> = new Set(["reads", "writes", "updates"]);

export interface Hole {
  readonly field: string;
  readonly role: string;
  readonly list: boolean;
  /** The word before a field that may be absent. */
  readonly word?: string;
}

/** A row, taken apart. */
export interface Parts {
  /** Literal text and holes in their order. */
  readonly form: readonly (string | Hole)[];
  readonly exprs: readonly string[];
  readonly dims: readonly string[];
  readonly conditions: readonly string[];
  readonly block?: string;
  readonly binds?: { readonly field: string; readonly as: Binder };
  /** Accumulators that it changes. */
  readonly changes: readonly string[];
  readonly memory: readonly { readonly field: string; readonly how: Access }[];
  readonly meets: boolean;
}

function partsOfForm(form: string, meets: boolean): Parts {
  const tokens = form.split(/(\{[^}]*\})/).filter((t) => t !== "");
  const read = tokens.map((t): string | Hole => {
    const m = /^\{(\w+):(\w+)(\+?)(?:\?(\w+))?\}$/.exec(t);
    if (!m) return t;
    const [, field, role, plus, word] = m as unknown as [string, string, string, string, string?];
    return { field, role, list: plus !== "", ...(word === undefined ? {} : { word }) };
  });
  const holes = read.filter((t) => typeof t !== "string");
  const of = (role: string): string[] => holes.filter((h) => h.role === role).map((h) => h.field);
  const [block] = of("block");
  const bound = holes.find((h) => (binders as readonly string[]).includes(h.role));
  const named = holes.filter((h) => accesses.has(h.role));
  return {
    form: read,
    exprs: of("expr"),
    dims: of("dim"),
    conditions: of("when"),
    ...(block === undefined ? {} : { block }),
    ...(bound ? { binds: { field: bound.field, as: bound.role as Binder } } : {}),
    changes: of("changes"),
    memory: named.map(({ field, role }) => ({ field, how: role as Access })),
    meets,
  };
}

const each = <K extends string>(forms: Readonly<Record<K, string>>): Record<K, Parts> =>
  Object.fromEntries(
    Object.entries<string>(forms).map(([kind, form]) => [
      kind,
      partsOfForm(form, meetings.has(kind as Stmt["kind"])),
    ]),
  ) as Record<K, Parts>;

/** The rows, by the kind of a statement or the step of one on matrices. */
export const stmtParts = each(stmtForms);
export const matrixParts = each(matrixForms);

/** Every field stands in its form: a kind that misses one is named here by the type checker. */
type Fields<F extends string> = F extends `${string}{${infer N}:${string}}${infer Rest}`
  ? N | Fields<Rest>
  : never;
type Missing = {
  [K in keyof typeof stmtForms]: Exclude<
    keyof Extract<Stmt, { kind: K }>,
    "kind" | Fields<(typeof stmtForms)[K]>
  > extends never
    ? never
    : K;
}[keyof typeof stmtForms];
type MissingStep = {
  [K in keyof typeof matrixForms]: Exclude<
    keyof Extract<MatrixStep, { step: K }>,
    "step" | Fields<(typeof matrixForms)[K]>
  > extends never
    ? never
    : K;
}[keyof typeof matrixForms];
type Never<T extends never> = T;
export type MissingFields = Never<Missing | MissingStep>;

/** A statement's fields by name. */
export type Named = Readonly<Record<string, unknown>>;

export const partsOf = (s: Stmt): Parts =>
  s.kind === "matrix" ? matrixParts[s.does.step] : stmtParts[s.kind];

/** What has the fields of a statement's row. */
export const fieldsOf = (s: Stmt): Named => (s.kind === "matrix" ? s.does : s) as unknown as Named;

/** The statement with other values in some of its fields. */
export const withFields = (s: Stmt, fields: Named): Stmt =>
  s.kind === "matrix"
    ? ({ ...s, does: { ...s.does, ...fields } } as Stmt)
    : ({ ...s, ...fields } as Stmt);

/** The expressions that stand directly in a statement. */
export function exprsOf(s: Stmt): readonly Expr[] {
  const { exprs } = partsOf(s);
  if (exprs.length === 0) return [];
  const fields = fieldsOf(s);
  return exprs.map((f) => fields[f] as Expr);
}

/** The conditions that stand directly in a statement. */
export const conditionsOf = (s: Stmt): readonly Condition[] => (s.kind === "if" ? s.when : []);

/** The index expressions that stand directly in a statement. */
export function dimsOf(s: Stmt): readonly Dim[] {
  const { dims, conditions } = partsOf(s);
  if (dims.length + conditions.length === 0) return [];
  const fields = fieldsOf(s);
  const own = dims.map((f) => fields[f]).filter((d) => d !== undefined) as Dim[];
  return conditions.length === 0 ? own : [...own, ...conditionsOf(s).map((c) => c.value)];
}

/** The statements inside a statement. */
export function bodyOf(s: Stmt): readonly Stmt[] {
  const { block } = partsOf(s);
  return block === undefined ? [] : (fieldsOf(s)[block] as readonly Stmt[]);
}

/** The name that a statement binds. */
export function bindingOf(s: Stmt): { readonly name: string; readonly as: Binder } | undefined {
  const { binds } = partsOf(s);
  return binds && { name: fieldsOf(s)[binds.field] as string, as: binds.as };
}

/** The accumulators that a statement changes itself. */
export function changedNames(s: Stmt): readonly string[] {
  const { changes } = partsOf(s);
  if (changes.length === 0) return [];
  const fields = fieldsOf(s);
  return changes.flatMap((f) => fields[f] as string | readonly string[]);
}

/** Memory that a statement names itself, and at which element; undefined where it is all of it. */
export interface Touch {
  readonly memory: string;
  readonly index: Dim | undefined;
  readonly how: Access;
}

export function touchesOf(s: Stmt): readonly Touch[] {
  const { memory } = partsOf(s);
  if (memory.length === 0) return [];
  const fields = fieldsOf(s);
  const index = fields.index as Dim | undefined;
  return memory.map(({ field, how }) => ({ memory: fields[field] as string, index, how }));
}
