/**
 * The functions that a program compiles, kept for the inspector. The playground's `kiln-ml` is the package itself but for `compile`,
 * which notes what it returns and the arguments it was called with last, since a profile needs some.
 */
import { type CompiledFunction, compile as plain } from "kiln-ml";

type AnyCompiled = CompiledFunction<readonly never[], unknown>;

export interface Recorded {
  readonly name: string;
  /** The stack of the call of `compile`. */
  readonly stack: string;
  readonly compiled: AnyCompiled;
  calls: number;
  last?: readonly unknown[];
}

export const recorded: Recorded[] = [];

let listener: () => void = () => {};

/** Calls back when a function is compiled, or called for the first time. */
export function onRecorded(call: () => void): void {
  listener = call;
}

function record(compiled: AnyCompiled): AnyCompiled {
  const entry: Recorded = {
    name: compiled.name,
    stack: new Error().stack ?? "",
    compiled,
    calls: 0,
  };
  recorded.push(entry);
  return new Proxy(compiled, {
    async apply(target, self, args) {
      const result = await Reflect.apply(target as never, self, args);
      entry.calls += 1;
      entry.last = args;
      if (entry.calls === 1) listener();
      return result;
    },
  });
}

export const compile = ((...args: Parameters<typeof plain>) =>
  record(plain(...args) as unknown as AnyCompiled)) as unknown as typeof plain;
