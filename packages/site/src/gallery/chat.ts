/**
 * The chat page: a small model of the site talks at once, and any GGUF file or folder of a model
 * that is dropped. Nothing leaves the page.
 */
import { byId, h } from "../play/dom.ts";
import type { Target } from "../play/messages.ts";
import type { FromChat, ToChat, Turn } from "./chat-messages.ts";
import { droppedFiles } from "./dropped-files.ts";

const here = new URL(".", import.meta.url);
const own = ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"];
const { format } = new Intl.NumberFormat("en-US");

type Opened = Extract<FromChat, { kind: "opened" }>;

class Page {
  #worker: Worker | undefined;
  #name = "teller";
  #files: ReadonlyMap<string, Blob | string> = new Map(
    own.map((name) => [name, new URL(`teller/${name}`, here).href]),
  );
  #opened: Opened | undefined;
  #turns: Turn[] = [];
  /** Where pieces go while the model answers. */
  #answer: HTMLElement | undefined;

  constructor() {
    const picker = byId<HTMLInputElement>("file");
    picker.addEventListener("change", () => {
      this.#take(new Map([...(picker.files ?? [])].map((file) => [file.name, file])));
      // The same file can be chosen again, once it has been mended.
      picker.value = "";
    });
    for (const name of ["dragover", "dragleave", "drop"])
      addEventListener(name, (event) => {
        event.preventDefault();
        byId("drop").classList.toggle("over", name === "dragover");
      });
    addEventListener("drop", ({ dataTransfer }) => {
      if (!dataTransfer) return;
      droppedFiles(dataTransfer).then(
        (files) => this.#take(files),
        ({ message }: Error) => this.#tell(`what was dropped cannot be read: ${message}`, "failed"),
      );
    });
    const target = byId<HTMLSelectElement>("target");
    target.value = new URLSearchParams(location.hash.slice(1)).get("target") ?? target.value;
    target.addEventListener("change", () => this.#open());
    byId("fresh").addEventListener("click", () => this.#begin());
    byId("stop").addEventListener("click", () => this.#ask({ kind: "stop" }));
    byId("text").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      byId<HTMLFormElement>("say").requestSubmit();
    });
    byId("say").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#say();
    });
    this.#open();
  }

  #take(files: ReadonlyMap<string, File>): void {
    if (!files.size) return;
    this.#files = files;
    const names = [...files.keys()];
    this.#name = names.find((name) => name.endsWith(".gguf")) ?? "the model that you dropped";
    this.#open();
  }

  #open(): void {
    this.#worker?.terminate();
    const worker = new Worker(new URL("chat-worker.js", here), { type: "module" });
    this.#worker = worker;
    worker.addEventListener("message", ({ data }) => {
      if (worker === this.#worker) this.#hear(data);
    });
    worker.addEventListener("error", ({ message }) => {
      // A script that does not load has no message.
      if (worker === this.#worker) this.#fail(message || "the page's worker did not start");
    });
    // The worker that was there answers no more, and its model is gone.
    [this.#opened, this.#answer] = [undefined, undefined];
    byId("model").textContent = "";
    this.#begin();
    this.#busy(false);
    this.#tell(`opening ${this.#name}`, "running");
    const target = byId<HTMLSelectElement>("target").value as Target;
    this.#ask({ kind: "open", name: this.#name, files: this.#files, target });
  }

  /** A conversation begins anew. */
  #begin(): void {
    if (this.#answer) this.#ask({ kind: "stop" });
    this.#turns = [];
    byId("talk").replaceChildren();
  }

  #say(): void {
    const field = byId<HTMLTextAreaElement>("text");
    const content = field.value.trim();
    if (!content || !this.#opened || this.#answer) return;
    const { converses } = this.#opened;
    // What was not made to converse goes on from this text alone, in the same words.
    this.#turns = converses ? [...this.#turns, { role: "user", content }] : [];
    const asked = h("li", { class: converses ? "asked" : "told" }, converses ? content : "");
    const answer = converses ? h("li", { class: "told" }) : asked;
    if (!converses) answer.append(h("b", {}, content));
    byId("talk").append(...new Set([asked, answer]));
    this.#answer = answer;
    if (converses) field.value = "";
    this.#busy(true);
    this.#tell("reading", "running");
    const temperature = Number(byId<HTMLInputElement>("temperature").value);
    const turns = converses ? this.#turns : [{ role: "user", content } as const];
    this.#ask({ kind: "say", turns, temperature });
  }

  #busy(isBusy: boolean): void {
    const { activeElement } = document;
    // A button that is disabled loses the focus, and keys go nowhere.
    if (activeElement === byId(isBusy ? "send" : "stop")) byId("text").focus();
    byId<HTMLButtonElement>("send").disabled = isBusy || !this.#opened;
    byId<HTMLButtonElement>("stop").disabled = !isBusy;
  }

  #hear(message: FromChat): void {
    if (message.kind === "opened") this.#ready(message);
    else if (message.kind === "piece") {
      this.#answer?.append(message.text);
      this.#answer?.scrollIntoView({ block: "nearest" });
      this.#tell("writing", "running");
    } else if (message.kind === "ended") this.#ended(message);
    else this.#fail(message.text);
  }

  #ready(opened: Opened): void {
    this.#opened = opened;
    const { device, parameters, context, converses } = opened;
    byId("model").textContent =
      `${this.#name}: ${format(parameters)} parameters, ${format(context)} tokens of context, on ${device}`;
    byId("text").setAttribute(
      "placeholder",
      converses ? "Say something" : "Begin a text; the model goes on",
    );
    this.#busy(false);
    this.#tell("ready", "done");
  }

  #ended({ reason, tokens, firstMs, tokensPerSecond }: Extract<FromChat, { kind: "ended" }>): void {
    const content = this.#answer?.textContent ?? "";
    // A conversation that was cleared meanwhile has no turn to add to.
    if (this.#turns.at(-1)?.role === "user") this.#turns.push({ role: "assistant", content });
    this.#answer = undefined;
    this.#busy(false);
    const rate = tokensPerSecond ? `, ${tokensPerSecond.toFixed(0)} tokens/s` : "";
    const why = { stop: "", length: ", at the longest answer", stopped: ", stopped" }[reason];
    this.#tell(`${tokens} tokens${why}, first after ${firstMs.toFixed(0)} ms${rate}`, "done");
  }

  #fail(text: string): void {
    // A turn without an answer is not said again: templates take turns by turns.
    if (this.#answer && this.#turns.at(-1)?.role === "user") this.#turns.pop();
    this.#answer = undefined;
    this.#busy(false);
    this.#tell(text, "failed");
  }

  #tell(text: string, state: string): void {
    document.body.dataset.state = state;
    byId("state").textContent = text;
  }

  #ask(message: ToChat): void {
    this.#worker?.postMessage(message);
  }
}

new Page();
