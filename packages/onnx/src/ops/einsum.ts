/**
 * Einsum: sums of products by letters. Operands are joined from left to right; a letter is summed as soon as nothing needs it.
 */
import {
  type Dim,
  dotGeneral,
  iota,
  printShape,
  promote,
  reshape,
  sameDim,
  select,
  type Tensor,
  transpose,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { range } from "./operands.ts";

/** A tensor whose axes have names: letters, or "~k" for the k-th axis from the right behind an ellipsis. */
interface Named {
  readonly tensor: Tensor;
  readonly names: readonly string[];
}

/** The names in a term; `behind` is how many axes its ellipsis stands for. */
function namesIn(n: NodeContext, term: string, behind: number): string[] {
  const [before, after, more] = term.split("...");
  if (more !== undefined || !/^[A-Za-z]*$/.test(before! + (after ?? "")))
    return n.fail(`term "${term}" is not made of letters and one ellipsis`);
  if (after === undefined) return [...before!];
  return [...before!, ...range(behind).map((i) => `~${behind - 1 - i}`), ...after];
}

const lettersIn = (term: string): number => term.replace("...", "").length;

interface Equation {
  readonly inputs: readonly (readonly string[])[];
  readonly output: readonly string[];
}

function parse(n: NodeContext, ranks: readonly number[]): Equation {
  const [left, right] = n.string("equation").replaceAll(" ", "").split("->");
  const terms = left!.split(",");
  if (terms.length !== ranks.length)
    return n.fail(`the equation has ${terms.length} terms for ${ranks.length} inputs`);
  const behind = terms.map((t, i) => (t.includes("...") ? ranks[i]! - lettersIn(t) : 0));
  const inputs = terms.map((t, i) => {
    const names = namesIn(n, t, Math.max(0, behind[i]!));
    return names.length === ranks[i]
      ? names
      : n.fail(`term "${t}" does not name the ${ranks[i]} axes of input ${i}`);
  });
  const most = Math.max(0, ...behind);
  if (right !== undefined) return { inputs, output: namesIn(n, right, most) };
  const all = inputs.flat();
  const once = all.filter((c) => !c.startsWith("~") && all.indexOf(c) === all.lastIndexOf(c));
  return { inputs, output: [...namesIn(n, "...", most), ...once.sort()] };
}

/** The diagonal of axes that have one name. */
function diagonal({ tensor, names }: Named): Named {
  const second = names.findIndex((c, i) => names.indexOf(c) < i);
  if (second < 0) return { tensor, names };
  const first = names.indexOf(names[second]!);
  const same = iota(tensor.shape, first).equal(iota(tensor.shape, second));
  const kept = select(same, tensor, 0).sum(second);
  return diagonal({ tensor: kept, names: names.filter((_, i) => i !== second) });
}

/** Without the axes of extent 1 that another operand stretches, and without those that nothing else needs. */
function trimmed(t: Named, extents: ReadonlyMap<string, Dim>, needed: ReadonlySet<string>): Named {
  const stretched = t.names.map((c, i) => t.tensor.shape[i] === 1 && extents.get(c) !== 1);
  const shape = t.tensor.shape.filter((_, i) => !stretched[i]);
  const names = t.names.filter((_, i) => !stretched[i]);
  const lone = range(names.length).filter((i) => !needed.has(names[i]!));
  const tensor = reshape(t.tensor, shape);
  return {
    tensor: lone.length ? tensor.sum(lone) : tensor,
    names: names.filter((c) => needed.has(c)),
  };
}

/** x with its axes in the order of `names`, and an axis of extent 1 for each that it lacks. */
function aligned({ tensor, names: own }: Named, names: readonly string[]): Tensor {
  const present = names.filter((c) => own.includes(c));
  const turned = transpose(
    tensor,
    present.map((c) => own.indexOf(c)),
  );
  let next = 0;
  return reshape(
    turned,
    names.map((c) => (own.includes(c) ? turned.shape[next++]! : 1)),
  );
}

/** The product of two operands; letters that both have and nothing else needs are summed. */
function joined(a: Named, b: Named, needed: ReadonlySet<string>): Named {
  const shared = a.names.filter((c) => b.names.includes(c));
  const contracted = shared.filter((c) => !needed.has(c));
  const batch = shared.filter((c) => needed.has(c));
  const free = (t: Named) => t.names.filter((c) => !shared.includes(c));
  const names = [...batch, ...free(a), ...free(b)];
  if (!contracted.length) return { tensor: aligned(a, names).mul(aligned(b, names)), names };
  const axes = (t: Named, list: readonly string[]) => list.map((c) => t.names.indexOf(c));
  const tensor = dotGeneral(a.tensor, b.tensor, {
    lhsBatch: axes(a, batch),
    rhsBatch: axes(b, batch),
    lhsContract: axes(a, contracted),
    rhsContract: axes(b, contracted),
  });
  return { tensor, names };
}

/** The extent of each name; extents of 1 are stretched. Throws GraphError for two others that differ. */
function extentsOf(n: NodeContext, all: readonly Named[]): Map<string, Dim> {
  const extents = new Map<string, Dim>();
  for (const { tensor, names } of all)
    for (const [i, c] of names.entries()) {
      const [d, before] = [tensor.shape[i]!, extents.get(c)];
      if (before === undefined || before === 1) extents.set(c, d);
      else if (d !== 1 && !sameDim(before, d))
        n.fail(`the extents of "${c}" are ${printShape([before])} and ${printShape([d])}`);
    }
  return extents;
}

function einsum(n: NodeContext): Tensor {
  const tensors = n.tensors();
  const dtype = tensors.map((t) => t.dtype).reduce(promote);
  const { inputs, output } = parse(
    n,
    tensors.map((t) => t.rank),
  );
  const all = tensors.map((t, i) => diagonal({ tensor: t.convert(dtype), names: inputs[i]! }));
  const extents = extentsOf(n, all);
  const neededFrom = (i: number, also: readonly Named[] = []): Set<string> =>
    new Set([...output, ...also.flatMap((t) => t.names), ...all.slice(i).flatMap((t) => t.names)]);
  const trim = (i: number) => trimmed(all[i]!, extents, neededFrom(i + 1, all.slice(0, i)));
  let product = trim(0);
  for (let i = 1; i < all.length; i++) product = joined(product, trim(i), neededFrom(i + 1));
  const rest = range(product.names.length).filter((i) => !output.includes(product.names[i]!));
  const summed = rest.length ? product.tensor.sum(rest) : product.tensor;
  const names = product.names.filter((c) => output.includes(c));
  const missing = output.find((c) => !names.includes(c));
  if (missing !== undefined) return n.fail(`no input has "${missing}" of the output`);
  return aligned({ tensor: summed, names }, output);
}

export const einsumRows: readonly Row[] = [row("Einsum", einsum, { wraps: true })];
