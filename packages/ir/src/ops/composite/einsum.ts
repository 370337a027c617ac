/**
 * Einsum: sums of products by letters. Operands are joined two by two, the cheapest pair first; a
 * letter is summed as soon as nothing else needs it, so that every join is one dotGeneral or one
 * product.
 */
import { type Dim, isStatic, sameDim } from "../../dim.ts";
import { promote } from "../../dtype.ts";
import { GraphError, ShapeError } from "../../errors.ts";
import { kindOf } from "../../kind.ts";
import type { Tensor } from "../../node.ts";
import { printShape } from "../../shape.ts";
import { checkTensor, range } from "../apply.ts";
import { dotGeneral } from "../contraction.ts";
import { select } from "../elementwise/compare.ts";
import { convert } from "../elementwise/convert.ts";
import { reshape, transpose } from "../movement.ts";
import { sum } from "../reduce.ts";
import { iota } from "../source.ts";

/**
 * A tensor whose axes have names: letters, or "~k" for the k-th axis from the right behind an
 * ellipsis.
 */
interface Named {
  readonly tensor: Tensor;
  readonly names: readonly string[];
}

type Extents = ReadonlyMap<string, Dim>;

interface Equation {
  readonly inputs: readonly (readonly string[])[];
  readonly output: readonly string[];
}

/** The names in a term; `behind` is how many axes its ellipsis stands for. */
function namesIn(term: string, behind: number): string[] {
  const [before, after, more] = term.split("...");
  if (more !== undefined || !/^[A-Za-z]*$/.test(before! + (after ?? "")))
    throw new GraphError(`einsum: term "${term}" is not made of letters and one ellipsis`);
  if (after === undefined) return [...before!];
  return [...before!, ...range(behind).map((i) => `~${behind - 1 - i}`), ...after];
}

/**
 * Without an arrow the result has the axes of the ellipsis, then the letters that appear once, in
 * order.
 */
function parse(equation: string, ranks: readonly number[]): Equation {
  const [left, right, more] = equation.replaceAll(" ", "").split("->");
  if (more !== undefined) throw new GraphError(`einsum: "${equation}" has more than one ->`);
  const terms = left!.split(",");
  if (terms.length !== ranks.length)
    throw new GraphError(
      `einsum: the equation has ${terms.length} terms for ${ranks.length} inputs\n  give a term for each input, commas between`,
    );
  const behind = terms.map((t, i) =>
    t.includes("...") ? ranks[i]! - t.replace("...", "").length : 0,
  );
  const inputs = terms.map((t, i) => {
    const names = namesIn(t, Math.max(0, behind[i]!));
    if (names.length === ranks[i]) return names;
    throw new ShapeError(`einsum: term "${t}" does not name the ${ranks[i]} axes of input ${i}`);
  });
  const most = Math.max(0, ...behind);
  const all = inputs.flat();
  const once = all.filter((c) => !c.startsWith("~") && all.indexOf(c) === all.lastIndexOf(c));
  const output =
    right === undefined ? [...namesIn("...", most), ...once.sort()] : namesIn(right, most);
  checkOutput(output, all);
  return { inputs, output };
}

function checkOutput(output: readonly string[], all: readonly string[]): void {
  const missing = output.find((c) => !all.includes(c));
  if (missing !== undefined)
    throw new GraphError(`einsum: no input has "${missing}" of the output`);
  const twice = output.find((c, i) => output.indexOf(c) < i);
  if (twice !== undefined) throw new GraphError(`einsum: the output names "${twice}" twice`);
}

/** The diagonal of axes that have one name. */
function diagonal({ tensor, names }: Named): Named {
  const second = names.findIndex((c, i) => names.indexOf(c) < i);
  if (second < 0) return { tensor, names };
  const first = names.indexOf(names[second]!);
  const [a, b] = [tensor.shape[first]!, tensor.shape[second]!];
  if (!sameDim(a, b))
    throw new ShapeError(
      `einsum: "${names[second]}" names two extents of one input: ${printShape([a])} and ${printShape([b])}`,
    );
  const same = iota(tensor.shape, first).equal(iota(tensor.shape, second));
  const kept = sum(select(same, tensor, 0), second);
  return diagonal({ tensor: kept, names: names.filter((_, i) => i !== second) });
}

/**
 * Without the axes of extent 1 that another operand stretches, and without those that nothing else
 * needs.
 */
function trimmed(t: Named, extents: Extents, needed: ReadonlySet<string>): Named {
  const stretched = t.names.map((c, i) => t.tensor.shape[i] === 1 && extents.get(c) !== 1);
  const names = t.names.filter((_, i) => !stretched[i]);
  const tensor = reshape(
    t.tensor,
    t.tensor.shape.filter((_, i) => !stretched[i]),
  );
  const lone = range(names.length).filter((i) => !needed.has(names[i]!));
  return lone.length
    ? { tensor: sum(tensor, lone), names: names.filter((c) => needed.has(c)) }
    : { tensor, names };
}

/** x with its axes in the order of `names`, and an axis of extent 1 for each that it lacks. */
function aligned({ tensor, names: own }: Named, names: readonly string[]): Tensor {
  const order = names.filter((c) => own.includes(c)).map((c) => own.indexOf(c));
  const turned = order.every((p, i) => p === i) ? tensor : transpose(tensor, order);
  let next = 0;
  return reshape(
    turned,
    names.map((c) => (own.includes(c) ? turned.shape[next++]! : 1)),
  );
}

/**
 * The names of a product of a and b: what both have and something needs, then what one of them has.
 */
function namesOfJoin(a: Named, b: Named, needed: ReadonlySet<string>) {
  const shared = a.names.filter((c) => b.names.includes(c));
  const batch = shared.filter((c) => needed.has(c));
  const free = (t: Named) => t.names.filter((c) => !shared.includes(c));
  return {
    contracted: shared.filter((c) => !needed.has(c)),
    batch,
    names: [...batch, ...free(a), ...free(b)],
  };
}

/** How many neighbours of `names` stand in another order than in `output`. */
const disorder = (names: readonly string[], output: readonly string[]): number =>
  names.filter((c, i) => i > 0 && output.indexOf(c) < output.indexOf(names[i - 1]!)).length;

/** The product of two operands; letters that both have and nothing else needs are summed. */
function joined(x: Named, y: Named, needed: ReadonlySet<string>, output: readonly string[]): Named {
  // The side whose axes come first in the result is the left one: no transpose where there is such
  // a side.
  const turn =
    disorder(namesOfJoin(y, x, needed).names, output) <
    disorder(namesOfJoin(x, y, needed).names, output);
  const [a, b] = turn ? [y, x] : [x, y];
  const { contracted, batch, names } = namesOfJoin(a, b, needed);
  if (!contracted.length) {
    const order = names.every((c) => output.includes(c))
      ? output.filter((c) => names.includes(c))
      : names;
    return { tensor: aligned(a, order).mul(aligned(b, order)), names: order };
  }
  const axes = (t: Named, list: readonly string[]) => list.map((c) => t.names.indexOf(c));
  const tensor = dotGeneral(a.tensor, b.tensor, {
    lhsBatch: axes(a, batch),
    rhsBatch: axes(b, batch),
    lhsContract: axes(a, contracted),
    rhsContract: axes(b, contracted),
  });
  return { tensor, names };
}

/**
 * The extent of each name; extents of 1 are stretched. Throws ShapeError for two others that
 * differ.
 */
function extentsOf(all: readonly Named[]): Map<string, Dim> {
  const extents = new Map<string, Dim>();
  for (const { tensor, names } of all)
    for (const [i, c] of names.entries()) {
      const [d, before] = [tensor.shape[i]!, extents.get(c)];
      if (before === undefined || before === 1) extents.set(c, d);
      else if (d !== 1 && !sameDim(before, d))
        throw new ShapeError(
          `einsum: the extents of "${c}" are ${printShape([before])} and ${printShape([d])}`,
        );
    }
  return extents;
}

const neededBy = (output: readonly string[], others: readonly Named[]): Set<string> =>
  new Set([...output, ...others.flatMap((t) => t.names)]);

/**
 * Multiplications of a join and elements of its result, a symbol counted as 1024: a guess that is
 * the same in every run.
 */
function costOf(pair: readonly Named[], rest: ReadonlySet<string>, extents: Extents): number {
  const size = (names: Iterable<string>): number => {
    let product = 1;
    for (const c of names) {
      const d = extents.get(c)!;
      product *= isStatic(d) ? Math.max(d, 1) : 1024;
    }
    return product;
  };
  const all = [...new Set(pair.flatMap((t) => t.names))];
  return size(all) + size(all.filter((c) => rest.has(c)));
}

/** The places of the pair whose join costs least; of equals, the first. */
function cheapest(
  all: readonly Named[],
  output: readonly string[],
  extents: Extents,
): [number, number] {
  let [best, cost] = [[0, 1] as [number, number], Number.POSITIVE_INFINITY];
  for (let i = 0; i < all.length; i++)
    for (let j = i + 1; j < all.length; j++) {
      const rest = all.filter((_, k) => k !== i && k !== j);
      const own = costOf([all[i]!, all[j]!], neededBy(output, rest), extents);
      if (own < cost) [best, cost] = [[i, j], own];
    }
  return best;
}

/**
 * Einstein's sums: y[output] = Σ Π operands, over every letter that the output lacks. A letter
 * names an axis; one that stands twice in a term takes the diagonal; `...` stands for axes that
 * broadcast. Without `->` the output has the axes of `...`, then the letters that appear once, in
 * alphabetical order.
 *
 * Operands of any dtypes, promoted → one axis for each letter of the output. A product of two
 * operands is one dotGeneral; of more, the pair that takes fewest multiplications is joined first.
 * Extents of one letter are equal, or 1. Throws GraphError for a term or output that names no axis,
 * ShapeError where ranks or extents do not fit. `torch.einsum`, `numpy.einsum`.
 *
 * @param equation Terms of letters, and the output after `->`.
 * @param operands A tensor for each term.
 * @example
 *   const x = tensor([[1, 2], [3, 4]]);
 *   einsum("ii", x) // 5; the trace
 *   einsum("ij,j->i", x, tensor([1, 10])) // [21, 43]
 *   einsum("bqhd,bkhd->bhqk", ones([1, 5, 2, 4]), ones([1, 7, 2, 4])).shape // [1, 2, 5, 7]
 */
export function einsum(equation: string, ...operands: readonly Tensor[]): Tensor {
  if (typeof equation !== "string")
    throw new GraphError(`einsum: the equation must be text, got ${kindOf(equation)}`);
  if (!operands.length) throw new GraphError("einsum: no operands\n  pass one tensor or more");
  for (const t of operands) checkTensor("einsum", t);
  const dtype = operands.map((t) => t.dtype).reduce(promote);
  const { inputs, output } = parse(
    equation,
    operands.map((t) => t.rank),
  );
  const named = operands.map((t, i) => diagonal({ tensor: convert(t, dtype), names: inputs[i]! }));
  const extents = extentsOf(named);
  let all = named.map((t, i) =>
    trimmed(t, extents, neededBy(output, [...named.slice(0, i), ...named.slice(i + 1)])),
  );
  while (all.length > 1) {
    const [i, j] = cheapest(all, output, extents);
    const rest = all.filter((_, k) => k !== i && k !== j);
    const product = joined(all[i]!, all[j]!, neededBy(output, rest), output);
    all = [...rest.slice(0, i), product, ...rest.slice(i)];
  }
  // Letters that came to stand alone when a partner of extent 1 was dropped.
  return aligned(trimmed(all[0]!, extents, new Set(output)), output);
}
