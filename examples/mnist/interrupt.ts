/**
 * Ctrl-C as a wish: the loop ends at the next batch and what was learnt is kept. A second one ends the process.
 */
export class Interrupt {
  #at: number | undefined;

  constructor() {
    process.on("SIGINT", () => {
      this.#at ??= performance.now();
      // The terminal and npm may each deliver the same one.
      if (performance.now() - this.#at > 1000) process.exit(130);
    });
  }

  get asked(): boolean {
    return this.#at !== undefined;
  }
}
