/**
 * Compiles each program once: in this process by functions of any kind, and between processes where
 * there is a store. Where a program is found, no pass runs and the target's half of the compiler is
 * not loaded. docs/decisions/compile-cache.md
 */
import type { Artifact } from "@kiln-ml/artifact";
import type { Compiled, CompileOptions, Program } from "@kiln-ml/compiler";
import { statesOf } from "@kiln-ml/compiler/program";
import { settings } from "../devices/settings.ts";
import { type KeyOptions, programKey } from "./key.ts";
import { buildHash, openStore, type Store } from "./store.ts";

export interface OnceOptions extends CompileOptions {
  /** False compiles whatever is kept, and keeps nothing. */
  readonly cache?: boolean;
}

/**
 * Of this process: programs by the digest of their key, or by the key itself where there is no
 * digest.
 */
const kept = new Map<string, Artifact>();
const mostKept = 256;

/** What became of the programs that were asked for. */
export interface CacheCounts {
  readonly compiled: number;
  readonly fromMemory: number;
  readonly fromStore: number;
}

const counts = { compiled: 0, fromMemory: 0, fromStore: 0 };

/** Since the process began. */
export const cacheCounts = (): CacheCounts => ({ ...counts });

/** Forgets what this process keeps; for tests, and for measuring. */
export const forgetKept = (): void => kept.clear();

/**
 * The program as `compileProgram` makes it. Without what a tuner asks: decisions are none where it
 * was found.
 */
export async function compileOnce(program: Program, options: OnceOptions): Promise<Compiled> {
  const { cache = true, ...plain } = options;
  const { name = "program", observe, verify, refused, ...code } = plain;
  // Whoever looks on wants to see it done.
  const looks = observe || verify || refused;
  const place = cache && !looks ? await placeOf(program, code) : undefined;
  if (!place) return compiled(program, plain);
  const { key, store } = place;
  const found = remembered(key) ?? (store && (await stored(key, store)));
  if (found) {
    remember(key, found);
    const artifact = found.name === name ? found : { ...found, name };
    return { artifact, states: statesOf(program), decisions: [] };
  }
  const made = await compiled(program, plain);
  remember(key, made.artifact);
  if (store) await keep(key, made.artifact, store);
  return made;
}

/**
 * A program that was compiled by whoever looked on, an inspector or a tuner: kept as a call's is,
 * so that calls find it.
 */
export async function keepProgram(
  program: Program,
  artifact: Artifact,
  code: KeyOptions,
  cache = true,
): Promise<void> {
  counts.compiled++;
  const place = cache ? await placeOf(program, code) : undefined;
  if (!place) return;
  remember(place.key, artifact);
  if (place.store) await keep(place.key, artifact, place.store);
}

/** Where a program is kept; nowhere if it is a part of another, or nothing is to be kept. */
async function placeOf(
  program: Program,
  code: KeyOptions,
): Promise<{ readonly key: string; readonly store: Store | undefined } | undefined> {
  const text = settings.cache === false ? undefined : programKey(program, code);
  if (text === undefined) return undefined;
  const store = await openStore();
  return { key: store ? await store.digest(`${buildHash()}\n${text}`) : text, store };
}

async function compiled(program: Program, options: CompileOptions): Promise<Compiled> {
  const { compileProgram, loadTarget } = await import("@kiln-ml/compiler/compile");
  await loadTarget(options.target);
  counts.compiled++;
  return compileProgram(program, told(options));
}

/** Options that tell what is set to be told of the stages, too. */
function told(options: CompileOptions): CompileOptions {
  const { compiling } = settings;
  if (!compiling) return options;
  const { observe, name: program = "program" } = options;
  let last = performance.now();
  return {
    ...options,
    observe: (stage, state) => {
      const now = performance.now();
      compiling({ program, stage }, now - last);
      last = now;
      observe?.(stage, state);
    },
  };
}

function remembered(key: string): Artifact | undefined {
  const found = kept.get(key);
  if (found) counts.fromMemory++;
  return found;
}

function remember(key: string, artifact: Artifact): void {
  kept.delete(key);
  kept.set(key, artifact);
  if (kept.size > mostKept) kept.delete(kept.keys().next().value!);
}

/** What is in the store, and can be run. Anything else is removed. */
async function stored(key: string, store: Store): Promise<Artifact | undefined> {
  const bytes = await store.read(key);
  if (!bytes) return undefined;
  try {
    const { decodeEntry } = await import("./entry.ts");
    const artifact = await decodeEntry(key, bytes, store);
    counts.fromStore++;
    return artifact;
  } catch {
    await store.remove(key);
    return undefined;
  }
}

async function keep(key: string, artifact: Artifact, store: Store): Promise<void> {
  const { encodeEntry } = await import("./entry.ts");
  await store.write(key, await encodeEntry(key, artifact, store));
}
