/**
 * What constructors of modules were given, as it was then: a list or a record that the caller
 * changes afterwards, for the next layer say, changes nothing here.
 */

const given = new WeakMap<object, readonly unknown[]>();

/** Lists and plain records anew, the rest as it is. */
function copyOf(x: unknown, made: Map<unknown, unknown>): unknown {
  const prototype: unknown = x instanceof Object ? Object.getPrototypeOf(x) : undefined;
  if (!Array.isArray(x) && prototype !== Object.prototype) return x;
  const known = made.get(x);
  if (known !== undefined) return known;
  const copy: object = Array.isArray(x) ? [] : {};
  made.set(x, copy);
  for (const [key, y] of Object.entries(x as object))
    Object.defineProperty(copy, key, {
      value: copyOf(y, made),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return copy;
}

export function keepArguments(m: object, args: readonly unknown[]): void {
  if (args.length) given.set(m, copyOf(args, new Map()) as unknown[]);
}

export const argumentsOf = (m: object): readonly unknown[] => given.get(m) ?? [];
