/**
 * Gets forgotten arrays collected. The engine does not see device memory, and so may let gigabytes
 * of unreachable arrays lie; when much is live, this makes the engine collect and gives it the
 * tasks in which finalizers run.
 */

/**
 * V8 collects when enough new array memory appears at once; it is never touched, so it costs no
 * physical memory. What is enough grows with the heap, so each attempt asks for more.
 */
const ballastBytes = 256 * 2 ** 20;

/**
 * A collection may be under way in steps, or have promoted what it should have freed: one is not
 * always enough.
 */
const attempts = 8;

export class Pressure {
  readonly #floorBytes: number;
  #threshold: number;

  /** Below `floorBytes` nothing is done, whatever lies about. */
  constructor(floorBytes: number) {
    this.#floorBytes = floorBytes;
    this.#threshold = floorBytes;
  }

  /**
   * A pause in which arrays may be collected, if more is live than when it was last of use; else
   * null.
   */
  relieve(live: () => number): Promise<void> | null {
    return live() < this.#threshold ? null : this.#collect(live);
  }

  async #collect(live: () => number): Promise<void> {
    const before = live();
    for (let attempt = 0; attempt < attempts && live() > before / 2; attempt++) {
      try {
        new ArrayBuffer(ballastBytes * (attempt + 1));
      } catch {
        // No room for it: then the engine has just tried to collect.
      }
      await nextTask();
      await nextTask();
    }
    // What survived is in use. Doubling keeps these pauses rare while a program builds up what it
    // needs.
    this.#threshold = Math.max(this.#floorBytes, 2 * live());
  }
}

/**
 * A loop of runs on the CPU never leaves the microtask queue by itself, and then no forgotten array
 * is finalized and no page is drawn. So a run waits for a fresh task when this much time has passed
 * since the last one.
 */
const yieldMs = 16;

/** A function that gives a pause of one task if the last such pause was long ago, else null. */
export function taskPauses(): () => Promise<void> | null {
  // Node loads ten modules at the first `performance.now`. A clock that was set back counts as long
  // ago.
  let last = Date.now();
  return () => {
    const since = Date.now() - last;
    if (since >= 0 && since < yieldMs) return null;
    return nextTask().then(() => {
      last = Date.now();
    });
  };
}

/**
 * Resolves in a task of its own, after finalizers and the page have had their chance. Browsers have
 * no setImmediate, and hold nested timers back by 4 ms, so there a message brings the task. Where
 * Next runs routes at the edge it has both, as functions that throw: a timer brings it.
 */
export const nextTask = (): Promise<void> =>
  new Promise((resolve) => {
    try {
      if (typeof setImmediate === "function") setImmediate(resolve);
      else bringByMessage(resolve);
    } catch {
      setTimeout(resolve);
    }
  });

function bringByMessage(resolve: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(null);
}
