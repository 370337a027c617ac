/**
 * Errors as the user reads them: where in the user's program, what class, what message; one line,
 * and one of repair if the error has it.
 */
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { errorPage } from "../error-page.ts";
import { complain } from "./terminal.ts";
import { UsageError } from "./usage.ts";

const installed = /[\\/]node_modules[\\/](?!\.cache[\\/])/;

/** The repository where the command runs from it. A user may have folders of the same names. */
const repository = fileURLToPath(import.meta.url).split(/[\\/]packages[\\/]kiln[\\/]/)[0]! + sep;
const workspace = /^(?:packages[\\/][\w-]+|compiler|runtime)[\\/](?:src|dist)[\\/]/;

const isOurs = (path: string): boolean =>
  installed.test(path) ||
  (path.startsWith(repository) && workspace.test(path.slice(repository.length)));

/** `train.ts:12:5: ShapeError: message`. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return `error: ${String(error)}`;
  if (error instanceof UsageError || error instanceof PlainError) return error.message;
  const at = userFrame(error.stack ?? "");
  const ofFile = at ? undefined : fileFailure(error);
  return ofFile ?? `${at ? `${at}: ` : ""}${error.name}: ${error.message}`;
}

/** A failure whose message says everything. */
export class PlainError extends Error {
  override name = "PlainError";
}

/**
 * `file:line:column` of the first stack frame in a file that is neither ours, a package's nor
 * Node's.
 */
function userFrame(stack: string): string | undefined {
  for (const line of stack.split("\n")) {
    const place = /^\s+at .*?\(?((?:file:\/\/)?[^\s()]+):(\d+):(\d+)\)?$/.exec(line);
    if (!place) continue;
    const path = place[1]!.startsWith("file://") ? fileURLToPath(place[1]!) : place[1]!;
    if (path.startsWith("node:") || path === "native" || isOurs(path)) continue;
    return `${short(path)}:${place[2]}:${place[3]}`;
  }
  return undefined;
}

/** The name that a file has until it is whole. */
const unfinished = /\.[0-9a-f]{24}\.tmp$/;

/** `out.html: no such file or directory` for an error of the file system; undefined for others. */
function fileFailure(error: Error): string | undefined {
  const { code, path, dest, message } = error as NodeJS.ErrnoException & { dest?: string };
  const file = dest ?? path?.replace(unfinished, "");
  const [, reason] = /^[A-Z0-9]+: ([^,]+),/.exec(message) ?? [];
  return code && file && reason ? `${short(file)}: ${reason}` : undefined;
}

/** Relative to the working folder where that is inside it. */
export function short(path: string): string {
  const from = relative(process.cwd(), path);
  return from.startsWith("..") ? path : from;
}

/** To a person, not to a file: what says more. */
function explained(error: unknown): string {
  const [, anchor] = errorPage(error)?.split("#") ?? [];
  return anchor && process.stderr.isTTY ? `  kiln explain ${anchor}\n` : "";
}

/** Prints the failure; its exit code. */
export function fail(error: unknown): number {
  if (process.env.KILN_DEBUG) complain(`${inspect(error)}\n`);
  else complain(`${describeFailure(error)}\n${explained(error)}`);
  return error instanceof UsageError ? 2 : 1;
}
