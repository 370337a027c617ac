/**
 * From a function of the user's to a region: runs it on parameters of its own and makes what it reads from outside
 * operands of the node (closure conversion), so that a region refers to nothing but its parameters. A region reads
 * and computes; one that assigns a parameter is refused.
 */
import { DtypeError, GraphError, ShapeError } from "../errors.ts";
import { type Graph, type ResultType, recordNodes, Tensor, topologicalOrder } from "../node.ts";
import { printShape, sameShape } from "../shape.ts";
import { currentValue, trace } from "../trace.ts";
import { hasOwnGradient, inlineCalls, replaceNodes } from "./control.ts";
import { input } from "./source.ts";

/** What a function returned for its parameters, and which nodes it asked for. */
export interface Body {
  readonly params: readonly Tensor[];
  readonly results: readonly Tensor[];
  readonly made: ReadonlySet<Tensor>;
}

export const typeText = (t: ResultType): string => `${t.dtype}${printShape(t.shape)}`;

/** Bodies in bodies, as many as an artifact's steps may be nested. */
export const mostNesting = 16;
let nesting = 0;

/** Runs `define`, which gives the results for these parameters. Throws GraphError if bodies are nested too deep. */
export function traceBody(
  op: string,
  params: readonly Tensor[],
  define: () => readonly Tensor[],
): Body {
  if (nesting === mostNesting)
    throw new GraphError(
      `${op}: bodies are nested ${nesting + 1} deep, at most ${mostNesting} may be\n  compute part of it outside of the body`,
    );
  const { value, made } = recordNodes(() => trace(() => results(op, define)));
  const [assigned] = value.updates.keys();
  if (assigned)
    throw new GraphError(
      `${op}: the body assigns ${String(assigned.attrs.name)}, which a region may not\n  carry the value, and assign the result outside`,
    );
  return { params, results: value.value, made };
}

function results(op: string, define: () => readonly Tensor[]): Tensor[] {
  nesting++;
  try {
    return inlineCalls(checked(op, define()).map(currentValue), undefined, hasOwnGradient);
  } finally {
    nesting--;
  }
}

function checked(op: string, results: readonly Tensor[]): readonly Tensor[] {
  if (!Array.isArray(results) || !results.every((t) => t instanceof Tensor))
    throw new GraphError(
      `${op}: a body returns a list of tensors, got ${String(results)}\n  return an array, also of one: [x]`,
    );
  return results;
}

export interface Closed {
  readonly regions: Graph[];
  /** What the bodies read from outside; each region has a parameter for each of them, after its own. */
  readonly captures: Tensor[];
}

/**
 * The bodies as regions. What a body made stays inside, unless `hoist` and it depends on none of its parameters: then
 * it is computed once, outside.
 */
export function closeOver(bodies: readonly Body[], hoist: boolean): Closed {
  const captures = [...new Set(bodies.flatMap((body) => outsideOf(body, hoist)))];
  const regions = bodies.map((body): Graph => {
    const params = captures.map((t) => input(String(t.attrs.name ?? "captured"), t.dtype, t.shape));
    const by = new Map(captures.map((t, i) => [t, params[i]!] as const));
    return { params: [...body.params, ...params], results: replaceNodes(body.results, by) };
  });
  return { regions, captures };
}

/** Index arithmetic on one tensor: as cheap inside as outside, where it might have to be stored. */
const relabelling = new Set(["reshape", "transpose", "broadcastInDim", "reverse"]);
const literal = new Set(["constant", "iota"]);
const leaf = new Set(["input", "param", "data"]);

function outsideOf({ params, results, made }: Body, hoist: boolean): Tensor[] {
  const own = new Set(params);
  const dependent = new Set(params);
  for (const t of topologicalOrder(results))
    if (t.operands.some((o) => dependent.has(o))) dependent.add(t);
  const inside = (t: Tensor): boolean => {
    if (dependent.has(t) || literal.has(t.op) || relabelling.has(t.op)) return true;
    if (t.op === "result") return inside(t.operands[0]!);
    return !hoist && made.has(t) && !leaf.has(t.op);
  };
  return topologicalOrder(results, (t) => !inside(t)).filter((t) => !own.has(t) && !inside(t));
}

/** Throws unless the types agree one by one; `what` and `whose` say what they are of. */
export function checkTypes(
  op: string,
  what: string,
  types: readonly ResultType[],
  whose: string,
  given: readonly ResultType[],
): void {
  if (types.length !== given.length)
    throw new GraphError(
      `${op}: the number of ${what === "carry" ? "carries" : `${what}s`} is ${types.length}, ${whose} ${given.length}\n  return one result for each`,
    );
  for (const [i, t] of types.entries()) {
    const g = given[i]!;
    if (t.dtype !== g.dtype)
      throw new DtypeError(
        `${op}: ${what} ${i} is ${typeText(t)}, ${whose} ${typeText(g)}\n  make both of one dtype and shape: convert, reshape or broadcastTo one`,
      );
    if (!sameShape(t.shape, g.shape))
      throw new ShapeError(
        `${op}: ${what} ${i} is ${typeText(t)}, ${whose} ${typeText(g)}\n  make both of one dtype and shape: convert, reshape or broadcastTo one`,
      );
  }
}

/** Throws unless the node has `count` regions, which take these types and read nothing from outside. */
export function checkRegions(
  op: string,
  regions: readonly Graph[],
  count: number,
  types: readonly ResultType[],
): void {
  if (regions.length !== count)
    throw new GraphError(`${op}: takes ${count} regions, got ${regions.length}`);
  for (const { params, results } of regions) {
    checkTypes(op, "operand", types, "the region takes", params);
    const own = new Set(params);
    for (const t of topologicalOrder(results))
      if (leaf.has(t.op) && !own.has(t))
        throw new GraphError(
          `${op}: a region reads ${String(t.attrs.name ?? t.op)}, which is none of its parameters`,
        );
  }
}

/** Throws unless `t` is one bool. */
export function checkFlag(op: string, what: string, t: Tensor | undefined): void {
  if (t?.dtype !== "bool" || t.rank !== 0)
    throw new DtypeError(
      `${op}: ${what} is ${t ? typeText(t) : "nothing"}, not bool[]\n  return one bool of rank 0: x.sum().less(10)`,
    );
}

/** Throws unless the node says of its results what its regions say. */
export function checkResults(
  op: string,
  types: readonly ResultType[],
  node: ResultType | undefined,
): ResultType {
  if (!types[0])
    throw new GraphError(`${op}: has no results\n  give it a carry, or return one tensor or more`);
  if (node instanceof Tensor)
    checkTypes(op, "result", types, "the node says", node.results ?? [node]);
  return types[0];
}
