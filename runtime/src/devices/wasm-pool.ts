/**
 * The workers of a wasm device: starts them, asks them for one thing at a time, and learns of their
 * end. They never keep a process alive but while something is asked of them. What the answers mean
 * is for the executors to know.
 */
import type { Thread, ThreadEvents } from "./wasm-thread.ts";
import { control, workerSource } from "./wasm-worker.ts";

export interface Message {
  readonly is: string;
  readonly entry?: number;
  readonly times?: readonly number[];
  readonly message?: string;
}

interface Question {
  readonly answers: readonly string[];
  left: number;
  readonly resolve: (last: Message) => void;
  readonly reject: (error: Error) => void;
}

export class Pool {
  readonly memory: WebAssembly.Memory;
  readonly block: Int32Array;
  readonly threads: readonly Thread[];
  /** Called when a worker ends by itself. */
  onFailure: (why: string) => void = () => {};
  #question: Question | null = null;
  #failure: string | null = null;
  #busy: Promise<void> | null = null;
  #dropped: number[] = [];
  /** Workers are at the control block, not at their messages, where a leader always is. */
  #following = false;

  /**
   * Starts `count` workers by `start`; the caller must await `open`. Throws where the page forbids
   * workers.
   */
  constructor(
    memory: WebAssembly.Memory,
    count: number,
    start: (source: string, events: ThreadEvents) => Thread,
  ) {
    this.memory = memory;
    const bytes = control.textEnd * 4;
    const shared = count > 0 ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
    this.block = new Int32Array(shared);
    this.threads = Array.from({ length: count }, () =>
      start(workerSource, {
        message: (data) => this.#receive(data),
        ended: (why) => this.#fail(`a worker ended: ${why}`),
      }),
    );
  }

  /** Tells each worker its number, from `first` on; one with number 0 leads the others. */
  async open(first: number): Promise<void> {
    const ready = this.ask(["ready"], this.threads.length);
    const { memory, block } = this;
    const threads = this.threads.length + first;
    this.threads.forEach((thread, i) => {
      const index = i + first;
      thread.post({ is: "start", memory, block, index, threads, leads: index === 0 });
    });
    await ready;
  }

  /** Makes a program known to every worker. */
  load(program: number, module: WebAssembly.Module, entries: readonly string[]): Promise<void> {
    return this.alone(async () => {
      if (this.threads.length === 0) return;
      if (this.#following) {
        this.block[control.program] = -1;
        this.announce();
      }
      this.#following = true;
      const ready = this.ask(["ready", "failed"], this.threads.length);
      for (const thread of this.threads)
        thread.post({ is: "load", program, module, entries, drop: this.#dropped });
      this.#dropped = [];
      await ready;
    });
  }

  /** Makes workers look at the control block. */
  announce(): void {
    Atomics.add(this.block, control.generation, 1);
    Atomics.notify(this.block, control.generation);
  }

  /** Workers forget the program at the next load. */
  drop(program: number): void {
    this.#dropped.push(program);
  }

  /** The last of `count` messages of these kinds; rejects if a worker ends or fails. */
  ask(answers: readonly string[], count: number): Promise<Message> {
    if (this.#failure !== null) return Promise.reject(new Error(this.#failure));
    if (count === 0) return Promise.resolve({ is: answers[0]! });
    for (const thread of this.threads) thread.hold(true);
    return new Promise((resolve, reject) => {
      this.#question = { answers, left: count, resolve, reject };
    });
  }

  /** True while `alone` has work. */
  get busy(): boolean {
    return this.#busy !== null;
  }

  /** Calls `work` when no other such work is under way: there is one question at a time. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = (this.#busy ?? Promise.resolve()).then(work);
    const settled = result.then(
      () => {},
      () => {},
    );
    this.#busy = settled;
    settled.then(() => {
      if (this.#busy === settled) this.#busy = null;
    });
    return result;
  }

  /** Ends the workers; whoever waits for them is told why. */
  end(why: string): void {
    this.onFailure = () => {};
    this.#fail(why);
    for (const thread of this.threads) thread.end();
  }

  #receive(message: Message): void {
    const question = this.#question;
    if (!question?.answers.includes(message.is)) return; // It came too late to matter.
    if (message.is === "failed") {
      this.#fail(`a worker failed: ${message.message}`);
      return;
    }
    question.left -= 1;
    if (question.left > 0) return;
    this.#close();
    question.resolve(message);
  }

  #fail(why: string): void {
    if (this.#failure !== null) return;
    this.#failure = why;
    const question = this.#question;
    this.#close();
    question?.reject(new Error(why));
    this.onFailure(why);
  }

  #close(): void {
    this.#question = null;
    for (const thread of this.threads) thread.hold(false);
  }
}
