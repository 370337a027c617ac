/**
 * What tells a program from all others as a text: everything that decides its artifact but the
 * name. Nodes stand in the order in which the compiler meets them, so that the text depends on
 * nothing that was built before. Looks at no values of leaves, since the compiler does not either.
 */
import type { CompileOptions, Program } from "@kiln-ml/compiler";
import { rootsOf } from "@kiln-ml/compiler/program";
import { attrKey, keyOfDim, type Shape, type Tensor, topologicalOrder } from "@kiln-ml/ir";

/** Options that decide what a program is compiled to. */
export type KeyOptions = Omit<CompileOptions, "name" | "observe" | "verify" | "refused">;

/** Undefined for a program that is part of another. */
export function programKey(program: Program, options: KeyOptions): string | undefined {
  if (program.outputs.some((o) => o.within)) return undefined;
  const text = new GraphText();
  text.visit(rootsOf(program));
  const numbers = (list: readonly Tensor[]) => list.map((t) => text.numberOf(t));
  const { inputs, outputs, updates, requirements = [] } = program;
  const ends = [
    numbers(inputs),
    outputs.map(({ name, value }) => [name, text.numberOf(value)]),
    updates.map((pair) => numbers(pair)),
    requirements.map((r) => [keyOfDim(r.value), r.text]),
  ];
  return [optionsKey(options), ...text.lines, JSON.stringify(ends)].join("\n");
}

const sorted = (record: object | undefined) => record && Object.entries(record).sort(byName);
const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

function optionsKey(options: KeyOptions): string {
  // An option that this table does not know is a mistake of types: it might decide the text of
  // kernels.
  const { target, fusion = true, rounding = "on-store", limits, features = [], tuning } = options;
  return JSON.stringify([target, fusion, rounding, sorted(limits), features, sorted(tuning)]);
}

const shapeKey = (shape: Shape): string => `[${shape.map(keyOfDim)}]`;

class GraphText {
  readonly lines: string[] = [];
  readonly #numbers = new Map<Tensor, number>();

  /** The line of a node, which gets one if it has none. */
  numberOf(t: Tensor): number {
    if (!this.#numbers.has(t)) this.visit([t]);
    return this.#numbers.get(t)!;
  }

  visit(roots: readonly Tensor[]): void {
    for (const t of topologicalOrder(roots, (n) => this.#numbers.has(n)))
      if (!this.#numbers.has(t)) this.#add(t);
  }

  #add(t: Tensor): void {
    const regions = t.regions.map(({ params, results }) => {
      const from = params.map((p) => this.numberOf(p));
      return `{${from}:${results.map((r) => this.numberOf(r))}}`;
    });
    const operands = t.operands.map((x) => this.#numbers.get(x));
    const several = (t.results ?? []).map((r) => r.dtype + shapeKey(r.shape));
    this.#numbers.set(t, this.lines.length);
    this.lines.push(
      `${t.op}(${operands})${attrKey(t.attrs)}${t.dtype}${shapeKey(t.shape)}${several}${regions}`,
    );
  }
}
