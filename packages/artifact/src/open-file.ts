/**
 * Opens the files that all readers of disks read, for Node: regular files only, so that a pipe or a device cannot hang a
 * reader, and those of a folder only where they really lie inside of it. What is checked is what is open: the path is asked
 * again afterwards, so that nothing can be put in its place in between. Reads ranges; knows no format.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readSync,
  realpathSync,
} from "node:fs";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { ArtifactError } from "./errors.ts";

/** A file that is open until it is closed. */
export interface OpenFile {
  /** What errors call it. */
  readonly name: string;
  /** In bytes, when it was opened. */
  readonly size: number;
  /** The bytes from `start` up to `end`; exactly so many. */
  read(start: number, end: number): Promise<Uint8Array>;
  readSync(start: number, end: number): Uint8Array;
  close(): void;
}

// Windows has neither flag, nor pipes among its files.
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;

/** One read of the system takes 2 GiB at most. */
const mostAtOnce = 2 ** 30;

/**
 * Opens a file that the caller has named; links are followed. Throws ArtifactError for what is no regular file, and the file
 * system's errors.
 */
export function openFile(path: string, name = path): OpenFile {
  // Opened so that a pipe without a writer does not wait for one.
  const file = openSync(path, O_RDONLY | O_NONBLOCK);
  return checked(file, name, () => {});
}

/**
 * Opens the file `name` of a folder whose contents nobody vouches for. undefined if there is none. Throws ArtifactError where
 * the file is not a regular one, or a link leads out of the folder.
 */
export function openInside(folder: string, name: string): OpenFile | undefined {
  const root = realpathSync(folder);
  try {
    const path = realpathSync(join(root, name));
    checkInside(root, path, name);
    const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    return checked(file, name, (stats) => {
      // A part of the path that became a link since then would show here.
      const now = realpathSync(join(root, name));
      checkInside(root, now, name);
      const { dev, ino } = lstatSync(now, { bigint: true });
      if (dev !== stats.dev || ino !== stats.ino)
        throw new ArtifactError(`${name}: the file was replaced while it was opened`);
    });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");

function checkInside(root: string, path: string, name: string): void {
  if (!path.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new ArtifactError(
      `${name}: a link leads out of the folder that the file must lie in\n  put the file itself in its place: cp -L copies what links point to`,
    );
}

function checked(file: number, name: string, check: (stats: BigIntStats) => void): OpenFile {
  try {
    const stats = fstatSync(file, { bigint: true });
    if (!stats.isFile())
      throw new ArtifactError(
        `${name}: is ${kindOf(stats)}, not a regular file\n  copy what it holds into a file, and name that`,
      );
    check(stats);
    return handleOf(file, name, Number(stats.size));
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function kindOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  return stats.isCharacterDevice() || stats.isBlockDevice() ? "a device" : "something else";
}

const readAt = promisify(read);

const handleOf = (file: number, name: string, size: number): OpenFile => {
  const shorter = (at: number) =>
    new ArtifactError(`${name}: offset ${at}: the file has become shorter`);
  const room = (start: number, end: number): Uint8Array => {
    // Before memory is asked for.
    if (end > size) throw shorter(size);
    return new Uint8Array(end - start);
  };
  const left = (bytes: Uint8Array, filled: number): number =>
    Math.min(bytes.length - filled, mostAtOnce);
  const checkCome = (come: number, at: number): number => {
    if (come > 0) return come;
    throw shorter(at);
  };
  return {
    name,
    size,
    async read(start, end) {
      const bytes = room(start, end);
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await readAt(file, bytes, at, left(bytes, at), start + at);
        at += checkCome(bytesRead, start + at);
      }
      return bytes;
    },
    readSync(start, end) {
      const bytes = room(start, end);
      for (let at = 0; at < bytes.length; )
        at += checkCome(readSync(file, bytes, at, left(bytes, at), start + at), start + at);
      return bytes;
    },
    close: () => closeSync(file),
  };
};

/** All bytes of a file that the caller has named; `most` refuses larger ones unread. Throws as `openFile` does. */
export async function readWhole(
  path: string,
  name = path,
  most = Number.MAX_SAFE_INTEGER,
): Promise<Uint8Array> {
  const file = openFile(path, name);
  try {
    if (file.size > most) throw new ArtifactError(`${name}: ${file.size} bytes, more than ${most}`);
    return await file.read(0, file.size);
  } finally {
    file.close();
  }
}
