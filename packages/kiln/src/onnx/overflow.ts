/**
 * The flags of an ONNX model's program: one result more, which says whose 64-bit integers did not fit into the 32 bits that hold them.
 */
import { DtypeError, fromHost, type Tensor } from "@kiln-ml/ir";
import { beyond, type Check, flagsOf } from "@kiln-ml/onnx";

/** No name in a file begins with a space. */
const flagsName = " overflow";

/** The result more that a program with these checks has, if there are any. */
export const flagged = (checks: readonly Check[]): Record<string, Tensor> =>
  checks.length > 0 ? { [flagsName]: flagsOf(checks) } : {};

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
