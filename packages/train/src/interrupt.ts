/**
 * Ctrl-C as a wish: the run ends after its step, and what was learnt is kept. A second one ends the
 * process. Where there are no signals, as in a page, only an AbortSignal interrupts.
 */

/** The part of Node's `process` that is used, if there is one. */
interface Signals {
  on(name: "SIGINT", f: () => void): unknown;
  off(name: "SIGINT", f: () => void): unknown;
  exit(code: number): never;
}

const signals = (): Signals | undefined => {
  const found = (globalThis as { process?: Partial<Signals> }).process;
  return found?.on && found.off && found.exit ? (found as Signals) : undefined;
};

export class Interrupt {
  #asked = false;
  #insisting = false;
  readonly #signal: AbortSignal | undefined;
  readonly #hear = (): void => {
    if (this.#insisting) signals()?.exit(130);
    if (!this.#asked) this.#listen();
    this.#asked = true;
  };

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signals()?.on("SIGINT", this.#hear);
  }

  get asked(): boolean {
    return this.#asked || this.#signal?.aborted === true;
  }

  /**
   * A terminal and npm may each deliver the same Ctrl-C, and the second may wait while a step runs:
   * only what arrives a second later counts as another one.
   */
  #listen(): void {
    const timer: unknown = setTimeout(() => {
      this.#insisting = true;
    }, 1000);
    (timer as { unref?(): void }).unref?.();
  }

  end(): void {
    signals()?.off("SIGINT", this.#hear);
  }
}

/**
 * Lets signals and timers be heard: a loop of steps that are done at once would never give way. A
 * timer of 0 ms would do it too, but waits a whole one, or four in a page: 2 % of a run that gives
 * way every 50 ms.
 */
export const breathe = (): Promise<void> =>
  new Promise((resolve) => {
    const { setImmediate } = globalThis as { setImmediate?: (f: () => void) => unknown };
    try {
      if (setImmediate) setImmediate(resolve);
      else bringByMessage(resolve);
    } catch {
      // There is neither, or both are functions that throw, as where Next runs routes at the edge.
      setTimeout(resolve, 0);
    }
  });

function bringByMessage(resolve: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(0);
}
