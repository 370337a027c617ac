/**
 * Sums, over the steps of a scan, of a value that each step computes. Where the value is a product, as the gradient of
 * a weight is, one product over all steps of what its factors were takes the place of a product and an addition a step.
 */
import { isOp, type NodeOf, type OpAttrs } from "../attributes.ts";
import type { Dim } from "../dim.ts";
import { isStatic } from "../dim.ts";
import type { Tensor } from "../node.ts";
import { sizeOf } from "../shape.ts";
import { apply } from "./apply.ts";
import { constantValueOf } from "./source.ts";

/** What is known only when the scan is built. */
type Later = () => Tensor;

export class StepSums {
  /** Values that the scan must stack, in terms of its body. */
  readonly emitted: Tensor[] = [];
  /** Of `emitted`, stacked; set when the scan is built. */
  stacked: readonly Tensor[] = [];
  readonly #given: ReadonlyMap<Tensor, Tensor>;
  readonly #length: Dim;

  /** `given` has what is stacked already, by the value of one step. */
  constructor(given: ReadonlyMap<Tensor, Tensor>, length: Dim) {
    this.#given = given;
    this.#length = length;
  }

  /** For each value the terms that are summed outside, and those that the scan adds up. */
  split(values: readonly (Tensor | undefined)[]): { outside: Later[]; rest: Tensor[] }[] {
    const all = values.map((v) => (v ? termsOf(v) : []));
    // Products first: what they stack, sums may take too.
    const products = all.map((terms) => terms.map((t) => this.#product(t)));
    return all.map((terms, i) => {
      const later = terms.map((t, k) => products[i]![k] ?? this.#sum(t));
      return {
        outside: later.filter((l) => l !== undefined),
        rest: terms.filter((_, k) => !later[k]),
      };
    });
  }

  #product(t: Tensor): Later | undefined {
    if (isOp(t, "dotGeneral")) return this.#dot(t);
    return this.#through(t, (x) => this.#product(x));
  }

  /** Σ over the steps of a value that is stacked anyway, or of a sum of its elements. */
  #sum(t: Tensor): Later | undefined {
    const reduced = t.op === "reduceSum" ? t.operands[0]! : t;
    const axes = isOp(t, "reduceSum") ? t.attrs.axes.map((a) => a + 1) : [];
    if (!this.#given.has(reduced) && !this.emitted.includes(reduced))
      return this.#through(t, (x) => this.#sum(x));
    const x = this.#stack(reduced);
    return () => apply("reduceSum", [x()], { axes: [0, ...axes] });
  }

  /** Linear index arithmetic is the same for the sum. */
  #through(t: Tensor, sum: (x: Tensor) => Later | undefined): Later | undefined {
    const [x, ...others] = t.operands;
    const padded = t.op === "pad" && constantValueOf(others[0]!) === 0;
    if (!padded && t.op !== "transpose" && t.op !== "reshape" && t.op !== "neg") return undefined;
    const inner = sum(x!);
    return inner && (() => apply(t.op, [inner(), ...others], t.attrs, t));
  }

  /** The product over all steps: each factor's axes come after that of the steps, which is summed over. */
  #dot(t: NodeOf<"dotGeneral">): Later | undefined {
    const [a, b] = t.operands as [Tensor, Tensor];
    if (!this.#pays(t, [a, b])) return undefined;
    const [x, y] = [this.#stack(a), this.#stack(b)];
    const after = (name: keyof OpAttrs["dotGeneral"]) => t.attrs[name].map((axis) => axis + 1);
    const attrs = {
      lhsBatch: after("lhsBatch"),
      rhsBatch: after("rhsBatch"),
      lhsContract: [0, ...after("lhsContract")],
      rhsContract: [0, ...after("rhsContract")],
    };
    return () => apply("dotGeneral", [x(), y()], attrs);
  }

  /** False if stacking the factors moves more than adding up the products. */
  #pays(t: Tensor, factors: readonly Tensor[]): boolean {
    const made = factors.filter(
      (x) => !this.#given.has(root(x)) && !this.emitted.includes(root(x)),
    );
    const sizes = [t, ...made].map((x) => sizeOf(x.shape));
    if (!sizes.every(isStatic)) return true;
    const [sum, ...stacked] = sizes as number[];
    return stacked.reduce((n, size) => n + size, 0) <= sum!;
  }

  #stack(t: Tensor): Later {
    const given = this.#given.get(t);
    if (given) return () => given;
    if (t.op === "reshape" || t.op === "transpose") {
      const inner = this.#stack(t.operands[0]!);
      const shape = [this.#length, ...t.shape];
      const moved = isOp(t, "transpose") && { perm: [0, ...t.attrs.perm.map((axis) => axis + 1)] };
      const attrs = moved || {};
      return () => apply(t.op, [inner()], attrs, { dtype: t.dtype, shape });
    }
    const known = this.emitted.indexOf(t);
    const at = known >= 0 ? known : this.emitted.push(t) - 1;
    return () => this.stacked[at]!;
  }
}

/** What is stacked for a value. */
const root = (t: Tensor): Tensor =>
  t.op === "reshape" || t.op === "transpose" ? root(t.operands[0]!) : t;

const termsOf = (t: Tensor): Tensor[] => (t.op === "add" ? t.operands.flatMap(termsOf) : [t]);
