/** What a program said and drew: lines of a console, pictures and plotted values, by name. */
import { byId, h } from "./dom.ts";
import type { Picture } from "./messages.ts";

/** Lines that are kept: a program that logs for ever must not fill the page. */
const mostLines = 1000;

export class Output {
  readonly #console = byId("console");
  readonly #figures = byId("figures");
  readonly #canvases = new Map<string, HTMLCanvasElement>();
  readonly #plots = new Map<string, { values: number[]; draw: () => void }>();
  #drawing = false;

  clear(): void {
    this.#console.replaceChildren();
    this.#figures.replaceChildren();
    this.#canvases.clear();
    this.#plots.clear();
  }

  /** A line; `more` is the address of what says more about it. */
  say(text: string, kind: string, more?: string): void {
    const atEnd =
      this.#console.scrollHeight - this.#console.scrollTop - this.#console.clientHeight < 40;
    const link = more && h("a", { href: more, target: "_blank" }, "what this means");
    this.#console.append(h("div", { class: `line ${kind}` }, text, ...(link ? ["\n", link] : [])));
    while (this.#console.childElementCount > mostLines) this.#console.firstElementChild!.remove();
    if (atEnd) this.#console.scrollTop = this.#console.scrollHeight;
  }

  show(name: string, { width, height, rgba }: Picture): void {
    const canvas = this.#canvases.get(name) ?? this.#figure(name);
    this.#canvases.set(name, canvas);
    canvas.width = width;
    canvas.height = height;
    canvas.getContext("2d")!.putImageData(new ImageData(rgba, width, height), 0, 0);
  }

  plot(name: string, value: number): void {
    const plot = this.#plots.get(name) ?? this.#newPlot(name);
    plot.values.push(value);
    if (this.#drawing) return;
    // Values may come by the thousand: a line is drawn once a frame.
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      for (const { draw } of this.#plots.values()) draw();
    });
  }

  #figure(name: string): HTMLCanvasElement {
    const canvas = h("canvas", { "aria-label": name, role: "img" });
    this.#figures.append(h("figure", {}, canvas, h("figcaption", {}, name)));
    return canvas;
  }

  #newPlot(name: string) {
    const canvas = h("canvas", { "aria-label": name, role: "img", class: "plot" });
    const caption = h("figcaption", {}, name);
    this.#figures.prepend(h("figure", { class: "wide" }, canvas, caption));
    const values: number[] = [];
    const plot = {
      values,
      draw: () => {
        drawLine(canvas, values);
        caption.textContent = `${name} ${Number(values.at(-1)!.toPrecision(4))}`;
      },
    };
    this.#plots.set(name, plot);
    return plot;
  }
}

/**
 * Values from the first to the last, the least at the bottom; logarithmic where all are positive
 * and apart.
 */
export function drawLine(canvas: HTMLCanvasElement, values: readonly number[]): void {
  const scale = devicePixelRatio;
  const [width, height] = [canvas.clientWidth * scale, canvas.clientHeight * scale];
  canvas.width = width;
  canvas.height = height;
  const finite = values.filter(Number.isFinite);
  const apart = finite.every((v) => v > 0) && Math.max(...finite) > 20 * Math.min(...finite);
  const read = (v: number): number => (apart ? Math.log(v) : v);
  const [low, high] = [Math.min(...finite.map(read)), Math.max(...finite.map(read))];
  const context = canvas.getContext("2d")!;
  const pad = 4 * scale;
  const x = (i: number): number => pad + ((width - 2 * pad) * i) / Math.max(1, values.length - 1);
  const y = (v: number): number =>
    height - pad - ((height - 2 * pad) * (read(v) - low)) / (high - low || 1);
  context.strokeStyle = getComputedStyle(canvas).color;
  context.lineWidth = 1.6 * scale;
  context.lineJoin = "round";
  context.beginPath();
  values.forEach((v, i) => {
    if (Number.isFinite(v)) context.lineTo(x(i), y(v));
  });
  context.stroke();
}
