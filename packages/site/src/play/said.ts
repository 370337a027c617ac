/** What a program says by `console`, and what it fails with, as text for the page. */
import { errorPage } from "kiln-ml";
import type { Failure } from "./messages.ts";
import { post } from "./post.ts";

const inspectKey = Symbol.for("nodejs.util.inspect.custom");
const mostShown = 24;

/** A value as `console.log` of Node would tell it, roughly. */
function told(x: unknown, depth = 0): string {
  if (typeof x === "string") return depth ? JSON.stringify(x) : x;
  if (typeof x === "function") return `[Function ${x.name}]`;
  if (typeof x !== "object" || x === null) return typeof x === "bigint" ? `${x}n` : String(x);
  if (x instanceof Error) return `${x.name}: ${x.message}`;
  const custom = (x as { [inspectKey]?: () => string })[inspectKey];
  if (custom) return String(custom.call(x));
  if (depth > 3) return "…";
  const inner = (y: unknown): string => told(y, depth + 1);
  if (ArrayBuffer.isView(x) && "length" in x) {
    const list = x as unknown as ArrayLike<number>;
    return `${x.constructor.name}(${list.length}) [${short(Array.from(list).map(inner))}]`;
  }
  if (Array.isArray(x)) return `[${short(x.map(inner))}]`;
  if (x instanceof Map)
    return `Map {${short([...x].map(([k, v]) => `${inner(k)} => ${inner(v)}`))}}`;
  return `{ ${short(Object.entries(x).map(([k, v]) => `${k}: ${inner(v)}`))} }`;
}

function short(parts: readonly string[]): string {
  const more = parts.length - mostShown;
  return more > 0 ? `${parts.slice(0, mostShown).join(", ")}, … ${more} more` : parts.join(", ");
}

/** From here on, what is logged is posted. */
export function listen(): void {
  const say =
    (level: "log" | "warn" | "error") =>
    (...args: unknown[]): void =>
      post({ kind: "log", level, text: args.map((x) => told(x)).join(" ") });
  Object.assign(console, {
    log: say("log"),
    info: say("log"),
    debug: say("log"),
    warn: say("warn"),
    error: say("error"),
  });
}

/**
 * The text of what was thrown, its line in the program whose module has this URL, and where the
 * page of errors is about it.
 */
export function failureOf(error: unknown, url: string): Failure {
  if (!(error instanceof Error)) return { text: String(error) };
  const text = `${error.name}: ${sited(error.message, url)}`;
  const line = lineIn(`${error.stack ?? ""}\n${error.message}`, url);
  const anchor = errorPage(error)?.split("#")[1];
  return { text, ...(line === undefined ? {} : { line }), ...(anchor ? { anchor } : {}) };
}

/** The first line of the module with this URL that a stack names. */
export function lineIn(stack: string, url: string): number | undefined {
  const line = new RegExp(`${escapeRegExp(url)}:(\\d+)`).exec(stack)?.[1];
  return line === undefined ? undefined : Number(line);
}

/** Sites in the program are told by its name, not by the URL of its module. */
export const sited = (text: string, url: string): string => text.replaceAll(url, "program.ts");

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
