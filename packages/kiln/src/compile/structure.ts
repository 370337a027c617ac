/**
 * The structure of a graph as text, the key of kept programs: nodes by number, parameters by
 * identity, and everything that has a value already (data, results of earlier runs) by type only.
 * Equal keys mean one program serves both.
 */
import {
  attrKey,
  GraphError,
  inlineCalls,
  printShape,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";
import { storedOf } from "../devices/storage.ts";

export interface Structure {
  readonly key: string;
  /**
   * What stands for a value: data leaves and nodes whose value is known, in the order they are met.
   */
  readonly leaves: readonly Tensor[];
  readonly params: readonly Tensor[];
  /** How many nodes there are. */
  readonly nodes: number;
}

/** What is to be computed, without calls, and its structure. */
export interface Asked extends Structure {
  readonly roots: readonly Tensor[];
}

export function askedOf(values: readonly Tensor[], targets: readonly Tensor[] = []): Asked {
  const roots = inlineCalls(values, isValue);
  return { roots, ...structureOf(roots, targets) };
}

/**
 * The structure of what `roots` are computed from. Parameters count by identity, values by type and
 * number.
 */
export function structureOf(roots: readonly Tensor[], targets: readonly Tensor[] = []): Structure {
  const numbers = new Map<Tensor, number>();
  const leaves: Tensor[] = [];
  const params: Tensor[] = [];
  const lines: string[] = [];
  for (const t of topologicalOrder(roots, (n) => n.op === "param" || isValue(n))) {
    numbers.set(t, numbers.size);
    const type = `${t.dtype}${printShape(t.shape)}`;
    if (t.op === "param") {
      params.push(t);
      lines.push(`param#${t.id}`);
    } else if (isValue(t)) {
      leaves.push(t);
      lines.push(`value ${type}`);
    } else {
      checkComputable(t);
      const operands = t.operands.map((x) => numbers.get(x));
      const regions = t.regions.map(
        (g) => `#${g.params.map((p) => p.id)}:${g.results.map((r) => r.id)}`,
      );
      lines.push(`${t.op}(${operands})${attrKey(t.attrs)}${type}${regions}`);
    }
  }
  const ends = [roots.map((t) => numbers.get(t)), targets.map((t) => t.id)];
  const key = [...lines, ...ends.map(String)].join("\n");
  return { key, leaves, params, nodes: numbers.size };
}

/** True of what need not be computed. */
export const isValue = (t: Tensor): boolean => t.op === "data" || storedOf(t) !== undefined;

function checkComputable(t: Tensor): void {
  if (t.op === "input")
    throw new GraphError(
      `data: input ${String(t.attrs.name)} has a value only while the compiled function runs`,
    );
}
