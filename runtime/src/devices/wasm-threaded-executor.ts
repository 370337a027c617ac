/**
 * Executors of several threads: the calling thread with workers, or, in a page, whose own thread
 * may not sleep, a worker that leads the others. Loaded only where there are threads, and given
 * what the device has loaded already, or bundlers would cut that out as one more chunk.
 */
import type { doPart, Entry, KernelTrap, recordWords } from "./wasm-calls.ts";
import type { Executor, instantiate, Run, runHere } from "./wasm-executor.ts";
import { Pool } from "./wasm-pool.ts";
import { startThread, type ThreadHost } from "./wasm-thread.ts";
import type { maySleep } from "./wasm-threads.ts";
import { entryAt, noPart, partBits, partsAt } from "./wasm-words.ts";
import { control, spinMs } from "./wasm-worker.ts";

/** What the device has, by the same names. */
export interface Given extends ThreadHost {
  readonly doPart: typeof doPart;
  readonly KernelTrap: typeof KernelTrap;
  readonly recordWords: typeof recordWords;
  readonly instantiate: typeof instantiate;
  readonly runHere: typeof runHere;
  readonly maySleep: typeof maySleep;
}

/**
 * The executor of `threads` with its workers, which `onFailure` hears about. Rejects where they do
 * not start.
 */
export async function openThreadedExecutor(
  memory: WebAssembly.Memory,
  threads: number,
  script: string | undefined,
  onFailure: (why: string) => void,
  given: Given,
): Promise<{ executor: Executor; pool: Pool }> {
  const led = !given.maySleep();
  const first = led ? 0 : 1;
  let pool: Pool | undefined;
  try {
    pool = new Pool(memory, threads - first, (source, events) =>
      startThread(given, source, script, events),
    );
    await pool.open(first);
  } catch (error) {
    pool?.end("it is not used");
    throw error;
  }
  pool.onFailure = onFailure;
  return { executor: led ? new LedPoolExecutor(pool, given) : new PoolExecutor(pool, given), pool };
}

/**
 * A thread that waits longer than this lets its events be handled, one of which may be a worker's
 * death.
 */
const patienceMs = 50;

/** What both kinds of team keep: the workers, and the kernels' entries on the calling thread. */
abstract class Members implements Executor {
  readonly threads: number;
  protected readonly given: Given;
  protected readonly pool: Pool;
  protected readonly entries = new Map<number, readonly Entry[]>();

  constructor(pool: Pool, threads: number, given: Given) {
    this.given = given;
    this.pool = pool;
    this.threads = threads;
  }

  async add(program: number, module: WebAssembly.Module, names: readonly string[]): Promise<void> {
    this.entries.set(program, await this.given.instantiate(module, this.pool.memory, names));
    await this.pool.load(program, module, names);
  }

  drop(program: number): void {
    this.entries.delete(program);
    this.pool.drop(program);
  }

  abstract run(run: Run): void | Promise<void>;

  end(why: string): void {
    this.entries.clear();
    this.pool.end(why);
  }
}

/** The calling thread hands out the calls and does its share. */
class PoolExecutor extends Members {
  constructor(pool: Pool, given: Given) {
    super(pool, pool.threads.length + 1, given);
  }

  run(run: Run): void | Promise<void> {
    if (this.pool.busy) return this.pool.alone(async () => this.#goOn(run, 0));
    const running = this.#goOn(run, 0);
    if (running) return this.pool.alone(() => running);
  }

  /**
   * From the record at `first` on; a promise from the first call for which the workers keep this
   * thread waiting.
   */
  #goOn(run: Run, first: number): void | Promise<void> {
    const { words, times } = run;
    for (let at = first; at < words.length; at += this.given.recordWords(words, at)) {
      const start = times ? performance.now() : 0;
      const shared = words[at + partsAt]! > 1;
      if (shared) this.#share(run, at);
      else this.given.doPart(this.entries.get(run.program)!, words, at, 0, run.stacks.from);
      if (shared && !this.#finished()) return this.#goOnLater(run, at, start);
      this.#conclude(run, at, start);
    }
  }

  async #goOnLater(run: Run, at: number, start: number): Promise<void> {
    const { block } = this.pool;
    Atomics.store(block, control.tell, 1);
    // An answer may be one to an earlier question.
    while (Atomics.load(block, control.left) > 0) await this.pool.ask(["done"], 1);
    Atomics.store(block, control.tell, 0);
    this.#conclude(run, at, start);
    return this.#goOn(run, at + this.given.recordWords(run.words, at));
  }

  /** Hands out a call and does parts of it until all are taken. */
  #share(run: Run, at: number): void {
    const { block } = this.pool;
    this.#handOut(run, at);
    const entries = this.entries.get(run.program)!;
    const parts = run.words[at + partsAt]!;
    for (;;) {
      const part = Atomics.add(block, control.claim, 1) & noPart;
      if (part >= parts) break;
      this.given.doPart(entries, run.words, at, part, run.stacks.from);
      Atomics.sub(block, control.left, 1);
    }
  }

  #handOut({ program, words, stacks }: Run, at: number): void {
    const { block } = this.pool;
    const call = (Atomics.load(block, control.claim) >> partBits) + 1;
    // From here on a worker that is late with the call before claims nothing.
    Atomics.store(block, control.claim, (call << partBits) | noPart);
    block.set(words.subarray(at, at + this.given.recordWords(words, at)), control.call);
    block[control.program] = program;
    block[control.stack] = stacks.from;
    block[control.stride] = stacks.strideBytes;
    Atomics.store(block, control.left, words[at + partsAt]!);
    Atomics.store(block, control.claim, call << partBits);
    this.pool.announce();
  }

  /** Whether the workers are done, or soon were. */
  #finished(): boolean {
    const { block } = this.pool;
    if (Atomics.load(block, control.left) === 0) return true;
    const start = performance.now();
    for (;;) {
      const left = Atomics.load(block, control.left);
      if (left === 0) return true;
      const waited = performance.now() - start;
      if (waited > patienceMs) return false;
      if (waited > spinMs) Atomics.wait(block, control.left, left, patienceMs);
    }
  }

  #conclude({ words, times }: Run, at: number, start: number): void {
    const { block } = this.pool;
    if (Atomics.load(block, control.trap) !== 0)
      throw trapOf(this.given, block, words[at + entryAt]!);
    times?.push(performance.now() - start);
  }
}

function trapOf(given: Given, block: Int32Array, entry: number): KernelTrap {
  const text = block.subarray(control.text, control.text + block[control.trapLength]!);
  return new given.KernelTrap(entry, String.fromCharCode(...text));
}

/**
 * In a page: worker 0 is given the list of calls and hands them out; this thread awaits its
 * message.
 */
class LedPoolExecutor extends Members {
  constructor(pool: Pool, given: Given) {
    super(pool, pool.threads.length, given);
  }

  run(run: Run): void | Promise<void> {
    if (run.light) return this.given.runHere(this.entries.get(run.program)!, run);
    return this.pool.alone(() => this.#lead(run));
  }

  async #lead({ program, words, stacks, times }: Run): Promise<void> {
    const pool = this.pool;
    const answer = pool.ask(["ran", "trap"], 1);
    const { from: stack, strideBytes: stride } = stacks;
    pool.threads[0]!.post({ is: "run", program, words, stack, stride, timed: times !== null });
    const { is, entry, times: measured } = await answer;
    if (is === "trap") throw trapOf(this.given, pool.block, entry!);
    if (times) times.push(...measured!);
  }
}
