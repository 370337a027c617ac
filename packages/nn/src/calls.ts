/**
 * Calls of `forward` as they nest: nodes are made in a scope of the module, named by its path in
 * the module around it; what is thrown inside gets the path of the module that threw it; and the
 * first call of a module shows whether it uses parameters that a walk over its fields does not
 * find. Installed on a class when its first module is made.
 */
import {
  currentScope,
  inScope,
  KilnError,
  type Scope,
  startRecording,
  stopRecording,
  type Tensor,
} from "@kiln-ml/ir";

/** What is done with calls of modules. */
export interface Watch<M> {
  /** Is given all calls that a module's first makes, those inside of others before them. */
  inspect(root: M, calls: readonly Call<M>[]): void;
  /** The path from a module to one below; of what is no module there is none. */
  pathBetween(above: object, below: M): string | undefined;
}

/** One call of `forward`, with the nodes that it and calls inside of it asked for. */
export interface Call<M> {
  readonly module: M;
  readonly above: Call<M> | undefined;
  readonly inputs: readonly unknown[];
  readonly made: ReadonlySet<Tensor>;
}

type Forward = (this: object, ...inputs: unknown[]) => unknown;

const prepared = new WeakSet<object>();
/** Modules whose first call went well and was inspected. */
const inspected = new WeakSet<object>();
const active: object[] = [];
/** The calls of a first call, those inside of others before them; and the one that is running. */
let record: { readonly calls: Call<object>[]; current: Call<object> | undefined } | undefined;

/** Makes every `forward` between the class of `m` and `base` tell of its calls. */
export function tellCalls<M extends object>(m: M, base: object, watch: Watch<M>): void {
  for (
    let prototype: object = Object.getPrototypeOf(m);
    prototype !== base && !prepared.has(prototype);
    prototype = Object.getPrototypeOf(prototype)
  ) {
    prepared.add(prototype);
    const own = Object.getOwnPropertyDescriptor(prototype, "forward");
    if (typeof own?.value !== "function") continue;
    const value = telling(own.value as Forward, watch as Watch<never>);
    Object.defineProperty(prototype, "forward", { ...own, value });
  }
}

/** Few frames of the stack: sites of nodes are looked for in few. */
function telling(forward: Forward, watch: Watch<never>): Forward {
  const told: Forward = function (...inputs) {
    // `super.forward` is part of the call that is running.
    if (active.at(-1) === this) return forward.apply(this, inputs);
    const ended = begin(this, inputs);
    try {
      const result = inScope(scopeOf(this, watch), () => forward.apply(this, inputs));
      ended(watch);
      return result;
    } catch (e) {
      ended(undefined);
      const above = active.at(-1);
      if (above) locate(e, watch.pathBetween(above, this as never) ?? this.constructor.name);
      throw e;
    }
  };
  return Object.defineProperty(told, "name", { value: "forward" });
}

/**
 * A scope of the module in the one that is current. The path is looked for when somebody reads it.
 */
function scopeOf(m: object, watch: Watch<never>): Scope {
  const outer = currentScope();
  return {
    outer,
    owner: m,
    name: () => (outer && watch.pathBetween(outer.owner, m as never)) ?? m.constructor.name,
  };
}

/**
 * Notes that a call begins. The result is called once, when it ends, with what inspects it if it
 * went well.
 */
function begin(m: object, inputs: readonly unknown[]): (watch: Watch<never> | undefined) => void {
  const isFirst = active.length === 0 && !inspected.has(m);
  active.push(m);
  if (isFirst) record = { calls: [], current: undefined };
  const here = record;
  const above = here?.current;
  const call = here && { module: m, above, inputs, made: startRecording() };
  if (here) here.current = call;
  let open = true;
  return (watch) => {
    if (!open) return;
    open = false;
    active.pop();
    if (!here || !call) return;
    stopRecording();
    here.current = above;
    here.calls.push(call);
    if (!isFirst) return;
    record = undefined;
    watch?.inspect(m as never, here.calls as never);
    if (watch) inspected.add(m);
  };
}

const places = new WeakMap<KilnError, { message: string; path: string }>();

/** Runs `define`; what it throws is told to come from `path`. */
export function located<T>(path: string, define: () => T): T {
  try {
    return define();
  } catch (e) {
    locate(e, path);
    throw e;
  }
}

/** Puts a path before the one that the message of an error has so far. */
function locate(e: unknown, own: string): void {
  if (!(e instanceof KilnError)) return;
  const { message, path } = places.get(e) ?? { message: e.message, path: "" };
  const whole = path ? `${own}.${path}` : own;
  places.set(e, { message, path: whole });
  const before = e.message;
  const [first, ...rest] = message.split("\n");
  e.message = [`${first} (in ${whole})`, ...rest].join("\n");
  if (e.stack) e.stack = e.stack.replace(before, () => e.message);
}
