/** The ONNX page: a file is dropped, its inputs are filled, and it runs here. Nothing leaves the page. */
import { InspectorFrame } from "../inspector-frame.ts";
import { byId, h } from "../play/dom.ts";
import type { Target } from "../play/messages.ts";
import { pictureOf } from "../play/picture.ts";
import { isPicture } from "./fill.ts";
import type { Filled, FromOnnx, Output, Port, ToOnnx } from "./onnx-messages.ts";
import { sampleImage } from "./sample-image.ts";

const here = new URL(".", import.meta.url);
/** What an extent that a run decides is by default: one sample, and pictures of this side. */
const side = 192;

class Page {
  readonly #frame = new InspectorFrame(
    byId<HTMLIFrameElement>("inspector"),
    new URL("../playground/inspector.html", here),
  );
  #worker: Worker | undefined;
  #file: { readonly name: string; readonly bytes: Uint8Array } | undefined;
  #inputs: readonly Port[] = [];
  #image: CanvasImageSource & { width: number; height: number } = sampleImage(side);

  constructor() {
    const picker = byId<HTMLInputElement>("file");
    picker.addEventListener("change", () => void this.#take([...(picker.files ?? [])]));
    const zone = byId("drop");
    for (const name of ["dragover", "dragleave", "drop"])
      addEventListener(name, (event) => {
        event.preventDefault();
        zone.classList.toggle("over", name === "dragover");
      });
    addEventListener("drop", (event) => void this.#take([...(event.dataTransfer?.files ?? [])]));
    byId("again").addEventListener("click", () => this.#run());
    byId("target").addEventListener("change", () => this.#open());
    void this.#sample();
  }

  async #sample(): Promise<void> {
    const response = await fetch(new URL("sketch.onnx", here));
    this.#file = { name: "sketch.onnx", bytes: new Uint8Array(await response.arrayBuffer()) };
    this.#open();
  }

  /** Models are opened, pictures fill the inputs that take one. */
  async #take(files: readonly File[]): Promise<void> {
    for (const file of files) {
      if (file.type.startsWith("image/")) this.#image = await createImageBitmap(file);
      else this.#file = { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
    }
    if (files.some((file) => !file.type.startsWith("image/"))) this.#open();
    else if (files.length) this.#run();
  }

  #tell(text: string, state = "running"): void {
    document.body.dataset.state = state;
    byId("state").textContent = text;
  }

  #ask(message: ToOnnx): void {
    this.#worker?.postMessage(message);
  }

  #open(): void {
    if (!this.#file) return;
    this.#worker?.terminate();
    const worker = new Worker(new URL("onnx-worker.js", here), { type: "module" });
    this.#worker = worker;
    worker.addEventListener("message", ({ data }) => {
      if (worker === this.#worker) this.#hear(data);
    });
    worker.addEventListener("error", ({ message }) => this.#tell(message, "failed"));
    const target = byId<HTMLSelectElement>("target").value as Target;
    byId("name").textContent = this.#file.name;
    byId("results").replaceChildren();
    this.#tell("opening");
    this.#ask({ kind: "open", ...this.#file, target });
  }

  #hear(message: FromOnnx): void {
    if (message.kind === "opened") {
      this.#inputs = message.inputs;
      this.#list(message.inputs);
      this.#run();
    } else if (message.kind === "ran") {
      const [first, ms] = [message.firstMs, message.ms].map((v) => v.toFixed(1));
      this.#tell(`${ms} ms a run, ${first} ms the first with compiling`, "done");
      byId("results").replaceChildren(...message.outputs.map(outputOf));
    } else if (message.kind === "inspection") this.#frame.show(message.inspection);
    else this.#tell(message.text, "failed");
  }

  /** A field for every extent that a run decides. */
  #list(inputs: readonly Port[]): void {
    const rows = inputs.map(({ name, dtype, shape }) => {
      const extents = shape.map((d, axis) => {
        const by = isPicture(shape) && axis > 1 ? side : 1;
        const label = `${name}, axis ${axis}`;
        return typeof d === "number"
          ? h("span", { class: "extent" }, String(d))
          : h(
              "label",
              { class: "extent" },
              h("span", {}, d),
              h("input", { type: "number", min: "1", value: String(by), "aria-label": label }),
            );
      });
      return h("li", {}, h("b", {}, name), ` ${dtype} `, ...extents);
    });
    byId("inputs").replaceChildren(...rows);
  }

  #run(): void {
    const fields = [...byId("inputs").querySelectorAll("input")];
    const inputs: Record<string, Filled> = {};
    for (const { name, shape } of this.#inputs) {
      const extents = shape.map((d) => (typeof d === "number" ? d : Number(fields.shift()!.value)));
      inputs[name] = { shape: extents, ...(isPicture(shape) ? this.#picture(extents) : {}) };
    }
    this.#tell("running");
    this.#ask({ kind: "run", inputs });
  }

  #picture(shape: readonly number[]): { picture: Uint8ClampedArray } {
    const [, , height, width] = shape as [number, number, number, number];
    const canvas = byId<HTMLCanvasElement>("given");
    Object.assign(canvas, { width, height, hidden: false });
    const context = canvas.getContext("2d", { willReadFrequently: true })!;
    context.drawImage(this.#image, 0, 0, width, height);
    return { picture: context.getImageData(0, 0, width, height).data };
  }
}

function outputOf({ name, dtype, shape, data }: Output): HTMLElement {
  const values = Array.from(data);
  const [low, high] = [least(values, Math.min), least(values, Math.max)];
  const note = `${dtype}[${shape.join(", ")}], from ${short(low)} to ${short(high)}`;
  const figure = h("figure", { class: "wide" });
  if (isPicture(shape) && shape[2]! > 7) figure.append(drawn(values, shape));
  else
    figure.append(
      h("code", {}, values.slice(0, 12).map(short).join("  ") + (values.length > 12 ? " …" : "")),
    );
  figure.append(h("figcaption", {}, h("b", {}, name), ` ${note}`));
  return figure;
}

function drawn(values: readonly number[], shape: readonly number[]): HTMLElement {
  const [, , height, width] = shape as [number, number, number, number];
  const size = height * width;
  // Planes of colours lie one after another; a picture has them side by side.
  const pixels =
    shape[1] === 3
      ? Array.from({ length: 3 * size }, (_, i) => values[(i % 3) * size + Math.floor(i / 3)]!)
      : values.slice(0, size);
  const picture = { data: pixels, shape: [height, width, ...(shape[1] === 3 ? [3] : [])] };
  const { rgba } = pictureOf(picture);
  const canvas = h("canvas", { width: String(width), height: String(height) });
  canvas.getContext("2d")!.putImageData(new ImageData(rgba, width, height), 0, 0);
  return canvas;
}

const short = (v: number): string => String(Number(v.toPrecision(4)));
const least = (values: readonly number[], pick: (a: number, b: number) => number): number =>
  values.reduce((a, b) => pick(a, b), values[0] ?? Number.NaN);

new Page();
