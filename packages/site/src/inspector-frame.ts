/** The inspector's frame of a page: shows one inspection after another. */

export class InspectorFrame {
  readonly #frame: HTMLIFrameElement;
  readonly #url: URL;
  #inspection: unknown;

  constructor(frame: HTMLIFrameElement, url: URL) {
    this.#frame = frame;
    this.#url = url;
    addEventListener("message", ({ data, source }) => {
      if (source !== frame.contentWindow || data?.waits !== "kiln-inspector") return;
      const { theme } = document.documentElement.dataset;
      const message = { inspection: this.#inspection, ...(theme ? { theme } : {}) };
      if (this.#inspection) frame.contentWindow?.postMessage(message, location.origin);
    });
  }

  /** The frame is loaded anew, and asks for what it shows once it is there. */
  show(inspection: unknown): void {
    this.#inspection = inspection;
    document.body.classList.add("inspected");
    this.#frame.src = `${this.#url.href}?${Date.now()}`;
  }
}
