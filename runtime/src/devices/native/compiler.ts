/**
 * The C compiler of this machine: finds it, asks it what the processor has, and makes libraries of
 * kernels, which are kept by content. Loads nothing and runs none of them.
 *
 * What is kept is found by a hash of every file, the flags, and all macros that the compiler has
 * defined for this processor: another compiler, another version or another machine that shares the
 * folder finds nothing of it. A library is made under a name of its own and renamed, so that a
 * compile that is killed leaves no half of one.
 */
import { DeviceError } from "@kiln-ml/artifact";
import { node } from "./node-modules.ts";

/** A compiler that was found, and what it says of the processor. */
export interface Compiler {
  /** As it was named, and as the compiler calls itself. */
  readonly command: string;
  readonly version: string;
  /** Elements of 32 bits in the widest vectors of the processor. */
  readonly lanes: number;
  readonly flags: readonly string[];
  /** All that tells it from another. */
  readonly identity: string;
}

/**
 * Exact where C leaves room: no product is fused with a sum that did not ask for it, integers wrap.
 * Nobody reads `errno` or the flags of the processor.
 */
const flags =
  "-O2 -std=gnu11 -fPIC -w -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv".split(" ");
/** What asks for all that this processor has; some compilers know only the second. */
const machines = ["-march=native", "-mcpu=native"];

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly text: string;
  readonly failed?: string;
}

/** Runs a command without a shell; what it printed, whether it succeeded or not. */
function runCommand(command: string, args: readonly string[], input?: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = node.child().spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
    let text = "";
    const add = (chunk: Buffer): void => {
      if (text.length < 1e6) text += chunk;
    };
    child.stdout.on("data", add);
    child.stderr.on("data", add);
    child.on("error", (e) => resolve({ code: null, signal: null, text, failed: e.message }));
    child.on("close", (code, signal) => resolve({ code, signal, text }));
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
  });
}

/** `KILN_CC` if it is set, else what the system calls its compiler. */
const candidates = (): string[] =>
  process.env.KILN_CC ? [process.env.KILN_CC] : ["cc", "gcc", "clang"];

/**
 * The compiler of this machine. Throws DeviceError where there is none, or the one that was named
 * is none.
 */
export async function findCompiler(named?: string): Promise<Compiler> {
  const tried = named === undefined ? candidates() : [named];
  let why = "";
  for (const command of tried)
    for (const machine of machines) {
      const { code, text, failed } = await runCommand(command, [machine, "-dM", "-E", "-xc", "-"]);
      if (code === 0 && text.includes("#define __VERSION__"))
        return compilerOf(command, machine, text);
      why = failed ?? text.split("\n")[0] ?? "";
    }
  throw new DeviceError(
    `native: no C compiler is to be had: ${tried.join(", ")}: ${why}\n  install gcc or clang, or name one in KILN_CC; the target wasm needs none`,
  );
}

/**
 * GCC 12 takes some functions that store through `mem` for ones that change nothing, and drops
 * calls of them: kernels are called through a table, but not those that it found equal to others.
 */
const notByGcc = ["-fno-ipa-icf", "-fno-ipa-modref", "-fno-ipa-pure-const"];

function compilerOf(command: string, machine: string, macros: string): Compiler {
  const has = (name: string): boolean => macros.includes(`#define ${name} `);
  const version = /#define __VERSION__ "([^"]*)"/.exec(macros)![1]!;
  const lanes = has("__AVX512F__") ? 16 : has("__AVX2__") ? 8 : 4;
  const own = has("__clang__") ? [] : notByGcc;
  const all = [...flags, ...own, machine, `-DLANES=${lanes}`];
  const name = has("__clang__") ? version.split(" (")[0]! : `gcc ${version}`;
  return {
    command,
    version: name,
    lanes,
    flags: all,
    identity: [command, ...all, macros].join("\n"),
  };
}

/** A library to be made: files by name, of which `.c` are compiled. */
export type Sources = ReadonlyMap<string, string>;

const hashOf = (c: Compiler, sources: Sources): string => {
  const hash = node.crypto().createHash("sha256").update(c.identity);
  for (const [name, text] of sources) hash.update(`\0${name}\0${text}`);
  return hash.digest("hex").slice(0, 40);
};

/** The path of the library, which is made unless it is kept. Throws DeviceError if it cannot be. */
export async function libraryOf(c: Compiler, sources: Sources): Promise<string> {
  const folder = keptFolder();
  const path = node.path().join(folder, `${hashOf(c, sources)}.so`);
  if (isOurFile(path)) {
    touch(path);
    return path;
  }
  try {
    await make(c, sources, folder, path);
  } catch (error) {
    if (error instanceof DeviceError) throw error;
    throw new DeviceError(
      `native: the library is not written: ${(error as Error).message}\n  free some space in ${folder}, or use the target wasm`,
      { cause: error },
    );
  }
  return path;
}

/** Used now: those that were used longest ago go first. */
function touch(path: string): void {
  try {
    node.fs().utimesSync(path, new Date(), new Date());
  } catch {
    // Another process may have taken it away.
  }
}

async function make(c: Compiler, sources: Sources, folder: string, path: string): Promise<void> {
  const [fs, { join }] = [node.fs(), node.path()];
  const scratch = fs.mkdtempSync(join(folder, "making-"));
  try {
    for (const [name, text] of sources) fs.writeFileSync(join(scratch, name), text);
    const units = [...sources.keys()].filter((name) => name.endsWith(".c"));
    const objects = units.map((name) => join(scratch, name.replace(/c$/, "o")));
    await eachAtOnce(units, async (name, i) => {
      await compile(c, ["-c", join(scratch, name), "-o", objects[i]!]);
    });
    const made = join(scratch, "made.so");
    await compile(c, ["-shared", ...objects, "-o", made, "-lm", "-lpthread"]);
    // Whatever umask the linker had.
    fs.chmodSync(made, 0o700);
    fs.renameSync(made, path);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
  sweep(folder, path);
}

/** As many at once as there are processors. */
async function eachAtOnce<T>(
  list: readonly T[],
  work: (item: T, i: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < list.length) {
      const i = next++;
      await work(list[i]!, i);
    }
  };
  const workers = Math.min(list.length, node.os().availableParallelism());
  await Promise.all(Array.from({ length: workers }, worker));
}

async function compile(c: Compiler, args: readonly string[]): Promise<void> {
  const { code, signal, text, failed } = await runCommand(c.command, [...c.flags, ...args]);
  if (code === 0) return;
  const lines = text.split("\n").filter((l) => /error|fatal|No space/i.test(l));
  const why = failed ?? (signal ? `it was ended by ${signal}` : (lines[0] ?? `exit code ${code}`));
  throw new DeviceError(
    `native: ${c.command} (${c.version}) fails: ${why.trim()}\n  use the target wasm, or name another compiler in KILN_CC`,
  );
}

/** Beyond this the libraries that were used longest ago go. */
const mostBytes = 2 ** 28;
const abandonedMs = 3_600_000;

/** Takes away what a compile that was killed left behind, and the oldest of too much. */
function sweep(folder: string, keep: string): void {
  const [fs, { join }] = [node.fs(), node.path()];
  try {
    const kept = fs.readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      const { mtimeMs, size } = fs.statSync(path);
      if (name.startsWith("making-")) {
        if (Date.now() - mtimeMs > abandonedMs) fs.rmSync(path, { recursive: true, force: true });
        return [];
      }
      return name.endsWith(".so") ? [{ path, mtimeMs, size }] : [];
    });
    let bytes = kept.reduce((n, f) => n + f.size, 0);
    for (const f of kept.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (bytes <= mostBytes) return;
      if (f.path === keep) continue;
      fs.rmSync(f.path, { force: true });
      bytes -= f.size;
    }
  } catch {
    // Another process sweeps as well.
  }
}

let own: string | undefined;

/**
 * The folder of libraries: beside kept programs, in the user's caches, or one for this process
 * alone where `KILN_CACHE` is off or others may write there: what is in it is run.
 */
export function keptFolder(): string {
  const wanted = wantedFolder();
  if (wanted !== undefined && isOurs(wanted)) return wanted;
  own ??= openOwn();
  return own;
}

function wantedFolder(): string | undefined {
  const { KILN_CACHE, XDG_CACHE_HOME } = process.env;
  const { join, resolve } = node.path();
  if (KILN_CACHE && /^(off|0|false)$/i.test(KILN_CACHE)) return undefined;
  if (KILN_CACHE) return resolve(KILN_CACHE, "native");
  const mac = process.platform === "darwin";
  if (XDG_CACHE_HOME && !mac) return join(XDG_CACHE_HOME, "kiln", "native");
  try {
    return join(node.os().homedir(), mac ? "Library/Caches" : ".cache", "kiln", "native");
  } catch {
    // A user without a home, as in some containers.
    return undefined;
  }
}

function isOurs(folder: string): boolean {
  const fs = node.fs();
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.accessSync(folder, fs.constants.W_OK);
    const { uid, mode } = fs.statSync(folder);
    return uid === process.getuid?.() && (mode & 0o022) === 0;
  } catch {
    return false;
  }
}

/** A file, no link, that nobody else may have written. */
function isOurFile(path: string): boolean {
  const found = node.fs().lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

/** Throws DeviceError where no folder can be made. */
function openOwn(): string {
  const fs = node.fs();
  const within = node.os().tmpdir();
  let folder: string;
  try {
    folder = fs.mkdtempSync(node.path().join(within, "kiln-native-"));
  } catch (cause) {
    throw new DeviceError(
      `native: no folder for libraries can be made: ${(cause as Error).message}\n  give TMPDIR a folder that can be written, not ${within}, or use the target wasm`,
      { cause },
    );
  }
  process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}
