/**
 * The reference: computes a graph one element at a time, in double precision, and rounds to the node's dtype after
 * every op. Elementwise ops are their records' `eval`, all others in `reference/`. It shares nothing with lowering, is slow, and is what every target is
 * compared with.
 */
import { isOp } from "./attributes.ts";
import { linearIn } from "./dim.ts";
import { evaluateDim } from "./dim-evaluate.ts";
import { type Dtype, roundTo } from "./dtype.ts";
import { bug, DtypeError, GraphError, ShapeError } from "./errors.ts";
import { type Graph, type Tensor, topologicalOrder } from "./node.ts";
import { evaluateElement, type OpRecord, opRecord } from "./op.ts";
import { initialValueOf } from "./ops/source.ts";
import { contractions } from "./reference/contraction.ts";
import { controls } from "./reference/control.ts";
import { cumulative } from "./reference/cumulative.ts";
import { indexing } from "./reference/indexing.ts";
import { movements } from "./reference/movement.ts";
import { reductions } from "./reference/reduce.ts";
import { sorting } from "./reference/sort.ts";
import { sources } from "./reference/source.ts";
import type { Dims, Evaluate, Value } from "./reference/value.ts";
import { printShape } from "./shape.ts";

export type { Dims, Value } from "./reference/value.ts";

/** Values of whole tensors by op; made at first use, so that a bundle without `evaluate` drops it. */
let table: ReadonlyMap<string, Evaluate> | undefined;

export interface Bindings {
  /** Values of inputs, and of parameters that have been given another value than their first. */
  readonly inputs?: ReadonlyMap<Tensor, Value>;
  /** Values of symbols; those that are an extent of an input need not be given. */
  readonly dims?: Dims;
}

/** A value from numbers in row-major order, rounded to the dtype. */
export function makeValue(
  dtype: Dtype,
  shape: readonly number[],
  numbers: ArrayLike<number>,
): Value {
  const size = shape.reduce((a, b) => a * b, 1);
  if (size !== numbers.length)
    throw new ShapeError(`value: ${printShape(shape)} has ${size} elements, got ${numbers.length}`);
  return { dtype, shape, data: Float64Array.from(numbers, (x) => roundTo(dtype, x)) };
}

/** The values of `roots`. Throws GraphError if an input has no value. */
export function evaluate(roots: readonly Tensor[], bindings: Bindings = {}): Value[] {
  const dims = bindDims(bindings);
  return evaluateIn(roots, new Map(bindings.inputs), dims).map((v) => v[0]!);
}

/** Symbols given, and those that an extent of an input tells. Throws if two inputs disagree. */
export function bindDims({ inputs = new Map(), dims = {} }: Bindings): Dims {
  const all: Record<string, number> = { ...dims };
  for (const [leaf, value] of inputs)
    for (const [axis, d] of leaf.shape.entries()) {
      const found = linearIn(d);
      const extent = value.shape[axis];
      if (found && extent !== undefined)
        all[found.symbol.name] ??= Math.floor((extent - found.offset) / found.scale);
    }
  for (const [leaf, value] of inputs) checkBinding(leaf, value, all);
  return all;
}

function checkBinding(leaf: Tensor, value: Value, dims: Dims): void {
  const name = String(leaf.attrs.name);
  const shape = leaf.shape.map((d) => evaluateDim(d, dims));
  if (shape.length !== value.shape.length || shape.some((d, i) => d !== value.shape[i]))
    throw new ShapeError(
      `evaluate: ${name} is ${printShape(leaf.shape)}, here ${printShape(shape)}, got ${printShape(value.shape)}\n  give a value of that shape`,
    );
  if (leaf.dtype !== value.dtype)
    throw new DtypeError(`evaluate: ${name} is ${leaf.dtype}, got ${value.dtype}`);
}

/** All results of each root; nodes with one result have a list of one. */
function evaluateIn(
  roots: readonly Tensor[],
  given: ReadonlyMap<Tensor, Value>,
  dims: Dims,
): (readonly Value[])[] {
  const values = new Map<Tensor, readonly Value[]>();
  for (const [leaf, value] of given) values.set(leaf, [value]);
  for (const node of topologicalOrder(roots))
    if (!values.has(node)) values.set(node, evaluateNode(node, values, dims, given));
  return roots.map((t) => values.get(t)!);
}

function evaluateNode(
  node: Tensor,
  values: ReadonlyMap<Tensor, readonly Value[]>,
  dims: Dims,
  given: ReadonlyMap<Tensor, Value>,
): readonly Value[] {
  if (node.op === "input")
    throw new GraphError(
      `evaluate: input ${String(node.attrs.name)} has no value\n  give one for every input that the results read`,
    );
  if (node.op === "param") return evaluateIn([initialValueOf(node)], given, dims)[0]!;
  const operands = node.operands.map((t) => values.get(t)![0]!);
  if (isOp(node, "result")) return [values.get(node.operands[0]!)![node.attrs.index]!];
  const run = (region: Graph, values: readonly Value[]) =>
    evaluateRegion(region, values, dims, given);
  if (node.op === "call") return run(node.regions[0]!, operands);
  const control = controls[node.op];
  if (control) return control(node, operands, dims, run);
  table ??= new Map(
    Object.entries({
      ...sources,
      ...movements,
      ...reductions(),
      ...cumulative(),
      ...contractions,
      ...indexing,
      ...sorting,
    }),
  );
  const known = table.get(node.op);
  if (known) return [known(node, operands, dims)];
  const record = opRecord(node.op);
  if (record.family === "elementwise") return [evaluateElements(record, node, operands)];
  return bug("evaluate", `${node.op} has no reference value`);
}

/** A region sees its parameters and whatever was given outside. */
function evaluateRegion(
  region: Graph,
  operands: readonly Value[],
  dims: Dims,
  given: ReadonlyMap<Tensor, Value>,
): Value[] {
  const inner = new Map(given);
  for (const [i, p] of region.params.entries()) inner.set(p, operands[i]!);
  return evaluateIn(region.results, inner, dims).map((v) => v[0]!);
}

function evaluateElements(record: OpRecord, node: Tensor, operands: readonly Value[]): Value {
  const { shape, data: first } = operands[0]!;
  const data = new Float64Array(first.length);
  const x = operands.map(() => 0);
  const from = operands[0]!.dtype;
  for (let i = 0; i < data.length; i++) {
    for (let k = 0; k < x.length; k++) x[k] = operands[k]!.data[i]!;
    data[i] = evaluateElement(record, from, node.dtype, x);
  }
  return { dtype: node.dtype, shape, data };
}
