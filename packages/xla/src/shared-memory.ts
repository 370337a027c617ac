/**
 * Large parts of frames go through memory that both processes see: an unnamed file of /dev/shm,
 * which the other end opens through /proc. A pipe copies each byte into the kernel and out of it in
 * pieces of 64 KiB, and holds up both ends meanwhile. Only on Linux; elsewhere, and where /dev/shm
 * is full, parts stay in the pipe.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";

/** A part that lies in shared memory: its path, as long as the sender keeps it, and its bytes. */
export type SharedPart = readonly [path: string, bytes: number];

/** Smaller parts cost less in the pipe than a file does. */
export const sharedFrom = 1 << 18;

/** Linux's O_TMPFILE with O_RDWR, which Node has no name for: a file without a name. */
const unnamed = 0o20200002;
/** The most that one call of the system moves. */
const atOnce = 1 << 30;

export interface Stored {
  readonly part: SharedPart;
  /** The memory is freed when both ends have closed it. */
  close(): void;
}

/** Bytes in shared memory; undefined where there is none, or not enough. */
export function storeShared(bytes: Uint8Array): Stored | undefined {
  if (process.platform !== "linux") return undefined;
  let fd: number | undefined;
  try {
    fd = openSync("/dev/shm", unnamed, 0o600);
    for (let at = 0; at < bytes.length; )
      at += writeSync(fd, bytes, at, Math.min(atOnce, bytes.length - at), at);
  } catch {
    if (fd !== undefined) closeSync(fd);
    return undefined;
  }
  const opened = fd;
  return {
    part: [`/proc/${process.pid}/fd/${opened}`, bytes.length],
    close: () => closeSync(opened),
  };
}

/** A copy of a part that the other end stored. */
export function takeShared([path, bytes]: SharedPart): Uint8Array {
  const out = new Uint8Array(bytes);
  const fd = openSync(path, "r");
  try {
    for (let at = 0; at < bytes; ) {
      const read = readSync(fd, out, at, Math.min(atOnce, bytes - at), at);
      if (read === 0) throw new Error(`${path} has ${at} of ${bytes} bytes`);
      at += read;
    }
  } finally {
    closeSync(fd);
  }
  return out;
}
