/**
 * Arguments of wrong types, for calls that no type checker has seen, and calls of everything with them: from a right call, each
 * argument in turn becomes each of these. What is thrown must be an error of Kiln; a call that goes well is as good.
 */
import { KilnError, trace } from "@kiln-ml/ir";

export const wrong: readonly (readonly [string, unknown])[] = [
  ["null", null],
  ["undefined", undefined],
  ["text", "a"],
  ["an object", { axes: 1 }],
  ["nested lists", [[1], [[2]]]],
  ["a list of text", ["a"]],
  ["NaN", Number.NaN],
  ["1.5", 1.5],
  ["a negative number", -7],
  ["a huge number", 1e21],
  ["true", true],
  ["a function", () => 1],
  ["a bigint", 3n],
  ["a date", new Date(0)],
];

/** Values that no message can be made of by itself, or that look like a number. */
export const strange: typeof wrong = [
  ["a symbol", Symbol("s")],
  ["a list of symbols", [Symbol("s")]],
  ["a list of bigints", [1n]],
  // biome-ignore lint/suspicious/noSparseArray: what is tried
  ["a sparse list", [, 1]],
  ["a list of null", [null]],
  ["-0", -0],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["an object of no prototype", Object.create(null)],
  ["a proxy that throws", throwing()],
];

function throwing(): unknown {
  const refuse = (): never => {
    throw new KilnError("the proxy's own");
  };
  return new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: () => null });
}

/** What a call throws that is no error of Kiln, in a line; undefined if all is well. */
export function faultOf(run: () => unknown): string | undefined {
  try {
    const { value } = trace(run);
    // What is read later rejects by itself.
    if (value instanceof Promise) value.catch(() => {});
  } catch (e) {
    if (e instanceof KilnError && !e.message.startsWith("bug in")) return undefined;
    return String(e instanceof Error ? `${e.constructor.name}: ${e.message.split("\n")[0]}` : e);
  }
  return undefined;
}

/** The faults of a function called with right arguments of which one is wrong, or with too few. */
export function faultsOf(
  name: string,
  f: (...args: never[]) => unknown,
  right: readonly unknown[],
  self?: unknown,
  values = wrong,
): string[] {
  const found: string[] = [];
  const call = (how: string, args: readonly unknown[]): void => {
    const fault = faultOf(() => f.apply(self, args as never[]));
    if (fault) found.push(`${name}, ${how}: ${fault}`);
  };
  for (let at = 0; at < Math.max(right.length, 1) + 1; at++)
    for (const [what, value] of values)
      call(`argument ${at} is ${what}`, [...right.slice(0, at), value, ...right.slice(at + 1)]);
  for (let count = 0; count < right.length; count++)
    call(`${count} arguments`, right.slice(0, count));
  return found;
}
