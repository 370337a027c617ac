/**
 * Ctrl-C as a wish: the loop ends at the next batch and what was learnt is kept. A second one ends the process.
 */
export class Interrupt {
  #asked = false;
  #insisting = false;

  constructor() {
    process.on("SIGINT", () => {
      if (this.#insisting) process.exit(130);
      if (!this.#asked) this.#listen();
      this.#asked = true;
    });
  }

  get asked(): boolean {
    return this.#asked;
  }

  /**
   * The terminal and npm may each deliver the same Ctrl-C, and the second may wait while a kernel runs or is compiled.
   * An immediate comes after the signals that wait, so only what arrives later counts as another one.
   */
  #listen(): void {
    const insist = () => {
      this.#insisting = true;
    };
    setTimeout(() => setImmediate(insist).unref(), 1000).unref();
  }
}
