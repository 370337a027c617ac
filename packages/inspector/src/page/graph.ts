/** The graph of kernels: clusters that open and close, edges between boxes, and only what is in sight in the document. */
import { bytes, count, milliseconds } from "./amounts.ts";
import { Camera, type Frame } from "./camera.ts";
import { h, svg } from "./dom.ts";
import { Layouts, type Picture, type Placed, type Point, type Route } from "./layout.ts";
import type { Model } from "./model.ts";
import { type Box, type Cluster, isCluster, pathOf, type Tree, treeOf } from "./tree.ts";

/** Boxes that are opened at the start, at most. */
const firstBoxes = 40;

export class GraphView {
  readonly element: HTMLElement;
  readonly #model: Model;
  readonly #tree: Tree;
  readonly #layouts = new Layouts();
  readonly #open = new Set<Cluster>();
  readonly #svg = svg("svg", { class: "graph", role: "group", "aria-label": "kernels" });
  readonly #scene = svg("g");
  readonly #camera: Camera;
  readonly #go: (hash: string) => void;
  #picture: Picture | undefined;
  #drawn = new Map<Placed | Route, SVGElement>();
  #selected: number | undefined;
  #due = 0;

  constructor(model: Model, go: (hash: string) => void) {
    this.#model = model;
    this.#go = go;
    this.#tree = treeOf(model.data);
    const arrow = svg("path", { d: "M0,0 L8,4 L0,8 z" });
    const marker = svg(
      "marker",
      {
        id: "arrow",
        viewBox: "0 0 8 8",
        refX: 7,
        refY: 4,
        markerWidth: 7,
        markerHeight: 7,
        orient: "auto",
      },
      arrow,
    );
    this.#svg.append(svg("defs", {}, marker), this.#scene);
    this.#camera = new Camera(this.#svg, () => this.#schedule());
    const button = (text: string, title: string, act: () => void) => {
      const made = h("button", { type: "button", title }, text);
      made.addEventListener("click", act);
      return made;
    };
    this.element = h(
      "section",
      { class: "view graph-view" },
      this.#svg as unknown as HTMLElement,
      h(
        "div",
        { class: "tools" },
        button("+", "larger (+)", () => this.#camera.zoom(1.3)),
        button("−", "smaller (-)", () => this.#camera.zoom(1 / 1.3)),
        button("fit", "all of it (0)", () => this.fit()),
        button("open all", "open every module", () => this.openAll()),
        button("fold", "fold every module", () => this.foldAll()),
      ),
      legend(model),
    );
    this.#openFirst();
  }

  /** Opens from the outside in, as long as all of a level can be seen. */
  #openFirst(): void {
    let [seen, level] = [this.#tree.root.children.length, [this.#tree.root]];
    this.#open.add(this.#tree.root);
    while (level.length) {
      const next = level.flatMap((c) => c.children).filter(isCluster);
      const inside = next.reduce((n, c) => n + c.children.length, 0);
      if (seen + inside > firstBoxes) return;
      for (const c of next) this.#open.add(c);
      seen += inside;
      level = next;
    }
  }

  get #now(): Picture {
    this.#picture ??= this.#layouts.picture(this.#tree.root, (c) => this.#open.has(c));
    return this.#picture;
  }

  fit(): void {
    this.#camera.fit(this.#now.width, this.#now.height);
  }

  zoom(by: number): void {
    this.#camera.zoom(by);
  }

  pan(dx: number, dy: number): void {
    this.#camera.pan(dx, dy);
  }

  openAll(): void {
    const enter = (c: Cluster): void => {
      this.#open.add(c);
      for (const box of c.children) if (isCluster(box)) enter(box);
    };
    enter(this.#tree.root);
    this.#changed();
    this.fit();
  }

  foldAll(): void {
    this.#open.clear();
    this.#open.add(this.#tree.root);
    this.#changed();
    this.fit();
  }

  /** Opens what a kernel is in, marks it and brings it into sight. */
  select(kernel: number | undefined, move: boolean): void {
    this.#selected = kernel;
    const leaf = kernel === undefined ? undefined : this.#tree.leaves[kernel];
    if (leaf && move) {
      for (const box of pathOf(leaf)) if (isCluster(box)) this.#open.add(box);
      this.#changed();
      const placed = this.#now.boxes.find((b) => b.box === leaf);
      if (placed && !(this.#camera.isReadable && inside(placed, this.#camera.frame)))
        this.#camera.center(placed);
    }
    this.#redraw();
  }

  /** Opens a module and brings it into sight; false where there is no such cluster. */
  showModule(module: string): boolean {
    const find = (c: Cluster): Cluster | undefined => {
      if (c.module === module) return c;
      for (const box of c.children) {
        const found = isCluster(box) ? find(box) : undefined;
        if (found) return found;
      }
      return undefined;
    };
    const found = find(this.#tree.root);
    if (!found) return false;
    for (const box of pathOf(found)) this.#open.add(box as Cluster);
    this.#changed();
    const placed = this.#now.boxes.find((b) => b.box === found);
    if (placed) this.#camera.center(placed);
    return true;
  }

  #toggle(c: Cluster): void {
    const before = this.#now.boxes.find((b) => b.box === c);
    if (!this.#open.delete(c)) this.#open.add(c);
    this.#changed();
    const after = this.#now.boxes.find((b) => b.box === c);
    // What was clicked on stays where it is.
    if (before && after)
      this.#camera.pan(
        (before.x - after.x) * this.#camera.scale,
        (before.y - after.y) * this.#camera.scale,
      );
  }

  #changed(): void {
    this.#picture = undefined;
    this.#redraw();
  }

  #redraw(): void {
    this.#scene.replaceChildren();
    this.#drawn = new Map();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#due) return;
    this.#due = requestAnimationFrame(() => {
      this.#due = 0;
      this.#draw();
    });
  }

  /** Brings the document to what is in sight. */
  #draw(): void {
    const { x, y, scale, frame } = this.#camera;
    this.#scene.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    this.#svg.classList.toggle("far", scale < 0.3);
    const { boxes, routes } = this.#now;
    const wanted = new Set<Placed | Route>();
    for (const box of boxes) if (touches(box, frame)) wanted.add(box);
    for (const route of routes) if (touches(around(route.points), frame)) wanted.add(route);
    for (const [item, element] of this.#drawn)
      if (!wanted.has(item)) {
        element.remove();
        this.#drawn.delete(item);
      }
    // Clusters below, then edges, then kernels: each is drawn over what it lies in.
    for (const item of wanted) {
      if (this.#drawn.has(item)) continue;
      const element = "points" in item ? this.#route(item) : this.#box(item);
      this.#drawn.set(item, element);
      this.#scene.append(element);
    }
  }

  #box(placed: Placed): SVGElement {
    const { box, x, y } = placed;
    const element = isCluster(box) ? this.#cluster(box, placed) : this.#kernel(box.kernel, placed);
    element.setAttribute("transform", `translate(${x} ${y})`);
    return element;
  }

  #cluster(c: Cluster, { width, height, open }: Placed): SVGElement {
    const n = c.kernels.length;
    const name = `${c.label}, ${n} kernel${n === 1 ? "" : "s"}`;
    const label = `${name}, ${open ? "open" : "folded"}`;
    const sum = this.#load(c.kernels);
    const element = svg(
      "g",
      {
        class: open ? "cluster open" : "cluster",
        tabindex: 0,
        role: "button",
        "aria-label": label,
        "aria-expanded": String(open),
      },
      svg("rect", { width, height, rx: 8 }),
      svg(
        "text",
        { x: 12, y: 20, class: "title" },
        short(`${open ? "▾" : "▸"} ${c.label}`, width - 24),
      ),
      !open &&
        svg(
          "text",
          { x: 12, y: 38, class: "note" },
          short(`${count(n)} kernels · ${sum}`, width - 24),
        ),
      svg("title", {}, `${name} · ${sum}`),
    );
    this.#act(element, () => this.#toggle(c));
    return element;
  }

  #load(kernels: readonly number[]): string {
    const { data, times } = this.#model;
    if (times.size) return milliseconds(kernels.reduce((n, k) => n + (times.get(k)?.ms ?? 0), 0));
    return bytes(kernels.reduce((n, k) => n + data.kernels[k]!.bytes * data.kernels[k]!.times, 0));
  }

  #kernel(id: number, { width, height }: Placed): SVGElement {
    const kernel = this.#model.data.kernels[id]!;
    const note = [kernel.kind, this.#load([id]), kernel.times > 1 && `×${count(kernel.times)}`];
    const text = note.filter(Boolean).join(" · ");
    const near = this.#selected !== undefined && this.#isNear(id);
    const mark = id === this.#selected ? " selected" : near ? " near" : "";
    const element = svg(
      "g",
      {
        class: `kernel ${kernel.kind ?? ""}${mark}`,
        tabindex: 0,
        role: "button",
        "data-kernel": id,
        "aria-label": `kernel ${id} ${kernel.name}`,
      },
      svg("rect", { width, height, rx: 4 }),
      svg("rect", {
        class: "heat",
        y: height - 3,
        width: Math.max(1, width * this.#model.heat(id)),
        height: 3,
      }),
      svg("text", { x: 10, y: 16, class: "title" }, short(`${id} ${kernel.name}`, width - 20)),
      svg("text", { x: 10, y: 31, class: "note" }, short(text, width - 20)),
      svg("title", {}, `${id} ${kernel.name} · ${text}`),
    );
    this.#act(element, () => this.#go(`kernel-${id}`));
    return element;
  }

  /** Whether the selected kernel reads it, or is read by it. */
  #isNear(id: number): boolean {
    const { into, outOf } = this.#model;
    const selected = this.#selected!;
    return Boolean(
      into.get(selected)?.some((e) => e.from === id) ||
        outOf.get(selected)?.some((e) => e.to === id),
    );
  }

  #act(element: SVGElement, act: () => void): void {
    element.addEventListener("click", () => {
      if (!this.#svg.classList.contains("dragged")) act();
    });
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      act();
    });
  }

  #route({ from, to, count: n, points }: Route): SVGElement {
    const holds = (box: Box): boolean =>
      this.#selected !== undefined &&
      (isCluster(box) ? box.kernels.includes(this.#selected) : box.kernel === this.#selected);
    const mark = holds(from) || holds(to) ? " near" : "";
    const width = Math.min(4, 1 + Math.log2(n) / 2);
    return svg("path", {
      class: `route${mark}`,
      d: curve(points),
      "stroke-width": width,
      "marker-end": "url(#arrow)",
    });
  }
}

function legend({ data }: Model): HTMLElement {
  const kinds = [...new Set(data.kernels.flatMap((k) => k.kind ?? []))].sort();
  const what = data.profile ? "time" : "bytes";
  return h(
    "div",
    { class: "legend" },
    ...kinds.map((kind) => h("span", { class: `chip ${kind}` }, kind)),
    h("span", { class: "hint" }, `the bar below is ${what}, beside the most costly kernel`),
  );
}

/** About as many characters as fit. */
function short(text: string, width: number): string {
  const most = Math.floor(width / 6.6);
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let d = `M${first.x},${first.y}`;
  for (let i = 0; i < rest.length - 1; i++) {
    const [p, q] = [rest[i]!, rest[i + 1]!];
    d += ` Q${p.x},${p.y} ${(p.x + q.x) / 2},${(p.y + q.y) / 2}`;
  }
  const last = rest.at(-1) ?? first;
  return `${d} L${last.x},${last.y}`;
}

const touches = (a: Frame, b: Frame): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const inside = (a: Frame, b: Frame): boolean =>
  a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;

function around(points: readonly Point[]): Frame {
  const [xs, ys] = [points.map((p) => p.x), points.map((p) => p.y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x + 1, height: Math.max(...ys) - y + 1 };
}
