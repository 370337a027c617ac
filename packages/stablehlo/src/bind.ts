/**
 * Symbols at export: every one that the program's types and attributes name gets a number, and what the ops require of them is
 * checked with it. All that is wrong is told at once.
 */
import {
  DimExpr,
  evaluateDim,
  GraphError,
  opRecord,
  printShape,
  type Requirement,
  ShapeError,
  type Tensor,
  withRequirements,
} from "@kiln-ml/ir";

export type Dims = Readonly<Record<string, number>>;

function visit(value: unknown, found: (d: DimExpr) => void): void {
  if (value instanceof DimExpr) found(value);
  else if (Array.isArray(value)) for (const v of value) visit(v, found);
}

/** Each symbol and a node that has it. */
function symbolsOf(nodes: readonly Tensor[]): Map<string, Tensor> {
  const symbols = new Map<string, Tensor>();
  for (const t of nodes)
    for (const value of [t.shape, ...Object.values(t.attrs)])
      visit(value, (d) => {
        for (const name of d.symbols.keys()) if (!symbols.has(name)) symbols.set(name, t);
      });
  return symbols;
}

const describe = (t: Tensor): string =>
  `${t.op === "input" ? t.attrs.name : t.op} ${t.dtype}${printShape(t.shape)}`;

function checkBound(symbols: ReadonlyMap<string, Tensor>, dims: Dims): void {
  const free = [...symbols].filter(([name]) => dims[name] === undefined);
  if (free.length === 0) return;
  const list = free.map(([name, t]) => `${name} (${describe(t)})`).join(", ");
  const example = free.map(([name]) => `${name}: 64`).join(", ");
  throw new ShapeError(
    `stablehlo: an engine compiles fixed extents, and these are symbols: ${list}\n  give each a number: { dims: { ${example} } }`,
  );
}

function checkGiven(symbols: ReadonlyMap<string, Tensor>, dims: Dims): void {
  for (const [name, n] of Object.entries(dims)) {
    if (!symbols.has(name))
      throw new ShapeError(
        `stablehlo: dims has ${name}, which no shape of the program names\n  ${symbols.size ? `its symbols are ${[...symbols.keys()].join(", ")}` : "leave it out: the program has no symbols"}`,
      );
    if (!Number.isSafeInteger(n) || n < 1)
      throw new ShapeError(
        `stablehlo: dims.${name} is ${String(n)}, not an integer of 1 or more\n  give the extent that the engine is to compile for`,
      );
  }
}

/** Throws unless the ops accept these extents. */
function checkRequired(nodes: readonly Tensor[], given: readonly Requirement[], dims: Dims): void {
  const { requirements } = withRequirements(() => {
    for (const t of nodes)
      if (t.regions.length === 0 && t.op !== "result") opRecord(t.op).infer(t.operands, t.attrs, t);
  });
  const broken = [...given, ...requirements].find((r) => evaluateDim(r.value, dims) < 0);
  if (!broken) return;
  const values = Object.entries(dims).map(([name, n]) => `${name}: ${n}`);
  const [first] = broken.text.split("\n");
  throw new ShapeError(`${first}, with { ${values.join(", ")} }\n  give other dims`);
}

/** Throws unless `dims` has just the symbols of these nodes, and the ops accept them. */
export function checkDims(
  nodes: readonly Tensor[],
  given: readonly Requirement[],
  dims: Dims,
): void {
  const symbols = symbolsOf(nodes);
  checkBound(symbols, dims);
  checkGiven(symbols, dims);
  if (symbols.size) checkRequired(nodes, given, dims);
}

/** Throws GraphError with all ops that are not in `known`. */
export function checkRows(nodes: readonly Tensor[], known: (op: string) => boolean): void {
  const missing = [...new Set(nodes.filter((t) => !known(t.op)).map((t) => t.op))];
  if (missing.length)
    throw new GraphError(
      `stablehlo: no row for ${missing.join(", ")}\n  write ${missing.length === 1 ? "it" : "them"} with the primitives of docs/ops.md`,
    );
}
