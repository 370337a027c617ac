/** The digits page: a network that is trained here, on a sheet that one draws on. */
import { InspectorFrame } from "../inspector-frame.ts";
import { byId, h } from "../play/dom.ts";
import type { Target } from "../play/messages.ts";
import { drawLine } from "../play/output.ts";
import type { FromDigits, Shown, ToDigits } from "./digits-messages.ts";
import { Pen } from "./pen.ts";

const here = new URL(".", import.meta.url);
const steps = 300;

class Page {
  readonly #pen = new Pen(byId("sheet"), () => this.#look());
  readonly #frame = new InspectorFrame(
    byId<HTMLIFrameElement>("inspector"),
    new URL("../playground/inspector.html", here),
  );
  readonly #losses: number[] = [];
  #worker: Worker | undefined;
  #shown: readonly Shown[] = [];
  /** The drawing that was sent and is not answered, and whether another has come since. */
  #asked = 0;
  #waits = false;
  #again = false;

  constructor() {
    for (let digit = 0; digit < 10; digit++)
      byId("scores").append(
        h(
          "div",
          { class: "score" },
          h("b", {}, String(digit)),
          h("span", { class: "track" }, h("i", {})),
          h("em", {}),
        ),
      );
    byId("train").addEventListener("click", () => this.#train());
    byId("clear").addEventListener("click", () => {
      this.#pen.clear();
      this.#score();
    });
    byId("inspect").addEventListener("click", () => this.#ask({ kind: "inspect" }));
    // Ink has the colour of the text.
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#hold());
    this.#score();
    this.#train();
  }

  #ask(message: ToDigits): void {
    this.#worker?.postMessage(message);
  }

  #train(): void {
    this.#worker?.terminate();
    this.#losses.length = 0;
    this.#waits = false;
    document.body.dataset.state = "running";
    const worker = new Worker(new URL("digits-worker.js", here), { type: "module" });
    this.#worker = worker;
    worker.addEventListener("message", ({ data }) => {
      if (worker === this.#worker) this.#hear(data);
    });
    worker.addEventListener("error", ({ message }) => this.#fail(message));
    const target = byId<HTMLSelectElement>("target").value as Target;
    this.#tell("loading");
    this.#ask({ kind: "train", target, steps });
  }

  #hear(message: FromDigits): void {
    if (message.kind === "ready") this.#tell(`compiling for ${message.device}`);
    else if (message.kind === "step") this.#step(message.step, message.loss);
    else if (message.kind === "checked") this.#checked(message.accuracy, message.shown);
    else if (message.kind === "classified") this.#classified(message.scores);
    else if (message.kind === "inspection") this.#frame.show(message.inspection);
    else this.#fail(message.text);
  }

  #tell(text: string): void {
    byId("state").textContent = text;
  }

  #fail(text: string): void {
    document.body.dataset.state = "failed";
    this.#tell(text);
  }

  #step(step: number, loss: number): void {
    this.#losses.push(loss);
    this.#tell(`step ${step} of ${steps}, loss ${loss.toFixed(3)}`);
    if (step % 5 === 0) drawLine(byId<HTMLCanvasElement>("losses"), smooth(this.#losses));
    if (step === 1) this.#ask({ kind: "inspect" });
    if (step === steps) document.body.dataset.state = "done";
    if (step % 25 === 0) this.#look();
  }

  #checked(accuracy: number, shown: readonly Shown[]): void {
    const percent = `${(100 * accuracy).toFixed(1)} %`;
    byId("accuracy").textContent = `${percent} of 250 digits that it never saw`;
    this.#shown = shown;
    this.#hold();
  }

  #hold(): void {
    byId("held").replaceChildren(...this.#shown.map(pictureOf));
  }

  /** Asks about the drawing; about the last one once the one before is answered. */
  #look(): void {
    const pixels = this.#pen.digit();
    if (!pixels) return;
    this.#again = this.#waits;
    if (this.#waits || !this.#losses.length) return;
    this.#waits = true;
    this.#asked += 1;
    this.#ask({ kind: "classify", id: this.#asked, pixels });
  }

  #classified(scores: Float32Array): void {
    this.#waits = false;
    this.#score(scores);
    if (this.#again) this.#look();
  }

  #score(scores?: Float32Array): void {
    const best = scores ? scores.indexOf(Math.max(...scores)) : -1;
    byId("guess").textContent = scores ? String(best) : "";
    [...byId("scores").children].forEach((row, digit) => {
      const share = scores?.[digit] ?? 0;
      row.classList.toggle("best", digit === best);
      row.querySelector("i")!.style.width = `${100 * share}%`;
      row.querySelector("em")!.textContent = scores ? `${Math.round(100 * share)} %` : "";
    });
  }
}

const smooth = (values: readonly number[]): number[] => {
  let mean = values[0] ?? 0;
  return values.map((v) => {
    mean += 0.15 * (v - mean);
    return mean;
  });
};

function pictureOf({ pixels, label, guess }: Shown): HTMLElement {
  const canvas = h("canvas", { width: "28", height: "28" });
  const rgba = new Uint8ClampedArray(4 * 784);
  // Ink is what is opaque, so that a digit has the colour of the text, light or dark.
  const ink = getComputedStyle(document.body).color.match(/\d+/g)!.map(Number);
  for (let i = 0; i < 784; i++) rgba.set([ink[0]!, ink[1]!, ink[2]!, 255 * pixels[i]!], 4 * i);
  canvas.getContext("2d")!.putImageData(new ImageData(rgba, 28, 28), 0, 0);
  const wrong = label !== guess;
  const title = wrong ? `a ${label}, taken for a ${guess}` : `a ${label}`;
  return h("figure", { class: wrong ? "wrong" : "", title }, canvas, wrong ? `${guess}` : "");
}

new Page();
