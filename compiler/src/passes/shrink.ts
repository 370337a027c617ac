/**
 * Makes one node with regions smaller: fewer results, carries, sequences and captured values, none
 * of them twice, and inside what costs nothing there. Part of the pass `regions`.
 */
import {
  type Attrs,
  constantValueOf,
  type Graph,
  input,
  isMovement,
  isOp,
  makeNode,
  type NodeOf,
  type NodeParts,
  replaceNodes,
  resultsOf,
  scanParts,
  type Tensor,
  topologicalOrder,
  withOperands,
} from "@kiln-ml/ir";

/** Nothing for what nobody reads. */
export type Results = readonly (Tensor | undefined)[];

/**
 * What takes the place of the node's results of which `used` are read; undefined if it is as small
 * as can be.
 */
export function shrink(node: Tensor, used: ReadonlySet<number>): Results | undefined {
  if (node.op === "cond") return shrinkCond(node, used);
  if (isOp(node, "scan", "whileLoop")) return new Loop(node, used).shrunk();
  return undefined;
}

/** A value read from outside, as each region knows it. */
interface Capture {
  readonly operand: Tensor;
  readonly params: readonly Tensor[];
}

/** Index arithmetic on one tensor, which costs nothing where it is read. */
const relabels = (t: Tensor): boolean => isMovement(t) && t.operands.length === 1;

/** A value that depends on nothing and takes no memory. */
function isLiteral(t: Tensor): boolean {
  let from = t;
  while (relabels(from)) from = from.operands[0]!;
  return from.op === "constant" || from.op === "iota";
}

/**
 * The captured values that are left when each stands there once, with literals and index arithmetic
 * inside. `by` gets what the regions' parameters are then.
 */
function tidyCaptures(captures: readonly Capture[], by: Map<Tensor, Tensor>[]): Capture[] {
  const kept = new Map<Tensor, Capture>();
  const left = [...captures].reverse();
  for (let next = left.pop(); next; next = left.pop()) {
    const { operand, params } = next;
    const same = kept.get(operand);
    const become = (to: (i: number) => Tensor) => {
      for (const [i, p] of params.entries()) by[i]!.set(p, to(i));
    };
    if (same) become((i) => same.params[i]!);
    else if (isLiteral(operand)) become(() => operand);
    else if (relabels(operand)) {
      const [x] = operand.operands as [Tensor];
      const inner = params.map(() => input("captured", x.dtype, x.shape));
      become((i) => withOperands(operand, [inner[i]!]));
      left.push({ operand: x, params: inner });
    } else kept.set(operand, { operand, params });
  }
  return [...kept.values()];
}

/** `roots` with replacements made in replacements too. */
function replaceAll(roots: readonly Tensor[], by: ReadonlyMap<Tensor, Tensor>): readonly Tensor[] {
  if (by.size === 0) return roots;
  let now = roots;
  for (;;) {
    const next = replaceNodes(now, by);
    if (next.every((t, i) => t === now[i])) return next;
    now = next;
  }
}

const reached = (roots: readonly Tensor[]): Set<Tensor> => new Set(topologicalOrder(roots));

function shrinkCond(node: Tensor, used: ReadonlySet<number>): Results | undefined {
  const [flag, ...operands] = node.operands as [Tensor, ...Tensor[]];
  const [yes, no] = node.regions as [Graph, Graph];
  const known = constantValueOf(flag);
  const outside = (g: Graph) =>
    replaceNodes(g.results, new Map(g.params.map((p, i) => [p, operands[i]!] as const)));
  if (known !== undefined) return outside(known ? yes : no);
  const by = [new Map<Tensor, Tensor>(), new Map<Tensor, Tensor>()];
  const captures = operands.map(
    (operand, i): Capture => ({
      operand,
      params: [yes.params[i]!, no.params[i]!],
    }),
  );
  const tidy = tidyCaptures(captures, by);
  const results = [yes, no].map((g, i) => replaceAll(g.results, by[i]!));
  const kept = node.results!.flatMap((_, i) => (used.has(i) ? [i] : []));
  const wanted = results.map((list) => kept.map((i) => list[i]!));
  const seen = wanted.map(reached);
  const read = tidy.filter((c) => c.params.some((p, i) => seen[i]!.has(p)));
  if (kept.length === node.results!.length && same(read, captures)) return undefined;
  if (kept.length === 0) return node.results!.map(() => undefined);
  const regions = wanted.map(
    (list, i): Graph => ({
      params: read.map((c) => c.params[i]!),
      results: list,
    }),
  );
  const parts = { op: "cond", operands: [flag, ...read.map((c) => c.operand)], attrs: {}, regions };
  return spread(node, kept, parts);
}

const same = (a: readonly Capture[], b: readonly Capture[]): boolean =>
  a.length === b.length &&
  a.every((c, i) => c.operand === b[i]!.operand && c.params[0] === b[i]!.params[0]);

/** The results of a node that has only those of `kept`, in the places they had. */
function spread(
  node: Tensor,
  kept: readonly number[],
  parts: Pick<NodeParts, "op" | "operands" | "attrs" | "regions">,
): (Tensor | undefined)[] {
  const made = resultsOf(
    parts,
    kept.map((i) => node.results![i]!),
  );
  const out: (Tensor | undefined)[] = node.results!.map(() => undefined);
  for (const [k, i] of kept.entries()) out[i] = made[k];
  return out;
}

/** A scan or a while loop. The regions of a while loop have the same parameters one by one. */
class Loop {
  readonly #node: NodeOf<"scan" | "whileLoop">;
  readonly #used: ReadonlySet<number>;
  readonly #body: Graph;
  readonly #test: Graph | undefined;
  readonly #carries: number;

  constructor(node: NodeOf<"scan" | "whileLoop">, used: ReadonlySet<number>) {
    this.#node = node;
    this.#used = used;
    this.#carries = node.attrs.carries;
    this.#body = node.regions.at(-1)!;
    this.#test = node.op === "whileLoop" ? node.regions[0] : undefined;
  }

  shrunk(): Results | undefined {
    const { regions, attrs, operands, results } = this.#node;
    const n = this.#carries;
    const first = this.#test ? 0 : 1;
    const of = regions.map((g) => scanParts(this.#counts(attrs), g.params.slice(first)));
    const from = scanParts(this.#counts(attrs), operands);
    const bodyAt = regions.length - 1;
    const by = regions.map(() => new Map<Tensor, Tensor>());
    const captures = from.captures.map(
      (operand, i): Capture => ({
        operand,
        params: of.map((o) => o.captures[i]!),
      }),
    );
    const constants: Capture[] = [];
    for (let i = 0; i < n; i++)
      if (this.#body.results[i] === of[bodyAt]!.init[i])
        constants.push({ operand: from.init[i]!, params: of.map((o) => o.init[i]!) });
    const sequences = this.#sequences(from.xs, of[0]!.xs, by[0]!, constants);
    const tidy = tidyCaptures([...captures, ...constants], by);
    const values = regions.map((g, i) => replaceAll(g.results, by[i]!));
    const unchanged = new Set(constants.flatMap((c) => c.params));
    const own = of[bodyAt]!.init;
    const kept = this.#needed(values, own, of[0]!.init, unchanged);
    const wanted = values.map((list, i) => (i === bodyAt ? kept.map((k) => list[k]!) : list));
    const seen = wanted.map(reached);
    const xs = sequences.filter((x) => seen[bodyAt]!.has(x.param));
    const read = tidy.filter((c) => c.params.some((p, i) => seen[i]!.has(p)));
    const carried = kept.filter((k) => k < n);
    const out = (made: Results): Results =>
      results!.map((_, i) => (i < n && unchanged.has(own[i]!) ? from.init[i] : made[i]));
    if (kept.length === results!.length && xs.length === from.xs.length && same(read, captures))
      return undefined;
    if (kept.length === 0) return out(results!.map(() => undefined));
    const shrunkRegions = wanted.map(
      (list, r): Graph => ({
        params: [
          ...regions[r]!.params.slice(0, first),
          ...carried.map((k) => of[r]!.init[k]!),
          ...xs.map((x) => x.param),
          ...read.map((c) => c.params[r]!),
        ],
        results: list,
      }),
    );
    const parts = {
      op: this.#node.op,
      operands: [
        ...carried.map((k) => from.init[k]!),
        ...xs.map((x) => x.operand),
        ...read.map((c) => c.operand),
      ],
      attrs: { ...attrs, carries: carried.length, ...(this.#test ? {} : { xs: xs.length }) },
      regions: shrunkRegions,
    };
    return out(spread(this.#node, kept, parts));
  }

  #counts(attrs: Attrs): Attrs {
    return { carries: attrs.carries!, xs: attrs.xs ?? 0 };
  }

  /** Each sequence once; one that is the same at every step is a captured value. */
  #sequences(
    operands: readonly Tensor[],
    params: readonly Tensor[],
    by: Map<Tensor, Tensor>,
    constants: Capture[],
  ): { operand: Tensor; param: Tensor }[] {
    const kept = new Map<Tensor, Tensor>();
    for (const [i, operand] of operands.entries()) {
      const param = params[i]!;
      const before = kept.get(operand);
      if (before) by.set(param, before);
      else if (isOp(operand, "broadcastInDim") && !operand.attrs.dims.includes(0)) {
        const [x] = operand.operands as [Tensor];
        const inner = input("captured", x.dtype, x.shape);
        const attrs = { dims: operand.attrs.dims.map((d) => d - 1) };
        const { dtype, shape } = param;
        by.set(param, makeNode({ op: "broadcastInDim", operands: [inner], attrs, dtype, shape }));
        constants.push({ operand: x, params: [inner] });
      } else kept.set(operand, param);
    }
    return [...kept].map(([operand, param]) => ({ operand, param }));
  }

  /** The results that are read, and the carries that those, or a condition, depend on. */
  #needed(
    values: readonly (readonly Tensor[])[],
    own: readonly Tensor[],
    tested: readonly Tensor[],
    unchanged: ReadonlySet<Tensor>,
  ): number[] {
    const list = values.at(-1)!;
    const needed = new Set(
      [...this.#used].filter((i) => !(i < own.length && unchanged.has(own[i]!))),
    );
    const read = this.#test ? reached(values[0]!) : new Set<Tensor>();
    for (const [i, p] of tested.entries())
      if (this.#test && read.has(p) && !unchanged.has(p)) needed.add(i);
    for (let size = -1; size !== needed.size; ) {
      size = needed.size;
      const seen = reached([...needed].map((i) => list[i]!));
      for (const [i, p] of own.entries()) if (seen.has(p) && !unchanged.has(p)) needed.add(i);
    }
    return [...needed].sort((a, b) => a - b);
  }
}
