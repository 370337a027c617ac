/**
 * Names of one model → names of another, by pattern. Only names change here; what must also be cut or joined is an
 * adapter's.
 */
import type { Constant } from "@kiln-ml/artifact";
import { GraphError } from "@kiln-ml/ir/errors";
import { quoted } from "./reading.ts";

/**
 * What a match becomes, as in `String.replace`: `[/^encoder\.(\d+)/, "blocks.$1"]`. A string matches itself, once. Null
 * leaves the tensor out.
 */
export type RenameRule = readonly [RegExp | string, string | null];

export type Tensors = Readonly<Record<string, Constant>>;

/** The name after all rules in turn, each on what the one before made of it; null if one leaves it out. */
export function rename(name: string, rules: readonly RenameRule[]): string | null {
  let now = name;
  for (const [pattern, to] of rules) {
    if (to !== null) now = now.replace(pattern, to);
    else if (typeof pattern === "string" ? now.includes(pattern) : now.search(pattern) >= 0)
      return null;
  }
  return now;
}

/** The tensors under their new names. Throws GraphError where two come to have one name. */
export function remapTensors(
  tensors: Tensors,
  rules: readonly RenameRule[],
): Record<string, Constant> {
  const renamed = new Map<string, Constant>();
  const before = new Map<string, string>();
  for (const [name, t] of Object.entries(tensors)) {
    const to = rename(name, rules);
    if (to === null) continue;
    const other = before.get(to);
    if (other !== undefined)
      throw new GraphError(`remap: ${quoted(other)} and ${quoted(name)} both become ${quoted(to)}`);
    before.set(to, name);
    renamed.set(to, t);
  }
  return Object.fromEntries(renamed);
}
