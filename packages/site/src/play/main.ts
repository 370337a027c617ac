/**
 * The playground's page: an editor, a worker for each run, what it says and draws, and the
 * inspector of what it compiled.
 */
import { InspectorFrame } from "../inspector-frame.ts";
import { byId, h } from "./dom.ts";
import { Editor, type Names } from "./editor.ts";
import { hashOf, sharedOf } from "./link.ts";
import type { Failure, FromWorker, Listed, Target, ToWorker } from "./messages.ts";
import { moduleText, ProgramError } from "./module-text.ts";
import { Output } from "./output.ts";

/** Filled in by the build: programs by name, and names to complete. */
declare const PROGRAMS: Readonly<Record<string, string>>;
declare const NAMES: Names;

const folder = new URL(".", import.meta.url);

class Playground {
  readonly #editor = new Editor(byId("editor"), NAMES, () => this.#run());
  readonly #output = new Output();
  readonly #frame = new InspectorFrame(
    byId<HTMLIFrameElement>("inspector"),
    new URL("inspector.html", folder),
  );
  #worker: Worker | undefined;
  #programs: readonly Listed[] = [];
  #chosen: number | undefined;

  constructor() {
    const menu = byId<HTMLSelectElement>("programs");
    for (const name of Object.keys(PROGRAMS)) menu.append(h("option", { value: name }, name));
    menu.addEventListener("change", () => this.#open(PROGRAMS[menu.value]!));
    byId("run").addEventListener("click", () => this.#run());
    byId("stop").addEventListener("click", () => this.#stop());
    byId("share").addEventListener("click", () => void this.#share());
    byId("profile").addEventListener("click", () => this.#inspect(true));
    byId("compiled").addEventListener("change", () => {
      this.#chosen = Number(byId<HTMLSelectElement>("compiled").value);
      this.#inspect(false);
    });
    addEventListener("hashchange", () => void this.#fromAddress());
    void this.#fromAddress();
  }

  /** The program of the address: one that is shared, one of ours by name, or the first. */
  async #fromAddress(): Promise<void> {
    const shared = await sharedOf(location.hash);
    const named = decodeURIComponent(location.hash.slice(1));
    const name = Object.hasOwn(PROGRAMS, named) ? named : Object.keys(PROGRAMS)[0]!;
    if (shared) byId<HTMLSelectElement>("target").value = shared.target;
    else byId<HTMLSelectElement>("programs").value = name;
    this.#open(shared?.code ?? PROGRAMS[name]!);
  }

  #open(code: string): void {
    this.#stop();
    this.#editor.text = code;
    this.#output.clear();
    this.#tell("");
  }

  get #target(): Target {
    return byId<HTMLSelectElement>("target").value as Target;
  }

  #tell(text: string): void {
    byId("state").textContent = text;
  }

  #run(): void {
    this.#end();
    this.#output.clear();
    this.#editor.mark();
    this.#programs = [];
    this.#chosen = undefined;
    this.#listPrograms();
    let module: string;
    try {
      module = moduleText(this.#editor.text, new URL("packages/kiln/dist/", folder).href);
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      this.#fail({ text: `SyntaxError: ${error.message}`, line: error.line });
      return;
    }
    this.#tell("loading");
    document.body.dataset.state = "running";
    const worker = new Worker(new URL("worker.js", folder), { type: "module" });
    this.#worker = worker;
    worker.addEventListener("message", ({ data }) => {
      if (worker === this.#worker) this.#hear(data);
    });
    worker.addEventListener("error", (event) =>
      this.#fail({ text: event.message ?? "the worker cannot be loaded" }),
    );
    this.#ask({ kind: "run", module, target: this.#target });
  }

  #ask(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #hear(message: FromWorker): void {
    switch (message.kind) {
      case "ready":
        this.#tell(`running on ${message.device}`);
        break;
      case "log":
        this.#output.say(message.text, message.level);
        break;
      case "picture":
        this.#output.show(message.name, message.picture);
        break;
      case "plot":
        this.#output.plot(message.name, message.value);
        break;
      case "programs":
        this.#programs = message.programs;
        this.#listPrograms();
        break;
      case "inspection":
        this.#frame.show(message.inspection);
        break;
      case "refused":
        this.#output.say(message.text, "error");
        break;
      case "failed":
        this.#fail(message);
        break;
      case "done":
        document.body.dataset.state = "done";
        this.#tell(`done in ${Math.round(message.ms).toLocaleString("en-US")} ms`);
        break;
      default:
        message satisfies never;
    }
  }

  /** The menu of compiled functions. The first one that has run is inspected by itself. */
  #listPrograms(): void {
    const menu = byId<HTMLSelectElement>("compiled");
    const ran = this.#programs.filter((p) => p.calls > 0);
    menu.replaceChildren(...ran.map((p) => h("option", { value: String(p.id) }, this.#nameOf(p))));
    menu.disabled = ran.length === 0;
    byId<HTMLButtonElement>("profile").disabled = ran.length === 0;
    if (ran[0] && this.#chosen === undefined) {
      this.#chosen = ran[0].id;
      this.#inspect(false);
    }
    if (this.#chosen !== undefined) menu.value = String(this.#chosen);
  }

  /** Its own name, or that of the variable which holds it. */
  #nameOf({ id, name, line }: Listed): string {
    const text = this.#editor.text.split("\n")[(line ?? 0) - 1] ?? "";
    return name || (/\b(?:const|let|var) (\w+)/.exec(text)?.[1] ?? `program ${id + 1}`);
  }

  #inspect(profile: boolean): void {
    if (this.#chosen !== undefined) this.#ask({ kind: "inspect", program: this.#chosen, profile });
  }

  #fail({ text, line, anchor }: Failure): void {
    document.body.dataset.state = "failed";
    this.#tell(line === undefined ? "failed" : `failed in line ${line}`);
    this.#output.say(text, "error", anchor && `../docs/errors.html#${anchor}`);
    this.#editor.mark(line);
  }

  #stop(): void {
    if (this.#worker) this.#tell("stopped");
    this.#end();
  }

  #end(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    document.body.dataset.state = "idle";
  }

  async #share(): Promise<void> {
    const hash = await hashOf({ code: this.#editor.text, target: this.#target });
    history.replaceState(null, "", `#${hash}`);
    try {
      await navigator.clipboard.writeText(location.href);
      this.#tell("the link is copied");
    } catch {
      this.#tell("the link is the address of this page");
    }
  }
}

new Playground();
