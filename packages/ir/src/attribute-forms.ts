/**
 * The attributes of each op, once: a row gives the types that code reads them by (`attributes.ts`) and the forms that
 * `verify` holds every node to. Apart from those types, since a page that compiles needs no checks.
 */
import { type Dim, DimExpr } from "./dim.ts";
import { GraphError } from "./errors.ts";
import { type Attrs, type AttrValue, attrKey } from "./node.ts";

/** How a scatter combines an update with what is at its place. */
export type UpdateMode = "add" | "mul" | "max" | "min" | "set";

/** The forms of a value, by the word that the table has for it; text may leave out those with a question mark. */
interface Forms {
  number: number;
  text: string;
  flag: boolean;
  dim: Dim;
  numbers: readonly number[];
  dims: readonly Dim[];
  mode: UpdateMode;
  "number?": number;
  "flag?": boolean;
  "dim?": Dim;
  "text?": string;
}

const axes = { axes: "numbers" } as const;
const running = { axis: "number", exclusive: "flag?", reverse: "flag?" } as const;
const window = { size: "dims", stride: "numbers", dilation: "numbers" } as const;

// biome-ignore format: one op a row
export const attributeForms = {
  input:          { name: "text" },
  param:          { name: "text", trainable: "flag" },
  data:           { name: "text?" },
  constant:       { value: "number" },
  iota:           { axis: "number" },
  transpose:      { perm: "numbers" },
  broadcastInDim: { dims: "numbers" },
  slice:          { start: "dims", limit: "dims", stride: "numbers" },
  pad:            { low: "dims", high: "dims", interior: "numbers" },
  concat:         { axis: "number" },
  reverse:        axes,
  windows:        window,
  reduceSum:      axes,
  reduceProd:     axes,
  reduceMax:      axes,
  reduceMin:      axes,
  reduceAny:      axes,
  reduceAll:      axes,
  argMax:         axes,
  argMin:         axes,
  fold:           { size: "dims", stride: "numbers", dilation: "numbers", extent: "dims" },
  cumsum:         running,
  cumprod:        running,
  cummax:         running,
  cummin:         running,
  argSort:        { axis: "number", count: "dim?", descending: "flag?" },
  dotGeneral:     { lhsBatch: "numbers", rhsBatch: "numbers", lhsContract: "numbers", rhsContract: "numbers" },
  convolution:    { stride: "numbers", low: "dims", high: "dims", lhsDilation: "numbers", rhsDilation: "numbers", groups: "number" },
  gather:         axes,
  scatter:        { axes: "numbers", mode: "mode" },
  call:           { gradient: "text?", name: "text?" },
  customKernel:   { name: "text", operands: "text", js: "text?", wgsl: "text?", threads: "dim", workgroupSize: "number" },
  result:         { index: "number" },
  whileLoop:      { carries: "number", maxTrips: "number?" },
  scan:           { carries: "number", xs: "number", length: "dim", reverse: "flag?" },
} as const satisfies Record<string, Readonly<Record<string, keyof Forms>>>;

type Table = typeof attributeForms;
type Optional<R> = { [A in keyof R]: R[A] extends `${string}?` ? A : never }[keyof R];
type Typed<R> = {
  readonly [A in Exclude<keyof R, Optional<R>>]: Forms[R[A] & keyof Forms];
} & { readonly [A in Optional<R>]?: Forms[R[A] & keyof Forms] };

/** Attributes by op, for every op that has some. */
export type OpAttrs = { readonly [K in keyof Table]: Typed<Table[K]> };

const modes: readonly unknown[] = ["add", "mul", "max", "min", "set"] satisfies UpdateMode[];
const isDim = (x: AttrValue): boolean => typeof x === "number" || x instanceof DimExpr;

/** A function, and no table: pages that check nothing then carry none of this. */
function hasForm(form: string, x: AttrValue): boolean {
  if (form === "dims" || form === "numbers")
    return Array.isArray(x) && x.every((e) => (form === "dims" ? isDim(e) : typeof e === "number"));
  if (form === "dim") return isDim(x);
  if (form === "mode") return modes.includes(x);
  return typeof x === ({ text: "string", flag: "boolean" }[form] ?? form);
}

type Row = Readonly<Record<string, keyof Forms>>;
const rowOf = (op: string): Row | undefined =>
  Object.hasOwn(attributeForms, op) ? attributeForms[op as keyof Table] : undefined;

/** Throws GraphError unless the node's attributes have the forms of its op's row, and are no others. */
export function checkAttributes(op: string, attrs: Attrs): void {
  const row = rowOf(op);
  if (!row) return;
  for (const [name, form] of Object.entries(row)) {
    const value = attrs[name];
    if (value === undefined ? form.endsWith("?") : hasForm(form.replace("?", ""), value)) continue;
    const got = value === undefined ? "none" : attrKey(value);
    throw new GraphError(`${op}: attribute ${name} is ${got}, not of the form ${form}`);
  }
  for (const name of Object.keys(attrs))
    if (!Object.hasOwn(row, name)) throw new GraphError(`${op}: there is no attribute ${name}`);
}

/** Attributes from text, which may leave lists out that are empty. */
export function withEmptyLists(op: string, attrs: Attrs): Attrs {
  const absent = Object.entries(rowOf(op) ?? {}).filter(
    ([name, form]) => (form === "numbers" || form === "dims") && attrs[name] === undefined,
  );
  return absent.length
    ? { ...attrs, ...Object.fromEntries(absent.map(([name]) => [name, []])) }
    : attrs;
}
