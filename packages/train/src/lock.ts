/**
 * One trainer a folder: a file with the number of its process. That of a process that is gone counts for nothing.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { GraphError } from "@kiln-ml/ir";

const held = new Map<string, () => void>();

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is one that we may not signal.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Who holds the lock, if they still may. */
function holderOf(path: string): string | undefined {
  const [pid = "", host = ""] = readFileSync(path, "utf8").split("\n");
  if (host !== hostname()) return `process ${pid} of ${host}`;
  if (Number(pid) === process.pid) return held.has(path) ? "this process" : undefined;
  return isAlive(Number(pid)) ? `process ${pid}` : undefined;
}

/** Takes the folder, which is made; returns what gives it back. Throws GraphError while another run has it. */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, ".lock");
  const text = `${process.pid}\n${hostname()}\n`;
  try {
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const holder = holderOf(path);
    if (holder !== undefined)
      throw new GraphError(
        `checkpoint: ${folder} is in use by ${holder}\n  train into another folder, or remove ${path} if that run is gone`,
      );
    writeFileSync(path, text);
  }
  const release = (): void => {
    held.delete(path);
    process.off("exit", release);
    rmSync(path, { force: true });
  };
  held.set(path, release);
  process.on("exit", release);
  return release;
}
