/**
 * The places of a network at which a module, a parameter or a container of them stands, by the path
 * of fields: `layers.0.weight`. Paths of a config are these; those of `state()` leave out what
 * containers do not show.
 */
import { GraphError, Tensor } from "@kiln-ml/ir";
import { isRecord } from "./config-values.ts";
import { Module } from "./module.ts";

export const isParameter = (x: unknown): x is Tensor => x instanceof Tensor && x.op === "param";

/** What a list, a record, a map or a set holds by key; nothing for what is no container. */
export function entriesOf(x: unknown): [string, unknown][] | undefined {
  if (x instanceof Map) return [...x].map(([k, y], i) => [isName(k) ? `${k}` : `${i}`, y]);
  if (Array.isArray(x) || x instanceof Set) return [...x].map((y, i) => [`${i}`, y]);
  return isRecord(x) ? Object.entries(x) : undefined;
}

const isName = (k: unknown): k is string | number => typeof k === "string" || typeof k === "number";

/** Whether there are modules or parameters in a container. */
export function holdsParts(x: unknown, above: readonly unknown[] = []): boolean {
  if (x instanceof Module || isParameter(x)) return true;
  if (above.includes(x)) return false;
  return entriesOf(x)?.some(([, y]) => holdsParts(y, [...above, x])) ?? false;
}

export const join = (path: string, key: string): string => (path ? `${path}.${key}` : key);

/** Whether a path, or one above it, is listed. */
export const isBelow = (path: string, listed: readonly string[]): boolean =>
  listed.some((p) => p === "" || p === path || path.startsWith(`${p}.`));

export interface Tree {
  /**
   * Each module at its first path, with the path of the module above it; those above come first.
   */
  readonly modules: ReadonlyMap<string, { readonly module: Module; readonly above: string }>;
  readonly parameters: ReadonlyMap<string, Tensor>;
  /** Modules and containers. */
  readonly holders: ReadonlyMap<string, object>;
}

export function treeOf(root: Module): Tree {
  const modules = new Map<string, { module: Module; above: string }>();
  const parameters = new Map<string, Tensor>();
  const holders = new Map<string, object>();
  const seen = new Set<unknown>();
  const visit = (x: unknown, path: string, above: string): void => {
    if (seen.has(x)) return;
    if (isParameter(x)) {
      seen.add(x);
      parameters.set(path, x);
      return;
    }
    const isModule = x instanceof Module;
    const entries = isModule ? Object.entries(x) : entriesOf(x);
    if (!entries) return;
    seen.add(x);
    holders.set(path, x as object);
    if (isModule) modules.set(path, { module: x, above });
    for (const [key, y] of entries) visit(y, join(path, key), isModule ? path : above);
  };
  visit(root, "", "");
  return { modules, parameters, holders };
}

/** The holder of a path and the key there; undefined where there is none. */
export function slotOf(tree: Tree, path: string): readonly [object, string] | undefined {
  const { holders } = tree;
  for (let at = path.length; at > 0; at = path.lastIndexOf(".", at - 1)) {
    const holder = at < path.length && holders.get(path.slice(0, at));
    if (holder) return [holder, path.slice(at + 1)];
  }
  return path ? [holders.get("")!, path] : undefined;
}

export function valueAt([holder, key]: readonly [object, string]): unknown {
  const entries = holder instanceof Module ? Object.entries(holder) : entriesOf(holder);
  return entries?.find(([k]) => k === key)?.[1];
}

/** Puts a value there, or takes away what there is. */
export function setAt(
  [holder, key]: readonly [object, string],
  value: unknown,
  path: string,
): void {
  if (Array.isArray(holder)) {
    setItem(holder, Number(key), value, path);
    return;
  }
  if (holder instanceof Map) {
    const own = [...holder.keys()].find((k, i) => (isName(k) ? `${k}` : `${i}`) === key) ?? key;
    if (value === undefined) holder.delete(own);
    else holder.set(own, value);
    return;
  }
  // What a class has for all its modules, such as forward, is no place for a part.
  if (holder instanceof Set || (!Object.hasOwn(holder, key) && key in holder))
    throw new GraphError(`fromConfig: nothing can be put at ${path}`);
  Object.defineProperty(holder, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function setItem(list: unknown[], at: number, value: unknown, path: string): void {
  if (!Number.isInteger(at) || at < 0 || at > list.length)
    throw new GraphError(`fromConfig: a list of ${list.length} has no ${path}`);
  if (value === undefined) list.length = at;
  else list[at] = value;
}
