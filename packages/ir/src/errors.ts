/**
 * The error classes of the project, named after who must act, and the check that all records of
 * options go through. A leaf: it imports nothing, and the artifact package re-exports it so that a
 * user catches one class everywhere.
 */

/**
 * What a terminal would act on and not show: control characters but tab and line feed, those that
 * change the direction of text, and the separators that some viewers take for line feeds. Names and
 * texts of files may hold them.
 */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The text with such characters as escapes, `\x1b` or `\u202e`. */
export const visible = (text: string): string =>
  text.replace(unseen, (c) => {
    const code = c.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
  });

/**
 * Every error that Kiln throws on purpose. The message is one line, then at most one line of
 * repair; safe to print. No counterpart in PyTorch.
 *
 * @param message One line, then at most one of repair.
 * @param options As of Error: `cause`.
 * @example
 *   add(ones([2]), ones([3])) // throws ShapeError
 *   new ShapeError("") instanceof KilnError // true; what to catch
 */
export class KilnError extends Error {
  override name = "KilnError";

  constructor(message?: string, options?: ErrorOptions) {
    super(message === undefined ? message : visible(message), options);
  }
}

/**
 * Shapes, ranks, axes or symbolic dims do not fit. No counterpart in PyTorch.
 *
 * @param message One line, then at most one of repair.
 * @param options As of Error: `cause`.
 * @example
 *   matmul(ones([2, 3]), ones([2, 3])) // throws ShapeError
 */
export class ShapeError extends KilnError {
  override name = "ShapeError";
  /**
   * The two extents that had to be equal, where that is what is wrong: dims, of which this leaf
   * knows nothing.
   */
  apart?: readonly [unknown, unknown];
}

/**
 * Element types do not fit. No counterpart in PyTorch.
 *
 * @param message One line, then at most one of repair.
 * @param options As of Error: `cause`.
 * @example
 *   not(tensor([1, 2])) // throws DtypeError
 */
export class DtypeError extends KilnError {
  override name = "DtypeError";
}

/**
 * The program is not one that can be compiled or differentiated; the user's graph must change. No
 * counterpart in PyTorch.
 *
 * @param message One line, then at most one of repair.
 * @param options As of Error: `cause`.
 * @example
 *   const x = tensor([1]);
 *   grad(tensor([2]).sum(), [x]) // throws GraphError
 */
export class GraphError extends KilnError {
  override name = "GraphError";
}

/**
 * A run that was asked to check itself met a number or an index that is none; the data or the
 * function must change. `torch.autograd.detect_anomaly`, `jax.debug_nans`.
 *
 * @param message One line, then at most one of repair.
 * @param options As of Error: `cause`.
 * @example
 *   const f = compile((x) => x.log(), { check: "finite" });
 *   await f([0]) // throws CheckError
 */
export class CheckError extends KilnError {
  override name = "CheckError";
}

/**
 * A file is damaged, hostile, or of another version. No counterpart in PyTorch.
 *
 * @param message One line, then at most one of repair.
 * @param options As of Error: `cause`.
 * @example
 *   loadState(new nn.Linear(2, 1), Uint8Array.of(1, 2, 3)) // throws ArtifactError
 */
export class ArtifactError extends KilnError {
  override name = "ArtifactError";
}

/**
 * The machine cannot do it: no adapter, lost device, over a limit. `torch.AcceleratorError`.
 *
 * @param message One line, then at most one of repair.
 * @param options As of Error: `cause`.
 * @example
 *   const error = new DeviceError("webgpu: no adapter");
 *   error instanceof KilnError // true
 */
export class DeviceError extends KilnError {
  override name = "DeviceError";
}

/** Our own mistake: `where` names the pass or module, `detail` the IR it was looking at. */
export function bug(where: string, what: string, detail = ""): never {
  throw new KilnError(
    `bug in ${where}: ${what}${detail ? `\n${detail}` : ""}\n  please report this with the program`,
  );
}

/** A table of all options of a kind: the type checker finds one that is missing. */
export type OptionNames<T> = { readonly [K in keyof Required<T>]: 1 };

/**
 * The options as they are, none if they are undefined. Throws GraphError for what is no record, and
 * for a key that is not in `names`: with the name that was probably meant, or all there are.
 */
export function checkOptions<T extends object>(
  op: string,
  options: T | undefined,
  names: OptionNames<T>,
): T {
  if (options === undefined) return {} as T;
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new GraphError(`${op}: options must be an object, got ${shown(options)}`);
  for (const key of Object.keys(options))
    if (!Object.hasOwn(names, key))
      throw new GraphError(`${op}: there is no option ${key}\n  ${hint(key, Object.keys(names))}`);
  return options;
}

const shown = (x: unknown): string =>
  Array.isArray(x) ? "a list" : typeof x === "string" ? JSON.stringify(x) : String(x);

/** Case and separators are what differs between libraries. */
const plain = (name: string): string => name.toLowerCase().replace(/[_-]/g, "");

function hint(key: string, names: readonly string[]): string {
  const given = plain(key);
  const [best] = names
    .map((name) => [editsBetween(given, plain(name)), name] as const)
    .filter(([n, name]) => n <= Math.max(1, name.length / 3) || isPart(given, plain(name)))
    .sort(([a], [b]) => a - b);
  return best ? `did you mean ${best[1]}?` : `it takes ${names.join(", ")}`;
}

const isPart = (a: string, b: string): boolean =>
  Math.min(a.length, b.length) > 2 && (a.includes(b) || b.includes(a));

/** Levenshtein 1966, a row at a time. */
const editsBetween = (a: string, b: string): number =>
  [...a].reduce(
    (row, x, i) => {
      const next = [i + 1];
      for (const [j, y] of [...b].entries())
        next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (x === y ? 0 : 1)));
      return next;
    },
    [...b, ""].map((_, j) => j),
  )[b.length]!;
