/**
 * The page of a demo that learns: its worker, its losses, and its training step in the inspector.
 */
import { InspectorFrame } from "../../inspector-frame.ts";
import { byId } from "../../play/dom.ts";
import type { Target } from "../../play/messages.ts";
import { drawLine } from "../../play/output.ts";
import type { FromLab, Losses, ToLab } from "./messages.ts";

export interface LabOptions<View, Answer> {
  /** The worker's script, beside the page's. */
  readonly worker: string;
  /** What training begins with. */
  given?(): unknown;
  onView(view: View): void;
  onAnswer?(answer: Answer): void;
  /** Training begins anew: what was shown is of another network. */
  onStart?(): void;
}

/** The folder of the page: this file may be in a chunk elsewhere. */
const here = new URL(".", location.href);

/** `#target=webgpu&steps=40` in the address chooses. */
const chosen = () => new URLSearchParams(location.hash.slice(1));

export class Lab<View, Question, Answer> {
  readonly #options: LabOptions<View, Answer>;
  readonly #frame = new InspectorFrame(
    byId<HTMLIFrameElement>("inspector"),
    new URL("../playground/inspector.html", here),
  );
  readonly #lines = new Map<string, number[]>();
  #worker: Worker | undefined;
  #steps = 0;
  /** A question is with the worker; the next one, the last that was asked since. */
  #waits = false;
  #next: Question | undefined;

  constructor(options: LabOptions<View, Answer>) {
    this.#options = options;
    const target = byId<HTMLSelectElement>("target");
    target.value = chosen().get("target") ?? target.value;
    byId("train").addEventListener("click", () => this.train());
  }

  train(): void {
    this.#worker?.terminate();
    this.#lines.clear();
    this.#waits = false;
    this.#options.onStart?.();
    document.body.dataset.state = "running";
    const worker = new Worker(new URL(this.#options.worker, here), { type: "module" });
    this.#worker = worker;
    worker.addEventListener("message", ({ data }) => {
      if (worker === this.#worker) this.#hear(data);
    });
    worker.addEventListener("error", ({ message }) => this.#fail(message));
    this.#tell("loading");
    const steps = Number(chosen().get("steps"));
    this.#send({
      kind: "train",
      target: byId<HTMLSelectElement>("target").value as Target,
      given: this.#options.given?.(),
      ...(steps > 0 ? { steps } : {}),
    });
  }

  /** Asks the network as it is now; while it answers, only the last question is kept. */
  ask(question: Question): void {
    this.#next = question;
    if (!this.#waits) this.#askNext();
  }

  #askNext(): void {
    this.#waits = this.#next !== undefined;
    if (this.#waits) this.#send({ kind: "ask", question: this.#next });
    this.#next = undefined;
  }

  #send(message: ToLab): void {
    this.#worker?.postMessage(message);
  }

  #hear(message: FromLab): void {
    if (message.kind === "ready") {
      this.#steps = message.steps;
      this.#tell(`compiling for ${message.device}`);
    } else if (message.kind === "step") this.#step(message.step, message.losses);
    else if (message.kind === "view") this.#options.onView(message.view as View);
    else if (message.kind === "inspection") this.#frame.show(message.inspection);
    else if (message.kind === "answer") {
      this.#options.onAnswer?.(message.answer as Answer);
      this.#askNext();
    } else this.#fail(message.text);
  }

  #step(step: number, losses: Losses): void {
    const parts = Object.entries(losses).map(([name, value]) => {
      const line = this.#lines.get(name) ?? [];
      this.#lines.set(name, line);
      line.push(value);
      return `${name} ${value.toFixed(3)}`;
    });
    this.#tell(`step ${step} of ${this.#steps}, ${parts.join(", ")}`);
    const isLast = step === this.#steps;
    if (step % 4 === 0 || isLast) this.#draw();
    if (isLast) document.body.dataset.state = "done";
  }

  /** One plot for each loss: they may be of other sizes. */
  #draw(): void {
    const plots = byId("losses");
    while (plots.childElementCount < this.#lines.size) {
      const plot = document.createElement("canvas");
      plot.className = "plot";
      plot.setAttribute("role", "img");
      plots.append(plot);
    }
    [...this.#lines].forEach(([name, values], i) => {
      const plot = plots.children[i] as HTMLCanvasElement;
      plot.setAttribute("aria-label", name);
      drawLine(plot, smooth(values));
    });
  }

  #tell(text: string): void {
    byId("state").textContent = text;
  }

  #fail(text: string): void {
    document.body.dataset.state = "failed";
    this.#tell(text);
  }
}

const smooth = (values: readonly number[]): number[] => {
  let mean = values[0] ?? 0;
  return values.map((v) => {
    mean += 0.15 * (v - mean);
    return mean;
  });
};
