/**
 * The gradient of a scan: a scan the other way round, over the carries of every step, which a forward scan stacks. Its body
 * computes the step again; it carries the cotangent of the carry, and sums of those of captured values where these are
 * not taken over all steps at once.
 */
import type { NodeOf } from "../attributes.ts";
import type { Dim } from "../dim.ts";
import { isFloat } from "../dtype.ts";
import type { ResultType, Tensor } from "../node.ts";
import type { Pullback } from "../op.ts";
import { apply, filled } from "./apply.ts";
import { replaceNodes, resultsOf } from "./control.ts";
import { input } from "./source.ts";
import { StepSums } from "./step-sums.ts";

type Scan = (
  init: readonly Tensor[],
  xs: readonly Tensor[],
  body: (carry: Tensor[], x: Tensor[], step: Tensor) => { carry: Tensor[]; ys: Tensor[] },
  options: { length: Dim; reverse: boolean },
) => { carry: Tensor[]; ys: Tensor[] };

const placeholder = ({ dtype, shape }: ResultType): Tensor => input("g", dtype, shape);
const add = (a: Tensor, b: Tensor): Tensor => apply("add", [a, b]);

export class ScanGradient {
  readonly #node: NodeOf<"scan">;
  readonly #cotangents: readonly (Tensor | undefined)[];
  readonly #carries: number;
  /** Operands before the captured ones. */
  readonly #own: number;
  readonly #length: Dim;
  readonly #params: readonly Tensor[];
  /** Operands by what they are for, of those that have a cotangent: places in the list of all. */
  readonly #carried: readonly number[];
  readonly #sequences: readonly number[];
  readonly #captured: readonly number[];
  /** Stand for the cotangents of one step's results. */
  readonly #seeds: readonly (Tensor | undefined)[];
  readonly #parts: ReadonlyMap<number, Tensor | undefined>;

  constructor(
    node: NodeOf<"scan">,
    cotangents: readonly (Tensor | undefined)[],
    active: readonly boolean[],
    pullback: Pullback,
  ) {
    this.#node = node;
    this.#cotangents = cotangents;
    const { carries: n, length } = node.attrs;
    const own = n + node.attrs.xs;
    [this.#carries, this.#own, this.#length] = [n, own, length];
    const { params, results } = node.regions[0]!;
    this.#params = params.slice(1);
    const floats = this.#params.flatMap((p, i) =>
      isFloat(p.dtype) && (i < n || active[i]) ? [i] : [],
    );
    this.#carried = floats.filter((i) => i < n);
    this.#sequences = floats.filter((i) => i >= n && i < own);
    this.#captured = floats.filter((i) => i >= own);
    this.#seeds = results.map((t, i) =>
      isFloat(t.dtype) && (i < n || cotangents[i]) ? placeholder(t) : undefined,
    );
    const xs = floats.map((i) => this.#params[i]!);
    const parts = pullback(results, this.#seeds, xs);
    this.#parts = new Map(floats.map((i, k) => [i, parts[k]] as const));
  }

  /** The cotangents of the operands. */
  operands(scan: Scan): (Tensor | undefined)[] {
    const { operands, attrs } = this.#node;
    const stackedSeeds = this.#seeds.flatMap((s, i) => (s && i >= this.#carries ? [i] : []));
    const given = [
      ...this.#params.slice(0, this.#own),
      ...stackedSeeds.map((i) => this.#seeds[i]!),
    ];
    const xs = [
      ...this.#stackCarries(),
      ...operands.slice(this.#carries, this.#own),
      ...stackedSeeds.map((i) => this.#cotangents[i]!),
    ];
    const sums = new StepSums(new Map(given.map((t, k) => [t, xs[k]!])), this.#length);
    const split = sums.split(this.#captured.map((i) => this.#parts.get(i)));
    const added = split.flatMap(({ rest }, k) => (rest.length ? [k] : []));
    const init = [
      ...this.#carried.map((i) => this.#cotangents[i] ?? this.#zero(i)),
      ...added.map((k) => this.#zero(this.#captured[k]!)),
    ];
    const body = (now: Tensor[], slices: Tensor[], place: Tensor) => {
      const inside = this.#replace(now, given, slices, place);
      const gradients = (list: readonly number[]) =>
        inside(list.map((i) => this.#parts.get(i) ?? this.#zero(i)));
      const next = added.map((k, j) =>
        inside(split[k]!.rest).reduce(add, now[this.#carried.length + j]!),
      );
      const ys = [...gradients(this.#sequences), ...inside(sums.emitted)];
      return { carry: [...gradients(this.#carried), ...next], ys };
    };
    const nothing = init.length + this.#sequences.length + sums.emitted.length === 0;
    const options = { length: this.#length, reverse: attrs.reverse !== true };
    const { carry, ys } = nothing ? { carry: [], ys: [] } : scan(init, xs, body, options);
    sums.stacked = ys.slice(this.#sequences.length);

    const out: (Tensor | undefined)[] = operands.map(() => undefined);
    for (const [k, i] of this.#carried.entries()) out[i] = carry[k];
    for (const [k, i] of this.#sequences.entries()) out[i] = ys[k];
    for (const [k, i] of this.#captured.entries()) {
      const terms = split[k]!.outside.map((sum) => sum());
      if (added.includes(k)) terms.unshift(carry[this.#carried.length + added.indexOf(k)]!);
      if (terms.length) out[i] = terms.reduce(add);
    }
    return out;
  }

  /** What the nodes of the forward body are in one step of the backward one. */
  #replace(
    now: readonly Tensor[],
    given: readonly Tensor[],
    slices: readonly Tensor[],
    place: Tensor,
  ): (list: readonly Tensor[]) => Tensor[] {
    const by = new Map<Tensor, Tensor>([[this.#node.regions[0]!.params[0]!, place]]);
    for (const [k, i] of this.#carried.entries())
      if (this.#seeds[i]) by.set(this.#seeds[i], now[k]!);
    for (const [k, t] of given.entries()) by.set(t, slices[k]!);
    for (const [i, p] of this.#params.entries())
      if (i >= this.#own) by.set(p, this.#node.operands[i]!);
    return (list) => replaceNodes(list, by);
  }

  #zero(i: number): Tensor {
    const { dtype, shape } = this.#params[i]!;
    return filled(0, dtype, shape);
  }

  /** The carries before each step, stacked by a scan that is otherwise the same; the compiler makes the two one. */
  #stackCarries(): Tensor[] {
    const { operands, attrs, regions, results: types } = this.#node;
    const { params, results } = regions[0]!;
    const carries = this.#params.slice(0, this.#carries);
    if (!carries.length) return [];
    const region = { params, results: [...results, ...carries] };
    const stacked = carries.map((t) => ({ dtype: t.dtype, shape: [this.#length, ...t.shape] }));
    const all = resultsOf({ op: "scan", operands, attrs, regions: [region] }, [
      ...types!,
      ...stacked,
    ]);
    return all.slice(results.length);
  }
}
