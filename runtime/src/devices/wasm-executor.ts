/**
 * Who runs the calls of a wasm device, and the least of them: the calling thread alone. Checks
 * nothing; a trap comes back as KernelTrap.
 */
import { doPart, type Entry, recordWords, type Stacks } from "./wasm-calls.ts";
import { partsAt } from "./wasm-words.ts";

export interface Run {
  readonly program: number;
  readonly words: Int32Array;
  readonly stacks: Stacks;
  /** So short that a page may do it on its own thread. */
  readonly light: boolean;
  /** Filled with the ms of each call. */
  readonly times: number[] | null;
}

export interface Executor {
  /** Threads that share a call. */
  readonly threads: number;
  add(program: number, module: WebAssembly.Module, entries: readonly string[]): Promise<void>;
  drop(program: number): void;
  /** One run at a time. Throws KernelTrap, or Error if a worker is lost. */
  run(run: Run): void | Promise<void>;
  end(why: string): void;
}

/** A program's functions on the calling thread. */
export async function instantiate(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  entries: readonly string[],
): Promise<Entry[]> {
  return entriesOf(await WebAssembly.instantiate(module, importsFor(memory)), entries);
}

const importsFor = (memory: WebAssembly.Memory): WebAssembly.Imports => ({
  env: { memory },
  Math: Math as unknown as WebAssembly.ModuleImports,
});

const entriesOf = ({ exports }: WebAssembly.Instance, names: readonly string[]): Entry[] =>
  names.map((name) => exports[name] as Entry);

/** All parts of all calls on this thread. */
export function runHere(entries: readonly Entry[], { words, stacks, times }: Run): void {
  for (let at = 0; at < words.length; at += recordWords(words, at)) {
    const start = times ? performance.now() : 0;
    for (let part = 0; part < words[at + partsAt]!; part++)
      doPart(entries, words, at, part, stacks.from);
    times?.push(performance.now() - start);
  }
}

/** The calling thread alone. */
export class Solo implements Executor {
  readonly threads = 1;
  readonly #memory: WebAssembly.Memory;
  readonly #entries = new Map<number, readonly Entry[]>();

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
  }

  async add(program: number, module: WebAssembly.Module, names: readonly string[]): Promise<void> {
    this.#entries.set(program, await instantiate(module, this.#memory, names));
  }

  addNow(program: number, module: WebAssembly.Module, names: readonly string[]): void {
    const instance = new WebAssembly.Instance(module, importsFor(this.#memory));
    this.#entries.set(program, entriesOf(instance, names));
  }

  drop(program: number): void {
    this.#entries.delete(program);
  }

  run(run: Run): void {
    runHere(this.#entries.get(run.program)!, run);
  }

  end(): void {
    this.#entries.clear();
  }
}
