/** The memory plan: a row for each slot, as high as it is large, and who lives in it from step to step. */
import { bytes } from "./amounts.ts";
import { h, svg } from "./dom.ts";
import type { Model } from "./model.ts";

const [label, least, tallest, gap] = [92, 14, 64, 3];

export function memoryView(model: Model, go: (hash: string) => void): HTMLElement {
  const { slots, lives, temporaryBytes, stateBytes, inputBytes, outputBytes } = model.data.memory;
  const text = `${slots.length} slots, ${bytes(temporaryBytes)}; besides ${bytes(stateBytes)} of states, ${bytes(inputBytes)} of inputs, ${bytes(outputBytes)} of outputs.`;
  if (!lives.length)
    return h(
      "section",
      { class: "view list" },
      h("p", { class: "note" }, text),
      h(
        "p",
        { class: "none" },
        slots.length
          ? "An artifact does not tell which values lie in its slots."
          : "No value needs a temporary buffer.",
      ),
    );
  const steps = model.data.kernels.length;
  const step = Math.max(4, Math.min(48, 900 / steps));
  const width = label + steps * step + 8;
  const largest = Math.max(...slots, 1);
  // By the root, so that small slots can be seen beside large ones.
  const heights = slots.map((s) => Math.max(least, tallest * Math.sqrt(s / largest)));
  const tops: number[] = [];
  let at = 22;
  for (const height of heights) {
    tops.push(at);
    at += height + gap;
  }
  const picture = svg("svg", {
    class: "memory",
    width,
    height: at + 8,
    role: "group",
    "aria-label": "slots by steps",
  });
  for (let i = 0; i < steps; i += Math.ceil(steps / 20))
    picture.append(svg("text", { x: label + i * step, y: 14, class: "note" }, String(i)));
  for (const [i, top] of tops.entries()) {
    const name = svg(
      "text",
      { x: 0, y: top + heights[i]! / 2 + 4, class: "note", role: "link", tabindex: 0 },
      `${i} · ${bytes(slots[i]!)}`,
    );
    name.addEventListener("click", () => go(`slot-${i}`));
    picture.append(
      svg("rect", { class: "slot", x: label, y: top, width: steps * step, height: heights[i]! }),
      name,
    );
  }
  for (const life of lives) {
    const height =
      heights[life.slot]! *
      Math.min(1, Math.max(0.15, life.bytes / Math.max(1, slots[life.slot]!)));
    const value =
      life.node === undefined
        ? "scratch"
        : `${model.nodeName(life.node)} ${model.data.nodes[life.node]!.op} ${model.nodeType(life.node)}`;
    const rect = svg(
      "rect",
      {
        class: life.node === undefined ? "life scratch" : "life",
        x: label + life.from * step + 0.5,
        y: tops[life.slot]! + heights[life.slot]! - height,
        width: Math.max(2, (life.to - life.from + 1) * step - 1),
        height,
        rx: 2,
      },
      svg("title", {}, `${value}, ${bytes(life.bytes)}, steps ${life.from} to ${life.to}`),
    );
    rect.addEventListener("click", () =>
      go(life.node === undefined ? `slot-${life.slot}` : `node-${life.node}`),
    );
    picture.append(rect);
  }
  const scroll = h("div", { class: "scroll", tabindex: 0 });
  scroll.append(picture);
  return h("section", { class: "view list" }, h("p", { class: "note" }, text), scroll);
}
