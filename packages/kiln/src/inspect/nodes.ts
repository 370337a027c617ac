/** The nodes of an inspection: numbered in the order in which they are met, each once, whatever stage it is of. */
import type { InspectedNode } from "@kiln-ml/inspector";
import {
  type AttrValue,
  DimExpr,
  printDim,
  printShape,
  scopePath,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";

const named = new Set(["input", "param", "data"]);

export class NodeTable {
  readonly #tensors: Tensor[] = [];
  readonly #ids = new Map<Tensor, number>();
  readonly #kernels = new Map<Tensor, number[]>();

  /** The number of a node; what it is made of is numbered before it. */
  idOf(t: Tensor): number {
    const known = this.#ids.get(t);
    if (known !== undefined) return known;
    for (const x of topologicalOrder([t], (u) => this.#ids.has(u)))
      if (!this.#ids.has(x)) this.#ids.set(x, this.#tensors.push(x) - 1);
    return this.#ids.get(t)!;
  }

  idsOf(list: Iterable<Tensor>): number[] {
    return Array.from(list, (t) => this.idOf(t));
  }

  /** Notes that a kernel computes a node. */
  computedIn(t: Tensor, kernel: number): void {
    this.idOf(t);
    const list = this.#kernels.get(t) ?? [];
    if (list.at(-1) !== kernel) list.push(kernel);
    this.#kernels.set(t, list);
  }

  nodes(final: ReadonlySet<Tensor>, place: (site: string) => string): InspectedNode[] {
    return this.#tensors.map((t) => {
      const { name, ...rest } = t.attrs;
      const attrs = attrsText(named.has(t.op) ? rest : t.attrs);
      const module = scopePath(t.scope);
      return {
        op: t.op,
        operands: t.operands.map((o) => this.#ids.get(o)!),
        ...(attrs ? { attrs } : {}),
        dtype: t.dtype,
        shape: printShape(t.shape),
        ...(named.has(t.op) ? { name: String(name ?? "data") } : {}),
        ...(module ? { module } : {}),
        ...(t.site ? { site: place(t.site) } : {}),
        kernels: this.#kernels.get(t) ?? [],
        final: final.has(t),
      };
    });
  }
}

function attrsText(attrs: Readonly<Record<string, AttrValue>>): string {
  const list = Object.entries(attrs).map(([k, v]) => `${k}=${attrText(v)}`);
  return list.length ? `{${list.join(", ")}}` : "";
}

/** As in the IR. What prints graphs would come along into every page that compiles. */
function attrText(value: AttrValue): string {
  if (value instanceof DimExpr) return printDim(value);
  if (Array.isArray(value)) return `[${value.map(attrText).join(", ")}]`;
  if (typeof value === "object") return attrsText(value as Readonly<Record<string, AttrValue>>);
  if (typeof value === "string") return JSON.stringify(value);
  return Object.is(value, -0) ? "-0" : String(value);
}
