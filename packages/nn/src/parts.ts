/**
 * Where a module keeps its parts: what its fields hold, looking into lists, records, maps and sets; and what it may hold where nobody can
 * look: in private fields and in objects of other classes. Knows nothing of what a part is but by `isPart`.
 */

const join = (a: string, b: string): string => (a && b ? `${a}.${b}` : a || b);

/** The parts in some fields by path; a name of a field comes as the path that stands for it. */
export function partsIn<T>(
  fields: readonly (readonly [string, unknown])[],
  isPart: (x: unknown) => x is T,
): [string, T][] {
  const found: [string, T][] = [];
  const above: unknown[] = [];
  const visit = (path: string, value: unknown): void => {
    if (isPart(value)) {
      found.push([path, value]);
      return;
    }
    const entries = entriesOf(value);
    if (!entries || above.includes(value)) return;
    above.push(value);
    for (const [key, held] of entries) visit(join(path, key), held);
    above.pop();
  };
  for (const [path, value] of fields) visit(path, value);
  return found;
}

/** What a container holds by key; a key of a map that is no text or number has its place for a name. */
function entriesOf(x: unknown): Iterable<readonly [string, unknown]> | undefined {
  if (Array.isArray(x) || x instanceof Set) return [...x].map((v, i) => [`${i}`, v] as const);
  if (x instanceof Map) return [...x].map(([k, v], i) => [isName(k) ? `${k}` : `${i}`, v] as const);
  return isRecord(x) ? Object.entries(x) : undefined;
}

const isName = (k: unknown): k is string | number => typeof k === "string" || typeof k === "number";

function isRecord(x: unknown): x is Record<string, unknown> {
  if (typeof x !== "object" || x === null) return false;
  const prototype: unknown = Object.getPrototypeOf(x);
  return prototype === Object.prototype || prototype === null;
}

/** Names of fields of `holder` into which nobody can look: private ones of its classes below `base`, and objects of other classes. */
export function hiddenFieldsOf(
  holder: object,
  base: unknown,
  isPart: (x: unknown) => boolean,
): string[] {
  const names: string[] = [];
  for (
    let type: unknown = holder.constructor;
    typeof type === "function" && type !== base;
    type = Object.getPrototypeOf(type)
  )
    for (const [, name] of Function.prototype.toString.call(type).matchAll(privateField))
      if (!names.includes(name!)) names.push(name!);
  for (const [name, value] of Object.entries(holder))
    if (typeof value === "object" && value !== null && !isPart(value) && !entriesOf(value))
      if (!ArrayBuffer.isView(value)) names.push(name);
  return names;
}

/** A field in the text of a class: `#name`, then what it is set to or nothing; methods and uses of it stand otherwise. */
const privateField = /(?<![\w$.?])(#[\p{ID_Start}_$][\p{ID_Continue}$]*)\s*(?:[;=\n}]|$)/gu;
