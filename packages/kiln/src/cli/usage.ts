/** Options of commands, read strictly: an unknown option or a bad value is a usage error. */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { targetNames } from "@kiln-ml/compiler/program";
import { checkOptions } from "@kiln-ml/ir/errors";
import type { TargetOption } from "../devices/session.ts";
import type { ThreadCount } from "../devices/wasm-support.ts";

/** The command line is wrong; exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

export type OptionTable = NonNullable<Parameters<typeof parseArgs>[0]>["options"];

export interface Parsed {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
  /** What follows `--`. */
  readonly rest: readonly string[];
}

/** Throws UsageError for what the table does not allow. */
export function parseOptions(
  command: string,
  args: readonly string[],
  options: OptionTable,
): Parsed {
  const end = args.indexOf("--");
  const own = end < 0 ? args : args.slice(0, end);
  const rest = end < 0 ? [] : args.slice(end + 1);
  try {
    const { values, positionals } = parseArgs({
      args: [...own],
      options: options ?? {},
      allowPositionals: true,
      strict: true,
    });
    return { values: values as Parsed["values"], positionals, rest };
  } catch (error) {
    const [reason] = (error as Error).message.split(/[.\n]/);
    const [, given] = /^Unknown option '--(.+)'$/.exec(reason ?? "") ?? [];
    const near = given && meant(given, Object.keys(options ?? {}), "--");
    throw new UsageError(
      `kiln ${command}: ${lower(reason ?? "")}\n  ${near || `see kiln ${command} --help`}`,
    );
  }
}

/** `did you mean compile?`, if one of the names is near. */
export function meant(given: string, names: readonly string[], mark = ""): string | undefined {
  try {
    checkOptions("", { [given]: 1 }, Object.fromEntries(names.map((n) => [n, 1])) as never);
  } catch (error) {
    const [, near] = /did you mean (.+)\?$/.exec((error as Error).message) ?? [];
    return near && `did you mean ${mark}${near}?`;
  }
  return undefined;
}

/** Throws UsageError for a dim that the model does not have. */
export function checkDims(
  command: string,
  dims: Readonly<Record<string, unknown>>,
  names: readonly string[],
): void {
  for (const name of Object.keys(dims))
    if (!names.includes(name))
      throw new UsageError(
        `kiln ${command}: the model has no dim ${name}\n  ${names.length ? `its dims are ${names.join(", ")}` : "it has none"}`,
      );
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** The one file a command works on. Throws UsageError unless there is exactly one and it exists. */
export function oneFile(command: string, positionals: readonly string[]): string {
  const [path, extra] = positionals;
  if (path === undefined)
    throw new UsageError(`kiln ${command}: needs a file\n  see kiln ${command} --help`);
  if (extra !== undefined)
    throw new UsageError(
      `kiln ${command}: takes one file, got ${positionals.length}: ${positionals.join(" ")}\n  put arguments of the script behind --`,
    );
  if (!existsSync(path)) throw new UsageError(`kiln ${command}: ${path} does not exist`);
  return path;
}

export function targetFrom(command: string, value: Parsed["values"][string]): TargetOption {
  const names = ["auto", ...targetNames];
  if (value === undefined) return "auto";
  if (typeof value !== "string" || !names.includes(value))
    throw new UsageError(
      `kiln ${command}: unknown target ${value}\n  targets are ${names.join(", ")}`,
    );
  return value as TargetOption;
}

/** `js,wasm`: each once, "auto" by itself. */
export function targetsFrom(
  command: string,
  value: Parsed["values"][string],
): readonly [TargetOption, ...TargetOption[]] {
  const names = typeof value === "string" ? value.split(",") : [value];
  const targets = names.map((name) => targetFrom(command, name));
  const twice = targets.find((t, i) => targets.indexOf(t) !== i);
  if (twice) throw new UsageError(`kiln ${command}: --target says ${twice} twice: ${value}`);
  if (targets.length > 1 && targets.includes("auto"))
    throw new UsageError(`kiln ${command}: auto is no target beside others: ${value}`);
  return targets as [TargetOption, ...TargetOption[]];
}

export function threadsFrom(command: string, value: Parsed["values"][string]): ThreadCount {
  if (value === undefined || value === "auto") return "auto";
  return countFrom(command, "threads", value, 1);
}

/** A count given as an option. */
export function countFrom(
  command: string,
  name: string,
  value: Parsed["values"][string],
  otherwise: number,
): number {
  if (value === undefined) return otherwise;
  const n = Number(value);
  if (!Number.isInteger(n) || n < 1)
    throw new UsageError(
      `kiln ${command}: --${name} must be an integer of 1 or more, got ${value}`,
    );
  return n;
}

/** `N=32,T=8` as numbers by name. */
export function dimsFrom(
  command: string,
  value: Parsed["values"][string],
): Readonly<Record<string, number>> {
  const like = { option: "--dims", such: "N=32,T=8", extent: /^\d+$/ };
  return Object.fromEntries(pairsFrom(command, like, value).map(([n, e]) => [n, Number(e)]));
}

/** `batch=1,height=32*h` as what `loadOnnx` takes for the symbols of a file. */
export function extentsFrom(
  command: string,
  value: Parsed["values"][string],
): Readonly<Record<string, number | string>> {
  const such = "batch=1,height=32*h";
  const like = { option: "--extents", such, extent: /^[A-Za-z0-9_+*() -]+$/ };
  const pairs = pairsFrom(command, like, value);
  return Object.fromEntries(pairs.map(([n, e]) => [n, /^\d+$/.test(e) ? Number(e) : e]));
}

interface Like {
  readonly option: string;
  readonly such: string;
  /** What stands behind the `=`. */
  readonly extent: RegExp;
}

/** Names and extents, each name once. Throws UsageError for anything else. */
function pairsFrom(
  command: string,
  { option, such, extent }: Like,
  value: Parsed["values"][string],
): [string, string][] {
  const pairs = new Map<string, string>();
  for (const part of String(value ?? "").split(",")) {
    if (part === "") continue;
    const at = part.indexOf("=");
    const [name, given] = [part.slice(0, Math.max(0, at)).trim(), part.slice(at + 1).trim()];
    if (name === "" || !extent.test(given) || Number(given) > Number.MAX_SAFE_INTEGER)
      throw new UsageError(`kiln ${command}: ${option} must be like ${such}, got ${value}`);
    if (pairs.has(name))
      throw new UsageError(`kiln ${command}: ${option} says twice what ${name} is: ${value}`);
    pairs.set(name, given);
  }
  return [...pairs];
}
