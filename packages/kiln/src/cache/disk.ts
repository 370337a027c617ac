/**
 * Kept programs as files, for Node: one each, in the folder that the system has for caches. Written
 * under a name of their own and renamed, so that processes may read and write at once and a crash
 * leaves no half of one under a key. Never fails a program.
 */
import type { Store } from "./store.ts";

/** Beyond these the files that were used longest ago go. */
export const mostBytes = 2 ** 28;
const mostFiles = 2048;
/** What a process that died left behind. */
const abandonedMs = 3_600_000;
/** The folder is looked through at the first write, and then at each of so many. */
const sweepEvery = 32;

export interface KeptFile {
  readonly name: string;
  readonly bytes: number;
  readonly usedMs: number;
}

type Fs = typeof import("node:fs");

function builtin<M>(name: string): M | undefined {
  return globalThis.process?.getBuiltinModule?.(name) as M | undefined;
}

/**
 * The folder of kept programs: `KILN_CACHE`, or one in the user's caches; undefined where it says
 * `off`.
 */
export function cacheFolder(): string | undefined {
  const { KILN_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const { join, resolve } = builtin<typeof import("node:path")>("node:path")!;
  if (KILN_CACHE && /^(off|0|false)$/i.test(KILN_CACHE)) return undefined;
  if (KILN_CACHE) return resolve(KILN_CACHE);
  const home = builtin<typeof import("node:os")>("node:os")!.homedir();
  const caches =
    process.platform === "win32"
      ? (LOCALAPPDATA ?? join(home, "AppData/Local"))
      : process.platform === "darwin"
        ? join(home, "Library/Caches")
        : XDG_CACHE_HOME || join(home, ".cache");
  return join(caches, "kiln", "programs");
}

/**
 * Undefined where it is turned off, or Node is older than 20.16 and has no way to its modules from
 * here.
 */
export function openDisk(): Store | undefined {
  const fs = builtin<Fs>("node:fs");
  const folder = fs && cacheFolder();
  return folder === undefined ? undefined : new Disk(fs!, folder);
}

export class Disk implements Store {
  readonly folder: string;
  readonly #fs: Fs;
  #writes = 0;
  #closed = false;

  constructor(fs: Fs, folder: string) {
    this.#fs = fs;
    this.folder = folder;
  }

  digest(what: string | Uint8Array): string {
    const { createHash } = builtin<typeof import("node:crypto")>("node:crypto")!;
    return createHash("sha256").update(what).digest("hex");
  }

  read(key: string): Uint8Array | undefined {
    try {
      if (!this.#isOwn()) return undefined;
      const path = this.#path(key);
      const { size } = this.#fs.lstatSync(path);
      if (size > mostBytes) return undefined;
      const bytes = this.#fs.readFileSync(path);
      const now = new Date();
      // What says when it was used last. A folder that may only be read has no order to keep.
      try {
        this.#fs.utimesSync(path, now, now);
      } catch {}
      return bytes;
    } catch {
      return undefined;
    }
  }

  write(key: string, bytes: Uint8Array): void {
    if (this.#closed) return;
    const temporary = `${this.#path(key)}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`;
    try {
      this.#fs.mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      if (!this.#isOwn()) throw new Error("others may write there");
      if (this.#writes++ % sweepEvery === 0) this.#sweep(bytes.length);
      this.#fs.writeFileSync(temporary, bytes, { flag: "wx", mode: 0o600 });
      this.#fs.renameSync(temporary, this.#path(key));
    } catch (error) {
      this.#closed = true;
      this.#discard(temporary);
      console.warn(
        `cache: programs are not kept in ${this.folder}: ${(error as Error).message}\n  set KILN_CACHE to another folder, or to "off"`,
      );
    }
  }

  remove(key: string): void {
    this.#discard(this.#path(key));
  }

  /** The kept programs, those used last first. */
  files(): KeptFile[] {
    return this.#entries()
      .filter(({ name }) => name.endsWith(ending))
      .sort((a, b) => b.usedMs - a.usedMs);
  }

  /** Removes all of them; how many there were. */
  clear(): number {
    const all = this.#entries();
    for (const { name } of all) this.#discard(`${this.folder}/${name}`);
    return all.filter(({ name }) => name.endsWith(ending)).length;
  }

  #path(key: string): string {
    return `${this.folder}/${key}${ending}`;
  }

  /**
   * Whether nobody but the user can put files there: what is read is run. Windows has no such
   * bits; there the profile is the user's.
   */
  #isOwn(): boolean {
    const uid = process.getuid?.();
    if (uid === undefined) return true;
    const { uid: owner, mode } = this.#fs.statSync(this.folder);
    return owner === uid && (mode & 0o022) === 0;
  }

  /** Files of ours; whatever else lies there stays. */
  #entries(): KeptFile[] {
    const found: KeptFile[] = [];
    let names: string[] = [];
    try {
      names = this.#fs.readdirSync(this.folder);
    } catch {}
    for (const name of names.filter((n) => ours.test(n)))
      try {
        const { size, mtimeMs } = this.#fs.lstatSync(`${this.folder}/${name}`);
        found.push({ name, bytes: size, usedMs: mtimeMs });
      } catch {
        // Another process has just removed it.
      }
    return found;
  }

  /** Makes room for `bytes` more, and some to spare, so that not every write has to. */
  #sweep(bytes: number): void {
    const old = Date.now() - abandonedMs;
    for (const { name, usedMs } of this.#entries())
      if (!name.endsWith(ending) && usedMs < old) this.#discard(`${this.folder}/${name}`);
    const files = this.files();
    let total = files.reduce((sum, f) => sum + f.bytes, bytes);
    if (total <= mostBytes && files.length < mostFiles) return;
    for (let last = files.pop(); last; last = files.pop()) {
      if (total <= 0.8 * mostBytes && files.length < 0.8 * mostFiles) return;
      total -= last.bytes;
      this.#discard(`${this.folder}/${last.name}`);
    }
  }

  #discard(path: string): void {
    try {
      this.#fs.rmSync(path, { force: true });
    } catch {}
  }
}

const ending = ".kiln";
const ours = /^[0-9a-f]{64}\.kiln(\.\d+\.\w+\.tmp)?$/;
