/**
 * Decides when a run may start: in the order of the calls, while the device has room for one more,
 * so that a loop that never reads cannot queue up the GPU without end, and after any pause that the
 * device wants. Runs nothing itself.
 */
import { DeviceError } from "@kiln-ml/artifact";

export interface RunQueueRules {
  /** Whether the device takes another run; when that has become true again, it calls `advance`. */
  readonly room: () => boolean;
  /** A pause that the next run must wait for, or null. Not asked again until the pause is over. */
  readonly pause: () => Promise<void> | null;
}

interface Waiting {
  /** Not what only has to come after the runs before it. */
  readonly needsRoom: boolean;
  readonly start: () => void;
}

export class RunQueue {
  readonly #rules: RunQueueRules;
  readonly #waiting: Waiting[] = [];
  #pausing = false;
  /** A run goes on; until it is over none may come between. */
  #alone = false;
  #inTurn = false;

  constructor(rules: RunQueueRules) {
    this.#rules = rules;
  }

  /** True if nothing is running or waiting. */
  get idle(): boolean {
    return !this.#alone && this.#waiting.length === 0;
  }

  /** True while work is called whose turn has come. */
  get inTurn(): boolean {
    return this.#inTurn;
  }

  /**
   * Calls `work`, a run, when its turn has come. Where that is before this returns, gives its
   * result or throws its error.
   */
  take<T>(work: () => T | Promise<T>): T | Promise<T> {
    return this.#take(work, true);
  }

  /** As `take`, for what has to come after the runs called before and is none itself. */
  follow<T>(work: () => T | Promise<T>): T | Promise<T> {
    return this.#take(work, false);
  }

  #take<T>(work: () => T | Promise<T>, needsRoom: boolean): T | Promise<T> {
    if (this.#waiting.length === 0 && this.#open(needsRoom))
      try {
        return this.#start(work);
      } finally {
        // What was called meanwhile.
        if (this.#waiting.length > 0) this.advance();
      }
    return new Promise<T>((resolve, reject) => {
      const start = () => {
        try {
          resolve(this.#start(work));
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.push({ needsRoom, start });
    });
  }

  /**
   * Calls `work` before it returns, and before it what waits for a pause, which the caller cannot
   * wait for. False where a run goes on meanwhile.
   */
  now(work: () => void): boolean {
    while (!this.#alone && this.#waiting.length > 0) this.#waiting.shift()!.start();
    if (this.#alone) return false;
    this.#start(work);
    if (this.#waiting.length > 0) this.advance();
    return true;
  }

  /**
   * Starts what may start. Work starts inside this loop and not in a continuation of its caller, or
   * a later call could overtake it.
   */
  readonly advance = (): void => {
    while (this.#waiting.length > 0 && this.#open(this.#waiting[0]!.needsRoom))
      this.#waiting.shift()!.start();
  };

  #start<T>(work: () => T | Promise<T>): T | Promise<T> {
    this.#alone = true;
    this.#inTurn = true;
    let result: T | Promise<T> | undefined;
    try {
      result = work();
      return result;
    } finally {
      this.#inTurn = false;
      if (result instanceof Promise) result.then(this.#end, this.#end);
      else this.#alone = false;
    }
  }

  readonly #end = (): void => {
    this.#alone = false;
    this.advance();
  };

  #open(needsRoom: boolean): boolean {
    if (this.#pausing || this.#alone) return false;
    if (!needsRoom) return true;
    if (!this.#rules.room()) return false;
    const pause = this.#rules.pause();
    if (!pause) return true;
    this.#pausing = true;
    pause.then(() => {
      this.#pausing = false;
      this.advance();
    });
    return false;
  }
}

/** The driver's `takeNow` by its queue. Throws DeviceError while other runs go on. */
export function takeNow<T>(queue: RunQueue, work: () => T): T {
  let result: T | undefined;
  const done = queue.now(() => {
    result = work();
  });
  if (!done)
    throw new DeviceError(
      "runNow: a run that was called before goes on\n  await it first, or read by data()",
    );
  return result as T;
}
