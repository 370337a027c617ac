/** Places of boxes: each open cluster is laid out by itself by dagre, and is one box in the layout around it. */
import { Graph, layout } from "@dagrejs/dagre";
import { type Box, type Cluster, isCluster } from "./tree.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Placed extends Point {
  readonly box: Box;
  readonly width: number;
  readonly height: number;
  readonly open: boolean;
}

export interface Route {
  readonly from: Box;
  readonly to: Box;
  readonly count: number;
  readonly points: readonly Point[];
}

export interface Picture {
  /** Clusters before what is in them. */
  readonly boxes: readonly Placed[];
  readonly routes: readonly Route[];
  readonly width: number;
  readonly height: number;
}

export const kernelSize = { width: 176, height: 40 } as const;
export const clusterSize = { width: 190, height: 50 } as const;
const [head, margin] = [30, 16];

/** Layouts of one cluster are remembered: what is open in it decides them. */
export class Layouts {
  readonly #known = new Map<Cluster, { readonly key: string; readonly picture: Picture }>();

  picture(c: Cluster, isOpen: (c: Cluster) => boolean): Picture {
    const inner = new Map<Box, Picture>();
    for (const box of c.children)
      if (isCluster(box) && isOpen(box)) inner.set(box, this.picture(box, isOpen));
    const key = [...inner].map(([, p]) => `${p.boxes.length}:${p.width}x${p.height}`).join();
    const known = this.#known.get(c);
    const open = c.children.map((b) => (inner.has(b) ? 1 : 0)).join("");
    if (known?.key === open + key) return known.picture;
    const picture = arrange(c, inner);
    this.#known.set(c, { key: open + key, picture });
    return picture;
  }
}

function sizeOf(box: Box, inner: ReadonlyMap<Box, Picture>) {
  const own = inner.get(box);
  if (own) return { width: own.width + 2 * margin, height: own.height + head + margin };
  return isCluster(box) ? clusterSize : kernelSize;
}

function arrange(c: Cluster, inner: ReadonlyMap<Box, Picture>): Picture {
  const graph = new Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 34, ranker: "longest-path" });
  const id = new Map(c.children.map((box, i) => [box, String(i)]));
  for (const box of c.children) graph.setNode(id.get(box)!, { ...sizeOf(box, inner) });
  for (const [from, row] of c.edges)
    for (const to of row.keys()) graph.setEdge(id.get(from)!, id.get(to)!, {});
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const boxes: Placed[] = [];
  const routes: Route[] = [];
  for (const box of c.children) {
    const at = graph.node(id.get(box)!) as Point & { width: number; height: number };
    const [x, y] = [at.x - at.width / 2, at.y - at.height / 2];
    const own = inner.get(box);
    boxes.push({ box, x, y, width: at.width, height: at.height, open: own !== undefined });
    if (own) append(own, { x: x + margin, y: y + head }, boxes, routes);
  }
  for (const [from, row] of c.edges)
    for (const [to, count] of row) {
      const edge = graph.edge(id.get(from)!, id.get(to)!) as { points: readonly Point[] };
      routes.push({ from, to, count, points: edge.points });
    }
  return { boxes, routes, width: Math.max(width, 1), height: Math.max(height, 1) };
}

function append(own: Picture, by: Point, boxes: Placed[], routes: Route[]): void {
  const moved = (p: Point): Point => ({ x: p.x + by.x, y: p.y + by.y });
  for (const b of own.boxes) boxes.push({ ...b, ...moved(b) });
  for (const r of own.routes) routes.push({ ...r, points: r.points.map(moved) });
}
