/** Finds kernels, nodes, modules and slots by any part of what they are called. */
import { h } from "./dom.ts";
import type { Model } from "./model.ts";

interface Entry {
  readonly hash: string;
  readonly text: string;
  readonly note: string;
  readonly key: string;
}

const mostShown = 40;

export class Search {
  readonly element: HTMLElement;
  readonly input = h("input", {
    type: "search",
    placeholder: "search: op, kernel, module, line   ( / )",
    "aria-label": "search",
    autocomplete: "off",
    spellcheck: "false",
  });
  readonly #list = h("ul", { class: "found", role: "listbox", hidden: true });
  readonly #model: Model;
  readonly #go: (hash: string) => void;
  #entries: readonly Entry[] | undefined;
  #found: readonly Entry[] = [];
  #at = 0;

  constructor(model: Model, go: (hash: string) => void) {
    this.#model = model;
    this.#go = go;
    this.element = h("div", { class: "search" }, this.input, this.#list);
    this.input.addEventListener("input", () => this.#look());
    this.input.addEventListener("focus", () => this.#look());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.input.addEventListener("blur", () => setTimeout(() => this.#close(), 150));
  }

  #close(): void {
    this.#list.hidden = true;
  }

  #key(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Escape") this.input.blur();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      this.#at = Math.max(0, Math.min(this.#found.length - 1, this.#at + step));
      this.#mark();
    }
    const chosen = this.#found[this.#at];
    if (event.key === "Enter" && chosen) this.#choose(chosen);
  }

  #choose({ hash }: Entry): void {
    this.input.blur();
    this.#close();
    this.#go(hash);
  }

  #look(): void {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.#entries ??= entriesOf(this.#model);
    this.#found = [];
    this.#at = 0;
    const found: Entry[] = [];
    if (words.length)
      for (const e of this.#entries) {
        if (words.every((w) => e.key.includes(w))) found.push(e);
        if (found.length === mostShown) break;
      }
    this.#found = found;
    this.#list.replaceChildren(
      ...found.map((e) => {
        const item = h("li", { role: "option" }, h("b", {}, e.text), " ", h("span", {}, e.note));
        item.addEventListener("mousedown", () => this.#choose(e));
        return item;
      }),
      ...(words.length && !found.length
        ? [h("li", { class: "none" }, "nothing has that name")]
        : []),
    );
    this.#list.hidden = !words.length;
    this.#mark();
  }

  #mark(): void {
    for (const [i, item] of [...this.#list.children].entries()) {
      item.setAttribute("aria-selected", String(i === this.#at));
      if (i === this.#at) item.scrollIntoView({ block: "nearest" });
    }
  }
}

function entriesOf(model: Model): Entry[] {
  const { kernels, nodes, memory } = model.data;
  const entry = (hash: string, text: string, note: string): Entry => ({
    hash,
    text,
    note,
    key: `${hash} ${text} ${note}`.toLowerCase(),
  });
  const modules = new Set(kernels.flatMap((k) => k.module ?? []));
  return [
    ...kernels.map((k, i) =>
      entry(`kernel-${i}`, `${i} ${k.name}`, [k.kind, k.module].filter(Boolean).join(" · ")),
    ),
    ...[...modules].map((m) => entry(`module-${m}`, m, "module")),
    ...nodes.map((n, i) =>
      entry(
        `node-${i}`,
        `${model.nodeName(i)} ${n.op}`,
        [model.nodeType(i), n.module, n.site].filter(Boolean).join(" · "),
      ),
    ),
    ...memory.slots.map((_, i) => entry(`slot-${i}`, `slot ${i}`, "memory")),
  ];
}
