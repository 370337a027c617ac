/**
 * Steps of a program in order: a launch of a kernel, or a node with regions. Lowers the latter:
 * each region becomes a program of its own, lowered like the whole.
 * What is carried from step to step is a state of that program, and the next value an update of it.
 * A scan's step is a symbol of its kernels, so that a step reads its part of a sequence, and writes
 * its part of what is stacked, where they lie.
 */
import { packedBytes } from "@kiln-ml/artifact";
import {
  addDim,
  type Dim,
  dimValue,
  type Graph,
  input,
  loopVar,
  makeNode,
  makeUnique,
  mulDim,
  opOf,
  replaceNodes,
  reshape,
  scanParts,
  sizeOf,
  slice,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { aliasRoot, isLeaf } from "../access.ts";
import type { Group } from "../fuse/group.ts";
import type { Lowered } from "../lower/lower.ts";
import { cse } from "../passes/cse.ts";
import { regions } from "../passes/regions.ts";
import { simplify } from "../passes/simplify.ts";
import { nodesOf, type Program } from "../program.ts";
import type { Ordered } from "./order.ts";

export interface Nested {
  readonly program: Program;
  readonly ordered: Ordered;
}

/** The tensors outside that a region's leaves and results stand for. */
export type Outside = ReadonlyMap<Tensor, Tensor>;

/** What stands in the order of a program: a kernel that is launched, or a node with regions. */
export type Step = Lowered | Control;

export const isLaunch = (step: Step): step is Lowered => "kernel" in step;

export type Control = {
  readonly group: Group;
  readonly node: Tensor;
  /** As those of a kernel: what goes into the regions, and the results. */
  readonly reads: ReadonlySet<Tensor>;
  readonly writes: ReadonlyMap<Tensor, Tensor>;
  readonly results: readonly Tensor[];
  readonly outside: Outside;
  /** Operands whose values results begin with. */
  readonly begins: readonly (readonly [from: Tensor, to: Tensor])[];
} & (
  | { readonly is: "scan"; readonly symbol: string; readonly trip: Dim; readonly body: Nested }
  | {
      readonly is: "whileLoop";
      readonly test: Nested;
      readonly body: Nested;
      readonly most: number | undefined;
    }
  | { readonly is: "cond"; readonly then: Nested; readonly otherwise: Nested }
);

/** How a region's program is lowered, and the name of a symbol that nothing around it has. */
export interface Context {
  readonly symbol: string;
  lower(program: Program): Ordered;
}

export function lowerControl(group: Group, context: Context): Control {
  const node = group.anchor!;
  const results = node.results!.map((type, index) =>
    makeNode({ op: "result", operands: [node], attrs: { index }, ...type }),
  );
  const reads = new Set(node.operands.map(aliasRoot));
  const writes = new Map(results.map((t) => [t, t] as const));
  const made: Made = { group, node, results, reads, writes };
  const of = node.op === "scan" ? scanOf : node.op === "cond" ? condOf : whileOf;
  return of(made, context);
}

type Made = Pick<Control, "group" | "node" | "results" | "reads" | "writes">;

function condOf(made: Made, { lower }: Context): Control {
  const { node, results } = made;
  const outside = new Map<Tensor, Tensor>(results.map((t) => [t, t]));
  const [then, otherwise] = node.regions.map((region): Nested => {
    region.params.forEach((p, i) => {
      outside.set(p, node.operands[i + 1]!);
    });
    const outputs = region.results.map((value, i) => ({
      name: `y${i}`,
      value,
      within: { tensor: results[i]!, offset: 0 },
    }));
    return nested({ inputs: region.params, outputs, updates: [] }, lower);
  });
  return { ...made, is: "cond", outside, begins: [], then: then!, otherwise: otherwise! };
}

function whileOf(made: Made, { lower }: Context): Control {
  const { node, results } = made;
  const outside = new Map<Tensor, Tensor>(results.map((t) => [t, t]));
  const [test, body] = node.regions as [Graph, Graph];
  for (const { params } of [test, body])
    params.forEach((p, i) => {
      outside.set(p, results[i] ?? node.operands[i]!);
    });
  const flag = { name: "flag", value: test.results[0]! };
  const updates = body.results.map((value, i) => [body.params[i]!, value] as const);
  return {
    ...made,
    is: "whileLoop",
    outside,
    begins: results.map((t, i) => [node.operands[i]!, t] as const),
    test: nested({ inputs: test.params, outputs: [flag], updates: [] }, lower),
    body: nested({ inputs: body.params, outputs: [], updates }, lower),
    most: opOf(node, "whileLoop").attrs.maxTrips,
  };
}

function scanOf(made: Made, context: Context): Control {
  const { node, results } = made;
  const region = node.regions[0]!;
  const { length: trip, reverse } = opOf(node, "scan").attrs;
  const count = loopVar(context.symbol, trip);
  const at = reverse ? subDim(subDim(trip, 1), count) : count;
  const [step, ...params] = region.params as [Tensor, ...Tensor[]];
  const { init, xs, captures } = scanParts(node.attrs, params);
  const operands = scanParts(node.attrs, node.operands);
  const by = new Map<Tensor, Tensor>([[step, dimValue(at)]]);
  const whole = xs.map((p, i) => {
    const x = input(String(p.attrs.name), p.dtype, operands.xs[i]!.shape);
    by.set(p, elementOf(x, at));
    return x;
  });
  const outside = new Map(
    [
      [results, results],
      [init, results],
      [captures, operands.captures],
      [whole, operands.xs],
    ].flatMap(([inner, outer]) => inner!.map((t, i) => [t, outer![i]!] as const)),
  );
  const values = replaceNodes(region.results, by);
  const updates = init.map((p, i) => [p, values[i]!] as const);
  const outputs = values.slice(init.length).map((value, i) => ({
    name: `y${i}`,
    value,
    within: { tensor: results[init.length + i]!, offset: mulDim(at, sizeOf(value.shape)) },
  }));
  const inputs = [...init, ...whole, ...captures];
  const body = nested({ inputs, outputs, updates }, context.lower);
  const parts = new Set([...whole, ...results.slice(init.length)]);
  return {
    ...made,
    is: "scan",
    outside,
    begins: results.slice(0, init.length).map((t, i) => [operands.init[i]!, t] as const),
    symbol: context.symbol,
    trip,
    body: { ...body, ordered: withBytes(body.ordered, parts) },
  };
}

/** x[at], without the leading axis. */
function elementOf(x: Tensor, at: Dim): Tensor {
  const rest = x.shape.slice(1);
  const start = [at, ...rest.map(() => 0)];
  return reshape(slice(x, start, [addDim(at, 1), ...rest]), rest);
}

/** A slice that is read in a region of a region is made there. */
const tidy = [simplify(), regions, cse];

function nested(source: Program, lower: Context["lower"]): Nested {
  const tidied = tidy.reduce((p, pass) => pass.run(p), source);
  const program = withOwnRoots({
    ...tidied,
    updates: tidied.updates.filter(([p, value]) => p !== value),
  });
  return { program, ordered: lower(program) };
}

/**
 * The program with a copy in the place of each root that is a leaf or another root: kernels write
 * every root, each one where it belongs.
 */
function withOwnRoots(program: Program): Program {
  const taken = new Set<Tensor>();
  const own = (value: Tensor): Tensor => {
    const root = aliasRoot(value);
    const written = isLeaf(root) || taken.has(root) ? copyOf(value) : value;
    taken.add(aliasRoot(written));
    return written;
  };
  const updates = program.updates.map(([p, value]) => [p, own(value)] as const);
  // What nodes with regions take and give has a place of its own.
  const inner = nodesOf(program).filter((t) => t.regions.length > 0 || t.op === "customKernel");
  const given = new Set(inner.flatMap((t) => t.operands.map(aliasRoot)));
  const outputs = program.outputs.map((o) => {
    const root = aliasRoot(o.value);
    const placed =
      o.within && (root.op === "result" || root.op === "customKernel" || given.has(root));
    return { ...o, value: own(placed ? copyOf(o.value) : o.value) };
  });
  return { ...program, outputs, updates };
}

/** The same value as a node that is equal to no other. */
export const copyOf = (value: Tensor): Tensor =>
  makeUnique({
    op: "stopGradient",
    operands: [value],
    attrs: {},
    dtype: value.dtype,
    shape: value.shape,
    traced: false,
  });

/** A step moves its part of what is sliced and stacked, not the whole. */
function withBytes(ordered: Ordered, parts: ReadonlySet<Tensor>): Ordered {
  const steps = ordered.steps.map((k): Step => {
    if (!isLaunch(k) || !k.tensors.some((t) => t && parts.has(t))) return k;
    let bytes: Dim = 0;
    for (const [i, p] of k.kernel.params.entries()) {
      const t = k.tensors[i];
      if (!t) continue;
      const size = parts.has(t) ? sizeOf(t.shape.slice(1)) : p.size;
      bytes = addDim(bytes, mulDim(size, packedBytes(p.dtype)));
    }
    return { ...k, kernel: { ...k.kernel, bytes } };
  });
  return { ...ordered, steps };
}
