/**
 * The flags of an ONNX model's program: one result more, which says whose 64-bit integers did not fit into the 32 bits that hold them.
 */
import { DtypeError, fromHost, type Tensor } from "@kiln-ml/ir";
import { beyond, type Check, flagsOf, outermost } from "@kiln-ml/onnx";

/** No name in a file begins with a space. */
const flagsName = " overflow";

/** The checks that a program with these inputs can make, and the result that it has more. */
export function flagged(
  checks: readonly Check[],
  inputs: readonly Tensor[],
): { readonly checks: readonly Check[]; readonly result?: Record<string, Tensor> } {
  const own = outermost(checks, new Set(inputs));
  return own.length > 0 ? { checks: own, result: { [flagsName]: flagsOf(own) } } : { checks: own };
}

/** Throws DtypeError that names the first node whose integers do not fit. */
export async function lookAt(
  checks: readonly Check[] = [],
  results: Readonly<Record<string, Tensor | Tensor[]>>,
): Promise<void> {
  const flags = results[flagsName] as Tensor | undefined;
  if (!flags) return;
  const check = checks[(await numbersOf(flags)).findIndex((v) => v !== 0)];
  if (check) throw new DtypeError(beyond(check.where, check.type));
}

/** The elements of a tensor that was computed, as numbers. */
export async function numbersOf(t: Tensor): Promise<readonly number[]> {
  const values = Array.from(fromHost(t.dtype, await t.data()));
  t.dispose();
  return values;
}
