/**
 * Decides when a run may start: in the order of the calls, with a bounded number unfinished, so that a loop that
 * never reads cannot queue up the GPU without end, and after any pause that the device wants. Runs nothing itself.
 */
export interface TurnRules {
  /** Runs that may be submitted and not finished. */
  readonly max: number;
  /** Resolves when all that was submitted so far is finished; null if that is always so. */
  readonly finished: (() => Promise<unknown>) | null;
  /** A pause that the next run must wait for, or null. Not asked again until the pause is over. */
  readonly pause: () => Promise<void> | null;
}

export class Turns {
  readonly #rules: TurnRules;
  readonly #waiting: (() => void)[] = [];
  #free: number;
  #pausing = false;
  /** A run goes on after its call; until it is over none may come between. */
  #alone = false;

  constructor(rules: TurnRules) {
    this.#rules = rules;
    this.#free = rules.max;
  }

  /** True if nothing is running or waiting. */
  get idle(): boolean {
    return this.#free === this.#rules.max && this.#waiting.length === 0 && !this.#pausing;
  }

  /** Calls `work` when its turn has come, which may be before this returns. */
  take<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          const result = work();
          resolve(result);
          if (result instanceof Promise) {
            this.#alone = true;
            const end = () => {
              this.#alone = false;
              this.#end();
            };
            result.then(end, end).then(() => this.#advance());
          } else this.#end();
        } catch (error) {
          reject(error);
          this.#end();
        }
      });
      this.#advance();
    });
  }

  // Work starts inside this loop and not in a continuation of its caller, or a later call could overtake it.
  readonly #advance = (): void => {
    while (!this.#pausing && !this.#alone && this.#free > 0 && this.#waiting.length > 0) {
      const pause = this.#rules.pause();
      if (pause) {
        this.#pausing = true;
        pause.then(() => {
          this.#pausing = false;
          this.#advance();
        });
        return;
      }
      this.#free -= 1;
      this.#waiting.shift()!();
    }
  };

  readonly #end = (): void => {
    const { finished } = this.#rules;
    const free = () => {
      this.#free += 1;
      this.#advance();
    };
    // A lost device rejects; whoever waits then learns of the loss by its own check.
    if (finished) finished().then(free, free);
    else this.#free += 1;
  };
}
