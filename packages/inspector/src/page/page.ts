/**
 * The view of an inspection: a view on the left, what was chosen on the right, and the address that says both, so that a link
 * leads to a kernel. Is handed its document; asks for nothing else.
 */
import { type Inspection, inspectionVersion } from "../schema.ts";
import { kernelDetail, nodeDetail, slotDetail, stageDetail, summary } from "./detail.ts";
import { h, link } from "./dom.ts";
import { GraphView } from "./graph.ts";
import { memoryView } from "./memory.ts";
import { Model } from "./model.ts";
import { Search } from "./search.ts";
import { kernelsView, stagesView } from "./tables.ts";

const views = ["graph", "kernels", "memory", "stages"] as const;
type ViewName = (typeof views)[number];

const keys = [
  ["/", "search"],
  ["g k m s", "graph, kernels, memory, stages"],
  ["n p", "next and previous kernel"],
  ["arrows, + - 0", "move, zoom, all of it"],
  ["Tab, Enter", "from box to box, choose or fold"],
  ["t", "light or dark"],
] as const;

class Page {
  readonly #model: Model;
  readonly #graph: GraphView;
  readonly #views: Partial<Record<ViewName, HTMLElement>> = {};
  readonly #main = h("main", {});
  readonly #detail = h("aside", { tabindex: -1, "aria-live": "polite" });
  readonly #search: Search;
  #view: ViewName = "graph";
  #kernel: number | undefined;
  /** Set while the address changes because of a click in a view, which then stays as it is. */
  #still = false;

  constructor(data: Inspection) {
    this.#model = new Model(data);
    const go = (hash: string): void => {
      this.#still = true;
      if (location.hash === `#${hash}`) this.#show();
      location.hash = hash;
    };
    this.#graph = new GraphView(this.#model, go);
    this.#views.graph = this.#graph.element;
    this.#search = new Search(this.#model, (hash) => {
      location.hash = hash;
    });
    document.body.append(this.#header(), this.#main, this.#detail);
    this.#switch("graph");
    this.#graph.fit();
    addEventListener("hashchange", () => this.#show());
    addEventListener("keydown", (event) => this.#key(event));
    addEventListener("resize", () => this.#graph.pan(0, 0));
    this.#show();
  }

  #header(): HTMLElement {
    const { name, target, kernels } = this.#model.data;
    const tabs = views.map((view) => h("a", { href: `#${view}`, "data-view": view }, view));
    return h(
      "header",
      {},
      h("a", { class: "name", href: "#summary", title: "the program" }, name),
      h("span", { class: "note" }, `${target}, ${kernels.length.toLocaleString("en-US")} kernels`),
      h("nav", { "aria-label": "views" }, ...tabs),
      this.#search.element,
    );
  }

  #switch(view: ViewName): void {
    this.#view = view;
    const go = (hash: string): void => {
      location.hash = hash;
    };
    const make = {
      graph: () => this.#graph.element,
      kernels: () => kernelsView(this.#model, go),
      memory: () => memoryView(this.#model, go),
      stages: () => stagesView(this.#model, go),
    };
    const element = this.#views[view] ?? make[view]();
    this.#views[view] = element;
    if (this.#main.firstChild !== element) this.#main.replaceChildren(element);
    for (const tab of document.querySelectorAll("nav a"))
      if (tab.getAttribute("data-view") === view) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
  }

  /** Brings the page to what the address says. */
  #show(): void {
    const still = this.#still;
    this.#still = false;
    const hash = decodeURIComponent(location.hash.slice(1));
    if ((views as readonly string[]).includes(hash)) {
      this.#switch(hash as ViewName);
      if (!this.#detail.firstChild) this.#tell(this.#summary());
      return;
    }
    const [, what, rest] = /^(kernel|node|slot|stage|module)-(.+)$/.exec(hash) ?? [];
    if (what === "module") {
      this.#switch("graph");
      if (!this.#graph.showModule(rest!)) this.#tell(nothing(hash));
      return;
    }
    const detail = what && this.#detailOf(what, Number(rest));
    this.#kernel = what === "kernel" && detail ? Number(rest) : this.#kernel;
    if (what === "kernel" && detail) {
      if (this.#view !== "kernels") this.#switch("graph");
      this.#graph.select(Number(rest), !still);
    }
    if (what === "stage") this.#switch("stages");
    if (what === "slot") this.#switch("memory");
    this.#tell(detail || (hash === "" || hash === "summary" ? this.#summary() : nothing(hash)));
  }

  #detailOf(what: string, id: number): HTMLElement | undefined {
    const { kernels, nodes, memory, stages } = this.#model.data;
    if (what === "kernel" && kernels[id]) return kernelDetail(this.#model, id);
    if (what === "node" && nodes[id]) return nodeDetail(this.#model, id);
    if (what === "slot" && memory.slots[id] !== undefined) return slotDetail(this.#model, id);
    if (what === "stage" && stages[id]) return stageDetail(this.#model, id);
    return undefined;
  }

  #summary(): HTMLElement {
    const made = summary(this.#model);
    const rows = keys.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]);
    made.append(h("section", {}, h("h3", {}, "Keys"), h("dl", {}, ...rows)));
    return made;
  }

  #tell(element: HTMLElement): void {
    this.#detail.replaceChildren(element);
    this.#detail.scrollTop = 0;
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tabs: Record<string, ViewName> = { g: "graph", k: "kernels", m: "memory", s: "stages" };
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [80, 0],
      ArrowRight: [-80, 0],
      ArrowUp: [0, 80],
      ArrowDown: [0, -80],
    };
    const zooms: Record<string, number> = { "+": 1.3, "=": 1.3, "-": 1 / 1.3 };
    const { key } = event;
    const inGraph = this.#view === "graph" && !this.#detail.contains(document.activeElement);
    if (key === "/") this.#search.input.focus();
    else if (tabs[key]) location.hash = tabs[key];
    else if (key === "n" || key === "p") this.#step(key === "n" ? 1 : -1);
    else if (key === "t") theme();
    else if (inGraph && moves[key]) this.#graph.pan(...moves[key]);
    else if (inGraph && zooms[key]) this.#graph.zoom(zooms[key]);
    else if (inGraph && key === "0") this.#graph.fit();
    else return;
    event.preventDefault();
  }

  #step(by: number): void {
    const last = this.#model.data.kernels.length - 1;
    const next = this.#kernel === undefined ? 0 : this.#kernel + by;
    location.hash = `kernel-${Math.max(0, Math.min(last, next))}`;
  }
}

const nothing = (hash: string): HTMLElement =>
  h(
    "article",
    {},
    h("h2", {}, "Nothing of that name"),
    h("p", {}, `There is no ${hash} here. `, link("summary", "Back to the program")),
  );

function theme(): void {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

/** Fills the document with the view of `data`, or with why it cannot be shown. Once for a document: its listeners stay. */
export function start(data: Partial<Inspection> | null): void {
  if (data?.format === "kiln-inspection" && data.version === inspectionVersion) {
    new Page(data as Inspection);
    // For whoever measures how long a page takes to stand there.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => performance.mark("kiln-inspector-ready")),
    );
    return;
  }
  const given =
    data?.format === "kiln-inspection" ? `one of version ${data.version}` : "something else";
  const told = `This page shows inspections of version ${inspectionVersion}, and was given ${given}. Make it again with kiln inspect --html.`;
  document.body.append(h("p", { class: "none" }, told));
}
