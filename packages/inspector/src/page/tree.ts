/**
 * Kernels as a tree of clusters, by module path; levels that are too wide are cut into runs of steps. So a view never lays out
 * more than a few dozen boxes at a time, however many kernels there are.
 */
import type { Inspection } from "../schema.ts";

export interface Leaf {
  readonly kernel: number;
  readonly parent: Cluster;
}

export interface Cluster {
  readonly label: string;
  /** The module it is, if it is one. */
  readonly module?: string;
  readonly parent: Cluster | undefined;
  readonly children: Box[];
  /** The kernels in it, in order. */
  readonly kernels: number[];
  /** Between children: how many values go from one to the other. */
  readonly edges: Map<Box, Map<Box, number>>;
}

export type Box = Leaf | Cluster;

export const isCluster = (box: Box): box is Cluster => "children" in box;

/** Children of a level at most; more are cut into runs of this many. */
export const widestLevel = 60;
const run = 40;

export interface Tree {
  readonly root: Cluster;
  readonly leaves: readonly Leaf[];
}

export function treeOf({ kernels, edges, name }: Inspection): Tree {
  const root = cluster(name, undefined);
  const leaves: Leaf[] = [];
  const modules = kernels.some((k) => k.module !== undefined);
  const outside = modules && kernels.some((k) => k.module === undefined);
  for (const [kernel, { module }] of kernels.entries()) {
    const path = module?.split(".") ?? (outside ? ["outside of modules"] : []);
    let at = root;
    for (const [i, part] of path.entries())
      at = childOf(at, part, module === undefined ? undefined : path.slice(0, i + 1).join("."));
    const leaf = { kernel, parent: at };
    at.children.push(leaf);
    leaves[kernel] = leaf;
  }
  const shaped = shape(root, undefined, leaves);
  fill(shaped);
  for (const { from, to } of edges) lift(leaves[from]!, leaves[to]!);
  return { root: shaped, leaves };
}

function cluster(label: string, parent: Cluster | undefined, module?: string): Cluster {
  const named = module === undefined ? {} : { module };
  return { label, ...named, parent, children: [], kernels: [], edges: new Map() };
}

function childOf(at: Cluster, label: string, module: string | undefined): Cluster {
  const known = at.children.find((c) => isCluster(c) && c.label === label) as Cluster | undefined;
  if (known) return known;
  const made = cluster(label, at, module);
  at.children.push(made);
  return made;
}

/** The same cluster with chains of single clusters as one, and wide levels cut. Leaves get their new parents. */
function shape(from: Cluster, parent: Cluster | undefined, leaves: Leaf[]): Cluster {
  let [last, label] = [from, from.label];
  for (let only = last.children; only.length === 1 && isCluster(only[0]!); only = last.children) {
    last = only[0]!;
    label = `${label}.${last.label}`;
  }
  const made = cluster(label, parent, last.module);
  place(last.children, made, leaves);
  return made;
}

function place(children: readonly Box[], into: Cluster, leaves: Leaf[]): void {
  const first = (box: Box): number => (isCluster(box) ? leastOf(box) : box.kernel);
  const sorted = [...children].sort((a, b) => first(a) - first(b));
  if (sorted.length > widestLevel) {
    const size = Math.max(run, Math.ceil(sorted.length / widestLevel));
    for (let i = 0; i < sorted.length; i += size) {
      const part = sorted.slice(i, i + size);
      const end = first(part.at(-1)!);
      const made = cluster(`from step ${first(part[0]!)} to ${end}`, into);
      into.children.push(made);
      place(part, made, leaves);
    }
    return;
  }
  for (const box of sorted) {
    if (isCluster(box)) into.children.push(shape(box, into, leaves));
    else {
      const leaf = { kernel: box.kernel, parent: into };
      leaves[box.kernel] = leaf;
      into.children.push(leaf);
    }
  }
}

const leastOf = (c: Cluster): number =>
  c.children.reduce((least, b) => Math.min(least, isCluster(b) ? leastOf(b) : b.kernel), Infinity);

function fill(c: Cluster): void {
  for (const box of c.children) {
    if (isCluster(box)) fill(box);
    c.kernels.push(...(isCluster(box) ? box.kernels : [box.kernel]));
  }
  c.kernels.sort((a, b) => a - b);
}

export function pathOf(box: Box): Box[] {
  const path: Box[] = [];
  for (let at: Box | undefined = box; at; at = at.parent) path.unshift(at);
  return path;
}

/** Notes an edge between kernels where their ways from the root part. */
function lift(from: Leaf, to: Leaf): void {
  const [a, b] = [pathOf(from), pathOf(to)];
  let i = 0;
  while (a[i] === b[i]) i++;
  const edges = (a[i - 1] as Cluster).edges;
  const row = edges.get(a[i]!) ?? new Map<Box, number>();
  edges.set(a[i]!, row.set(b[i]!, (row.get(b[i]!) ?? 0) + 1));
}
