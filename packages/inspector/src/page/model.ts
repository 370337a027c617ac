/** What views ask of an inspection: names of nodes and kernels, and edges by kernel. */
import type { InspectedEdge, InspectedNode, Inspection, ProfileRow } from "../schema.ts";

export class Model {
  readonly data: Inspection;
  readonly into: ReadonlyMap<number, readonly InspectedEdge[]>;
  readonly outOf: ReadonlyMap<number, readonly InspectedEdge[]>;
  readonly times: ReadonlyMap<number, ProfileRow>;
  readonly #leaves: readonly (string | undefined)[];
  readonly #heat: readonly number[];

  constructor(data: Inspection) {
    this.data = data;
    this.into = grouped(data.edges, (e) => e.to);
    this.outOf = grouped(data.edges, (e) => e.from);
    this.times = new Map(data.profile?.rows.map((row) => [row.kernel, row]));
    this.#leaves = leafNames(data.nodes);
    const loads = data.kernels.map((k, i) => this.times.get(i)?.ms ?? k.bytes * k.times);
    const most = Math.max(...loads, 1e-12);
    this.#heat = loads.map((x) => x / most);
  }

  /** `%x` for what has a name, else `%12`. */
  nodeName(id: number): string {
    return `%${this.#leaves[id] ?? id}`;
  }

  nodeType(id: number): string {
    const { dtype, shape } = this.data.nodes[id]!;
    return `${dtype}${shape}`;
  }

  /** The node as a line of IR. */
  nodeLine(id: number): string {
    const { op, operands, attrs } = this.data.nodes[id]!;
    const from = operands.map((o) => ` ${this.nodeName(o)}`).join("");
    return `${this.nodeName(id)}: ${this.nodeType(id)} = ${op}${from}${attrs ? ` ${attrs}` : ""}`;
  }

  /** The kernel's time, or its bytes where nothing was timed, as a part of the most costly one's. */
  heat(kernel: number): number {
    return this.#heat[kernel] ?? 0;
  }

  /** What lies at a place of the plan. */
  placeName(place: { readonly in: string; readonly index: number }): string {
    const { inputs, outputs, states } = this.data.signature;
    const list = { input: inputs, output: outputs, state: states }[place.in];
    return `${place.in} ${list?.[place.index]?.name ?? place.index}`;
  }
}

function grouped<T>(list: readonly T[], keyOf: (x: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const x of list) {
    const group = groups.get(keyOf(x));
    if (group) group.push(x);
    else groups.set(keyOf(x), [x]);
  }
  return groups;
}

function leafNames(nodes: readonly InspectedNode[]): (string | undefined)[] {
  const used = new Set<string>();
  return nodes.map(({ name: stem }) => {
    if (stem === undefined) return undefined;
    let name = stem;
    for (let i = 1; used.has(name); i++) name = `${stem}.${i}`;
    used.add(name);
    return name;
  });
}
