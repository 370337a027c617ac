/**
 * `scan`: a region run once for each place along the leading axis of some tensors, with values that
 * are carried from step to step and values that are stacked. The number of steps is known when a
 * run begins.
 */
import { type Dim, printDim, sameDim } from "../dim.ts";
import { checkOptions, GraphError, type OptionNames, ShapeError } from "../errors.ts";
import { checkExtentKind, checkList } from "../kind.ts";
import { type Attrs, type Graph, type ResultType, Tensor } from "../node.ts";
import { defineOp, type OpRecord } from "../op.ts";
import { currentValue } from "../trace.ts";
import { checkTensor, kindOf } from "./apply.ts";
import { resultsOf } from "./control.ts";
import { addDraws, countingDraws } from "./draws.ts";
import { checkRegions, checkResults, checkTypes, closeOver, traceBody } from "./regions.ts";
import { ScanGradient } from "./scan-gradient.ts";
import { input } from "./source.ts";

/**
 * Operands and results of a scan by what they are for. The region takes the step, then one of each
 * operand.
 */
export interface ScanParts<T> {
  readonly init: readonly T[];
  readonly xs: readonly T[];
  readonly captures: readonly T[];
}

const counts = (attrs: Attrs) => [Number(attrs.carries), Number(attrs.xs)] as const;

/** Operands of a scan, or what its region has for them. */
export function scanParts<T>(attrs: Attrs, operands: readonly T[]): ScanParts<T> {
  const [n, m] = counts(attrs);
  return {
    init: operands.slice(0, n),
    xs: operands.slice(n, n + m),
    captures: operands.slice(n + m),
  };
}

const step: ResultType = { dtype: "i32", shape: [] };
const element = ({ dtype, shape }: ResultType): ResultType => ({ dtype, shape: shape.slice(1) });
const stacked = ({ dtype, shape }: ResultType, length: Dim): ResultType => ({
  dtype,
  shape: [length, ...shape],
});

/** The types of all results: the carry, then what is stacked. */
const resultTypes = ({ results }: Graph, carries: number, length: Dim): ResultType[] =>
  results.map((t, i) => (i < carries ? t : stacked(t, length)));

function checkLengths(xs: readonly Tensor[], length: Dim): void {
  for (const [i, x] of xs.entries())
    if (!x.rank || !sameDim(x.shape[0]!, length))
      throw new ShapeError(
        `scan: sequence ${i} has ${x.rank ? printDim(x.shape[0]!) : "no"} steps, the scan ${printDim(length)}\n  slice or pad the sequences to one length; their first axis is the steps`,
      );
}

export const scanRecord: OpRecord = defineOp({
  name: "scan",
  family: "control",
  infer(operands, attrs, node) {
    if (!(node instanceof Tensor)) throw new GraphError("scan: the result types are missing");
    const { init, xs, captures } = scanParts(attrs, operands);
    const length = attrs.length as Dim;
    checkLengths(xs, length);
    checkRegions("scan", node.regions, 1, [step, ...init, ...xs.map(element), ...captures]);
    const results = node.regions[0]!.results;
    checkTypes("scan", "carry", init, "the body returns", results.slice(0, init.length));
    return checkResults("scan", resultTypes(node.regions[0]!, init.length, length), node);
  },
  vjpOfAll: (cotangents, node, active, pullback) =>
    new ScanGradient(node, cotangents, active, pullback).operands(scan),
});

export interface ScanOptions {
  /** The number of steps; needed where there are no sequences. */
  readonly length?: Dim;
  /** Begins at the end of the sequences. Results are stacked where the step's place is. */
  readonly reverse?: boolean;
}

export interface ScanStep {
  readonly carry: readonly Tensor[];
  readonly ys: readonly Tensor[];
}

const scanOptions: OptionNames<ScanOptions> = { length: 1, reverse: 1 };

/**
 * carry₀ = init; (carryᵢ₊₁, ysᵢ) = body(carryᵢ, xsᵢ, i) for each place i of the leading axis; gives
 * the last carry, and the ys stacked along a new leading axis. `body` gets the place i as well,
 * i32[]. What it reads from outside becomes an operand.
 *
 * xs[T, …] → slices […]; ys […] → [T, …]. No steps: the carry is `init`. Throws ShapeError if
 * sequences differ in length, or a carry in shape from what the body returns for it (DtypeError: in
 * dtype), GraphError if the length is not known. `jax.lax.scan`.
 *
 * @param xs Sequences, [T, …].
 * @example
 *   const total = (sum, x) => ({ carry: [sum.add(x)], ys: [sum.add(x)] });
 *   const { carry, ys } = scan([tensor(0)], [tensor([1, 2, 3])], ([sum], [x]) => total(sum, x));
 *   carry[0] // 6
 *   ys[0] // [1, 3, 6]
 */
export function scan(
  init: readonly Tensor[],
  xs: readonly Tensor[],
  body: (carry: Tensor[], x: Tensor[], step: Tensor) => ScanStep,
  options: ScanOptions = {},
): { carry: Tensor[]; ys: Tensor[] } {
  checkList("scan", "init", init);
  checkList("scan", "xs", xs);
  for (const t of [...init, ...xs]) checkTensor("scan", t);
  if (typeof body !== "function")
    throw new GraphError(`scan: the body must be a function, got ${kindOf(body)}`);
  checkOptions("scan", options, scanOptions);
  const [first, sequences] = [init.map(currentValue), xs.map(currentValue)];
  const length = options.length ?? sequences[0]?.shape[0];
  if (length === undefined)
    throw new GraphError(
      "scan: there is no sequence and no length\n  pass a sequence, or { length }",
    );
  checkExtentKind("scan", "length", length);
  checkLengths(sequences, length);
  const own = (name: string) => (t: ResultType) => input(name, t.dtype, t.shape);
  const place = own("step")(step);
  const carries = first.map(own("carry"));
  const slices = sequences.map(element).map(own("x"));
  let returned = 0;
  const frame = { op: "scan", step: { place, length }, counted: true };
  const { value: traced, drawn } = countingDraws(frame, () =>
    traceBody("scan", [place, ...carries, ...slices], () => {
      const out = checkedStep(body([...carries], [...slices], place));
      returned = out.carry.length;
      return [...out.carry, ...out.ys];
    }),
  );
  checkTypes("scan", "carry", first, "the body returns", traced.results.slice(0, returned));
  const { regions, captures } = closeOver([traced], true);
  const attrs = {
    carries: first.length,
    xs: sequences.length,
    length,
    reverse: options.reverse === true,
  };
  const types = resultTypes(regions[0]!, first.length, length);
  checkResults("scan", types, undefined);
  const operands = [...first, ...sequences, ...captures];
  const results = resultsOf({ op: "scan", operands, attrs, regions }, types);
  addDraws(drawn, length);
  return { carry: results.slice(0, first.length), ys: results.slice(first.length) };
}

function checkedStep(out: ScanStep): ScanStep {
  if (Array.isArray(out?.carry) && Array.isArray(out.ys)) return out;
  throw new GraphError(`scan: the body must return { carry, ys }, two lists, got ${kindOf(out)}`);
}
