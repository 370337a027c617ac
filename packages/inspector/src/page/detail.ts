/** What is known of one thing: a kernel, a node, a slot or a stage. */
import type { InspectedEdge } from "../schema.ts";
import { bytes, count, flops, milliseconds, percent, rate } from "./amounts.ts";
import { h, link, table } from "./dom.ts";
import type { Model } from "./model.ts";

const facts = (rows: readonly (readonly [string, Node | string | undefined])[]): HTMLElement =>
  h(
    "dl",
    {},
    ...rows.flatMap(([name, value]) =>
      value === undefined ? [] : [h("dt", {}, name), h("dd", {}, value)],
    ),
  );

const section = (title: string, ...children: (Node | string | undefined)[]): HTMLElement =>
  h("section", {}, h("h3", {}, title), ...children);

const list = (items: readonly Node[], none: string): HTMLElement =>
  items.length ? h("ul", {}, ...items.map((i) => h("li", {}, i))) : h("p", { class: "none" }, none);

export const kernelLink = (model: Model, id: number): HTMLAnchorElement =>
  link(`kernel-${id}`, `${id} ${model.data.kernels[id]?.name ?? "?"}`);

/** A line of IR with every node a link, and where it was written at its end. */
function irLine(model: Model, id: number, inlined: boolean): HTMLElement {
  const { op, operands, attrs, site } = model.data.nodes[id]!;
  return h(
    "div",
    { class: inlined ? "ir inlined" : "ir", title: site },
    link(`node-${id}`, model.nodeName(id)),
    `: ${model.nodeType(id)} = `,
    h("b", {}, op),
    ...operands.flatMap((o) => [" ", link(`node-${o}`, model.nodeName(o))]),
    attrs ? ` ${attrs}` : undefined,
  );
}

export function kernelDetail(model: Model, id: number): HTMLElement {
  const { data } = model;
  const kernel = data.kernels[id]!;
  const text = data.texts[kernel.text]!;
  const same = data.kernels.flatMap((k, i) => (k.text === kernel.text && i !== id ? [i] : []));
  const sites = [...new Set(kernel.members.flatMap((n) => data.nodes[n]!.site ?? []))];
  const row = model.times.get(id);
  const shown = sites.slice(0, 6).join(", ");
  return h(
    "article",
    {},
    h(
      "h2",
      {},
      `${id} ${kernel.name}`,
      kernel.kind && h("span", { class: `chip ${kernel.kind}` }, kernel.kind),
    ),
    facts([
      ["module", kernel.module && link(`module-${kernel.module}`, kernel.module)],
      [
        "script",
        shown ? `${shown}${sites.length > 6 ? `, and ${sites.length - 6} more` : ""}` : undefined,
      ],
      ["loops", kernel.loops],
      ["grid", kernel.grid?.map(count).join(" × ")],
      [
        "moves",
        `${bytes(kernel.bytes)}${kernel.times > 1 ? `, ${count(kernel.times)} times a run` : ""}`,
      ],
      [
        "computes",
        `${flops(kernel.flops)} operations, ${(kernel.flops / Math.max(1, kernel.bytes)).toFixed(2)} a byte`,
      ],
      [
        "takes",
        row &&
          `${milliseconds(row.ms)}: ${rate((row.bytes / row.ms) * 1e3, "B/s")}, ${rate((row.flops / row.ms) * 1e3, "FLOP/s")}, ${percent(row.fraction)} of the limit of ${row.bound}`,
      ],
      [
        "same text",
        same.length
          ? h(
              "span",
              {},
              ...same.slice(0, 12).flatMap((k) => [link(`kernel-${k}`, String(k)), " "]),
              same.length > 12 ? `and ${same.length - 12} more` : "",
            )
          : undefined,
      ],
    ]),
    data.nodes.length
      ? section(
          "Why it is not one with what it reads",
          list(
            reasons(model, model.into.get(id) ?? [], "from"),
            "It reads nothing that another kernel stores.",
          ),
        )
      : undefined,
    data.nodes.length
      ? section(
          "Read by",
          list(reasons(model, model.outOf.get(id) ?? [], "to"), "No kernel reads what it stores."),
        )
      : undefined,
    section("Arguments", argumentTable(model, id)),
    h(
      "div",
      { class: "beside" },
      data.nodes.length
        ? h("section", {}, h("h3", {}, "IR"), h("div", { class: "code" }, ...irOf(model, id)))
        : undefined,
      h(
        "section",
        {},
        h("h3", {}, `${text.name}, ${text.language}`),
        h("pre", { class: "code" }, text.text.trimEnd() || "The file does not carry the text."),
      ),
    ),
  );
}

/** Members and what is inlined, operands first: nodes are numbered in that order. */
function irOf(model: Model, id: number): HTMLElement[] {
  const { members, inlined } = model.data.kernels[id]!;
  const own = new Set(members);
  return [...new Set([...members, ...inlined])]
    .sort((a, b) => a - b)
    .map((n) => irLine(model, n, !own.has(n)));
}

function reasons(
  model: Model,
  edges: readonly InspectedEdge[],
  other: "from" | "to",
): HTMLElement[] {
  return edges.map((e) =>
    h(
      "span",
      { class: "reason" },
      kernelLink(model, e[other]),
      " ",
      link(`node-${e.node}`, model.nodeName(e.node)),
      ` ${model.nodeType(e.node)} `,
      h("span", { class: "why" }, e.why),
      ` ${e.text}`,
      e.at !== undefined && h("span", {}, " (", link(`node-${e.at}`, model.nodeName(e.at)), ")"),
    ),
  );
}

function argumentTable(model: Model, id: number): HTMLElement {
  const rows = model.data.kernels[id]!.arguments.map((a) => [
    a.access,
    a.in === "slot" ? link(`slot-${a.index}`, `slot ${a.index}`) : model.placeName(a),
    a.node === undefined ? "" : link(`node-${a.node}`, model.nodeName(a.node)),
    a.node === undefined ? "" : model.nodeType(a.node),
  ]);
  return table(["access", "place", "node", "type"], rows);
}

export function nodeDetail(model: Model, id: number): HTMLElement {
  const { data } = model;
  const node = data.nodes[id]!;
  const readers = data.nodes.flatMap((n, i) => (n.operands.includes(id) ? [i] : []));
  return h(
    "article",
    {},
    h("h2", {}, model.nodeName(id), h("span", { class: "chip" }, node.op)),
    facts([
      ["type", model.nodeType(id)],
      ["attributes", node.attrs],
      ["module", node.module && link(`module-${node.module}`, node.module)],
      ["script", node.site],
      ["after the passes", node.final ? "still there" : "gone, or another node took its place"],
    ]),
    section(
      "Computed in",
      list(
        node.kernels.map((k) => kernelLink(model, k)),
        node.final ? "No kernel: it is an input, a weight or a view." : "No kernel.",
      ),
    ),
    section(
      "Made of",
      list(
        node.operands.map((o) => irLine(model, o, false)),
        "Nothing.",
      ),
    ),
    section(
      "Read by",
      list(
        readers.slice(0, 100).map((r) => irLine(model, r, false)),
        "Nothing.",
      ),
    ),
  );
}

export function slotDetail(model: Model, slot: number): HTMLElement {
  const { slots, lives } = model.data.memory;
  const rows = lives
    .filter((l) => l.slot === slot)
    .map((l) => [
      l.node === undefined ? "scratch" : link(`node-${l.node}`, model.nodeName(l.node)),
      l.node === undefined ? "" : model.nodeType(l.node),
      kernelLink(model, l.from),
      kernelLink(model, l.to),
      bytes(l.bytes),
    ]);
  return h(
    "article",
    {},
    h("h2", {}, `slot ${slot}`),
    facts([["size", bytes(slots[slot]!)]]),
    section(
      "Values in it, one after the other",
      table(["value", "type", "from", "to", "bytes"], rows, [4]),
    ),
  );
}

/** Lines of a list at most; the rest is counted. */
const shownLines = 400;

export function stageDetail(model: Model, index: number): HTMLElement {
  const { name, size, ms, removed, added } = model.data.stages[index]!;
  const lines = (ids: readonly number[], mark: string) => {
    const shown = ids.slice(0, shownLines).map((id) => {
      const line = irLine(model, id, false);
      line.prepend(`${mark} `);
      line.classList.add(mark === "−" ? "removed" : "added");
      return line;
    });
    const rest = ids.length - shown.length;
    return rest > 0 ? [...shown, h("p", { class: "none" }, `and ${count(rest)} more`)] : shown;
  };
  const none = removed?.length === 0 && added?.length === 0;
  return h(
    "article",
    {},
    h("h2", {}, name),
    facts([
      ["after it", `${count(size)} ${removed || index === 0 ? "nodes" : "kernels"}`],
      ["took", index === 0 ? undefined : milliseconds(ms)],
    ]),
    none ? h("p", { class: "none" }, "It changed nothing.") : undefined,
    removed?.length
      ? section(
          `Removed, ${count(removed.length)}`,
          h("div", { class: "code" }, ...lines(removed, "−")),
        )
      : undefined,
    added?.length
      ? section(`Added, ${count(added.length)}`, h("div", { class: "code" }, ...lines(added, "+")))
      : undefined,
  );
}

export function summary(model: Model): HTMLElement {
  const { data } = model;
  const { inputs, outputs, states } = data.signature;
  const types = (title: string, given: typeof inputs) =>
    section(
      `${title}, ${count(given.length)}`,
      given.length
        ? table(
            ["name", "type", "bytes"],
            given.slice(0, 200).map((t) => [t.name, t.dtype + t.shape, bytes(t.bytes)]),
            [2],
          )
        : undefined,
    );
  const total = (of: (k: (typeof data.kernels)[number]) => number) =>
    data.kernels.reduce((n, k) => n + of(k) * k.times, 0);
  const { memory } = data;
  return h(
    "article",
    {},
    h("h2", {}, data.name),
    facts([
      ["target", data.target],
      ["fusion", data.fusion ? undefined : "off"],
      ["kernels", `${count(data.kernels.length)} steps, ${count(data.texts.length)} texts`],
      ["a run moves", bytes(total((k) => k.bytes))],
      ["a run computes", `${flops(total((k) => k.flops))} operations`],
      [
        "a run takes",
        data.profile &&
          `${milliseconds(data.profile.ms)} in kernels, the median of ${data.profile.runs} on ${data.profile.device}`,
      ],
      [
        "memory",
        `${bytes(memory.temporaryBytes)} of temporaries, ${bytes(memory.stateBytes)} of states`,
      ],
      ["compiled in", data.compileMs === undefined ? undefined : milliseconds(data.compileMs)],
      [
        "sizes are for",
        data.dims.length
          ? data.dims.map((d) => `${d.name} = ${count(d.value)}`).join(", ")
          : undefined,
      ],
      ["made by", `kiln-ml ${data.kiln}`],
    ]),
    types("Inputs", inputs),
    types("Outputs", outputs),
    types("States", states),
  );
}
