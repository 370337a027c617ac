/**
 * Runs the calls of native programs: one call into C for all records of a run, on the calling
 * thread where the run is short, else on another while the caller goes on. Libraries are loaded
 * through koffi, which is asked for when the first device opens.
 */
import { DeviceError } from "@kiln-ml/artifact";
import type { LinearMemory } from "../linear-memory.ts";
import type { Executor, Run } from "../wasm-executor.ts";
import { nodeModule } from "../wasm-threads.ts";
import { type Compiler, libraryOf } from "./compiler.ts";
import { header } from "./header.ts";
import { poolText, tableText, unitText } from "./library-text.ts";
import { node } from "./node-modules.ts";

/** A function of C; `async` calls it on another thread. */
interface Foreign {
  (...args: unknown[]): number;
  async(...args: unknown[]): void;
}
interface Library {
  func(signature: string): Foreign;
}
interface Koffi {
  load(path: string): Library;
}

/** koffi as the project has it. Throws DeviceError where it is not installed. */
export function loadKoffi(): Koffi {
  const { createRequire } = nodeModule<typeof import("node:module")>("node:module")!;
  const from = [import.meta.url, node.path().join(process.cwd(), "package.json")];
  let why = "";
  for (const place of from)
    try {
      return createRequire(place)("koffi") as Koffi;
    } catch (error) {
      why = (error as Error).message.split("\n")[0]!;
    }
  throw new DeviceError(
    `native: koffi, which loads libraries, is not to be had: ${why}\n  npm install koffi, or use the target wasm`,
  );
}

/** The library of the pool, which a process loads once for each compiler. */
const pools = new Map<string, Promise<Pool>>();

export interface Pool {
  readonly koffi: Koffi;
  readonly library: Library;
  readonly run: Foreign;
  readonly address: Foreign;
  readonly threads: Foreign;
}

export function openPool(compiler: Compiler): Promise<Pool> {
  const known = pools.get(compiler.identity) ?? loadPool(compiler);
  pools.set(compiler.identity, known);
  known.catch(() => pools.delete(compiler.identity));
  return known;
}

async function loadPool(compiler: Compiler): Promise<Pool> {
  const koffi = loadKoffi();
  const path = await libraryOf(compiler, new Map([["pool.c", poolText]]));
  const library = loadLibrary(koffi, path);
  return {
    koffi,
    library,
    run: library.func(
      "int kiln_run(double entries, double mem, double words, int count, double stack, double stride, int threads, double times)",
    ),
    address: library.func("double kiln_address(void *at)"),
    threads: library.func("int kiln_threads(int wanted)"),
  };
}

/** About as much text as a compiler does in a second. */
const unitChars = 60_000;

/** The files of a program: kernels in units of about equal length, which compile in parallel. */
export function sourcesOf(kernels: readonly string[], entries: readonly string[]) {
  const length = kernels.reduce((n, k) => n + k.length, 0);
  const wanted = Math.min(node.os().availableParallelism(), Math.ceil(length / unitChars));
  const units = Array.from({ length: Math.max(1, wanted) }, () => ({
    length: 0,
    texts: [] as string[],
  }));
  for (const text of kernels) {
    const least = units.reduce((a, b) => (b.length < a.length ? b : a));
    least.texts.push(text);
    least.length += text.length;
  }
  return new Map([
    ["kiln.h", header],
    ["table.c", tableText(entries)],
    ...units.map(({ texts }, i) => [`unit${i}.c`, unitText(texts)] as const),
  ]);
}

/** The functions of a program. The library is kept, since it goes when the collector takes it. */
export interface Table {
  readonly library: Library;
  readonly address: number;
}

export function loadTable({ koffi }: Pool, path: string): Table {
  const library = loadLibrary(koffi, path);
  return { library, address: library.func("double kiln_entries(void)")() };
}

/** Throws DeviceError for one that does not load, and takes it away. */
function loadLibrary(koffi: Koffi, path: string): Library {
  try {
    return koffi.load(path);
  } catch (cause) {
    // Not found again: what is there is damaged, or of a machine that is not this one.
    node.fs().rmSync(path, { force: true });
    throw new DeviceError(
      `native: the library does not load: ${(cause as Error).message.split("\n")[0]}\n  run it again, which compiles it anew`,
      { cause },
    );
  }
}

export class NativeExecutor implements Executor {
  readonly threads: number;
  readonly #pool: Pool;
  readonly #linear: LinearMemory;
  readonly #tables = new Map<number, Table>();
  /** Memory outside of the collector's reach, which never moves. */
  #words = new Int32Array(1 << 14);
  #times = new Float64Array(1 << 10);
  #memory: { readonly bytes: Uint8Array; readonly address: number } | undefined;
  /** What runs on other threads use: the device may be destroyed before their end. */
  readonly #held = new Set<object>();

  constructor(pool: Pool, linear: LinearMemory, threads: number) {
    this.#pool = pool;
    this.#linear = linear;
    // The pool may have more, which another device asked for.
    this.threads = threads > 1 ? Math.min(threads, pool.threads(threads)) : 1;
  }

  /** Makes the table of functions the program's. */
  put(program: number, table: Table): void {
    this.#tables.set(program, table);
  }

  async add(): Promise<void> {}

  drop(program: number): void {
    this.#tables.delete(program);
  }

  run(run: Run): void | Promise<void> {
    const { words, stacks, light, times } = run;
    if (words.length > this.#words.length) this.#words = new Int32Array(2 * words.length);
    this.#words.set(words);
    if (times && words.length > this.#times.length) this.#times = new Float64Array(words.length);
    const table = this.#tables.get(run.program)!;
    const given = [
      table.address,
      this.#base(),
      this.#pool.address(this.#words),
      words.length,
      stacks.from,
      stacks.strideBytes,
      this.threads,
      times ? this.#pool.address(this.#times) : 0,
    ];
    if (light && !times) {
      this.#pool.run(...given);
      return;
    }
    const held = { table, memory: this.#linear.memory };
    this.#held.add(held);
    return new Promise((resolve, reject) => {
      this.#pool.run.async(...given, (error: Error | null) => {
        this.#held.delete(held);
        if (error) reject(error);
        else {
          if (times) this.#tell(words, times);
          resolve();
        }
      });
    });
  }

  end(): void {
    this.#tables.clear();
  }

  /** Where the memory lies, which may be another place once it has grown. */
  #base(): number {
    const { bytes } = this.#linear;
    if (this.#memory?.bytes !== bytes) this.#memory = { bytes, address: this.#pool.address(bytes) };
    return this.#memory.address;
  }

  #tell(words: Int32Array, times: number[]): void {
    let call = 0;
    for (let at = 0; at < words.length; at += 5 + words[at]!) times.push(this.#times[call++]!);
  }
}

/** The path of a program's library, made where it is not kept. */
export const makeLibrary = (
  compiler: Compiler,
  kernels: readonly string[],
  entries: readonly string[],
): Promise<string> => libraryOf(compiler, sourcesOf(kernels, entries));
