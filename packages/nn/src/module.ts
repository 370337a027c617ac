/**
 * The base of all layers. Class fields hold parameters and sub-modules; this file walks them, names
 * them by path (`fc1.weight`), counts and prints them. It computes nothing: `forward` does, by
 * building a graph.
 */

import {
  assign,
  changeSetting,
  checkRecord,
  GraphError,
  isFrozen,
  isStatic,
  KilnError,
  kindOf,
  lastNodeId,
  printShape,
  readSetting,
  ShapeError,
  Stateful,
  setFrozen,
  sizeOf,
  Tensor,
} from "@kiln-ml/ir";
import { spendModule } from "./allowance.ts";
import { argumentsOf, keepArguments } from "./arguments.ts";
import { type Call, tellCalls, type Watch } from "./calls.ts";
import { isBuilt, refuseUnbuilt } from "./lazy.ts";
import { hiddenFieldsOf, partsIn } from "./parts.ts";
import { matching } from "./paths.ts";

/** A module with one input and one result, as containers expect. */
export interface Layer extends Module {
  forward(x: Tensor): Tensor;
}

interface Birth {
  /** When it was made, among modules and among nodes: what is older is none of its own. */
  readonly module: number;
  readonly node: number;
}

const births = new WeakMap<Module, Birth>();
let born = 0;

/**
 * A part of a model. Subclasses keep parameters, sub-modules, and arrays, records, maps or sets of
 * them in fields, and define `forward`. A name is the path of fields: `blocks.0.fc1.weight`. Nobody
 * sees what private fields (`#fc`) hold: the first `forward` throws GraphError if it uses a
 * parameter that only such a field can have. `torch.nn.Module`.
 *
 * @param args What the constructor of the class was given, for `nn.toConfig`; nothing by default.
 * @example
 *   class Net extends nn.Module {
 *     fc1 = new nn.Linear(4, 8);
 *     fc2 = new nn.Linear(8, 2, { bias: false });
 *     forward(x) { return this.fc2.forward(this.fc1.forward(x).relu()); }
 *   }
 *   const net = new Net();
 *   [...net.namedParameters()].map(([name]) => name) // ["fc1.weight", "fc1.bias", "fc2.weight"]
 *   net.forward(ones([1, 4])).shape // [1, 2]
 */
export abstract class Module extends Stateful {
  #training = true;

  /**
   * @param args What the constructor of the class was given, for `nn.toConfig`; nothing by default.
   */
  constructor(args: readonly unknown[] = []) {
    super();
    spendModule();
    births.set(this, { module: born++, node: lastNodeId() });
    keepArguments(this, args);
    tellCalls<Module>(this, Module.prototype, watch);
  }

  /**
   * Read while `forward` builds the graph: dropout and batch normalisation differ in training. A
   * compiled function has a program for each way in which it found the modules that it asks.
   */
  get training(): boolean {
    const found = this.#training;
    readSetting(this, () => this.#training === found);
    return found;
  }

  set training(on: boolean) {
    changeSetting(this);
    this.#training = on;
  }

  abstract forward(...inputs: never[]): unknown;

  /**
   * Parameters to train, each once, in the order of the fields. Frozen ones and buffers are left
   * out.
   */
  parameters(): Tensor[] {
    return [...this.namedParameters().values()];
  }

  /** `parameters()` by path. */
  namedParameters(): Map<string, Tensor> {
    const trained = [...stateOf(this)].filter(([, t]) => t.attrs.trainable && !isFrozen(t));
    return new Map(trained);
  }

  /** Parameters that no gradient changes: running statistics, random state. */
  buffers(): Map<string, Tensor> {
    return new Map([...stateOf(this)].filter(([, t]) => !t.attrs.trainable));
  }

  /** Everything that a checkpoint holds, by path: parameters, frozen or not, and buffers. */
  state(): Map<string, Tensor> {
    return stateOf(this);
  }

  checkpoint(): Map<string, Tensor> {
    return stateOf(this);
  }

  /** `state()` as a record: `net.weights["fc1.weight"]`. */
  get weights(): Record<string, Tensor> {
    return Object.fromEntries(stateOf(this));
  }

  /**
   * Assigns `values` to the state of the same names. Throws GraphError for a name that is missing
   * or unknown, ShapeError or DtypeError where a value does not fit.
   */
  load(values: Readonly<Record<string, Tensor>>): this {
    checkRecord("load", values, "values");
    const own = stateOf(this);
    const missing = [...own.keys()].filter((name) => !(name in values));
    const unknown = Object.keys(values).filter((name) => !own.has(name));
    if (missing.length || unknown.length)
      throw new GraphError(
        `load: names differ: missing ${list(missing)}, unknown ${list(unknown)}`,
      );
    for (const [name, target] of own) assign(target, values[name]!);
    return this;
  }

  /** The direct sub-modules by path. */
  children(): Map<string, Module> {
    const found = new Map<string, Module>();
    for (const [path, part] of partsOf(this)) if (part instanceof Module) found.set(path, part);
    return found;
  }

  /** This module, then every one below it, each once, by path; the path of this one is "". */
  modules(): Map<string, Module> {
    return new Map(walk(this));
  }

  /** Calls `visit` with every module, this one first. */
  apply(visit: (module: Module, path: string) => void): this {
    checkFunction("apply", visit);
    for (const [path, m] of walk(this)) visit(m, path);
    return this;
  }

  /** Results of `f` for every module, this one first. */
  map<T>(f: (module: Module, path: string) => T): T[] {
    checkFunction("map", f);
    return walk(this).map(([path, m]) => f(m, path));
  }

  /** Sets `training` of this module and all below it. */
  train(on = true): this {
    return this.apply((m) => {
      m.training = on;
    });
  }

  /** `train(false)`: dropout passes everything, batch normalisation uses its running statistics. */
  eval(): this {
    return this.train(false);
  }

  /**
   * Takes the parameters out of `parameters()`, so that an optimizer made afterwards does not have
   * them, and one made before leaves them and their state as they are. With a pattern, those whose
   * path it matches: `net.freeze(/^encoder/)`.
   */
  freeze(paths?: RegExp): this {
    return this.#setFrozen(paths, true);
  }

  /** Undoes `freeze`. */
  unfreeze(paths?: RegExp): this {
    return this.#setFrozen(paths, false);
  }

  #setFrozen(paths: RegExp | undefined, frozen: boolean): this {
    const isMeant = matching(frozen ? "freeze" : "unfreeze", paths);
    for (const [path, t] of stateOf(this)) if (isMeant(path)) setFrozen(t, frozen);
    return this;
  }

  /** Number of elements of all parameters, frozen ones included. */
  get parameterCount(): number {
    return countOf(stateOf(this).values());
  }

  /**
   * The part of a path that a field stands for; "" where a container's own field should not show.
   */
  pathOfField(field: string): string {
    return field;
  }

  /**
   * Arguments with which the class makes such a module again: those that were handed to the base's
   * constructor, as they were then. A class that extends a layer overrides it where its own differ.
   */
  constructorArguments(): readonly unknown[] {
    return argumentsOf(this);
  }

  /** What `toString` prints after the class name: the configuration in few words. */
  describe(): string {
    return "";
  }

  override toString(): string {
    return printModule(this, "").join("\n");
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/**
 * A module and all below it, each once. A container may lend its path to a module in it, so paths
 * are not keys.
 */
function walk(root: Module): [string, Module][] {
  const found: [string, Module][] = [];
  const seen = new Set<Module>();
  const visit = (path: string, m: Module): void => {
    if (seen.has(m)) return;
    seen.add(m);
    found.push([path, m]);
    for (const [field, child] of m.children()) visit(join(path, field), child);
  };
  visit("", root);
  return found;
}

function stateOf(root: Module): Map<string, Tensor> {
  const found = new Map<string, Tensor>();
  const seen = new Set<Tensor>();
  for (const [path, m] of walk(root)) {
    refuseUnbuilt(m, path);
    for (const [field, t] of partsOf(m)) {
      if (!(t instanceof Tensor) || seen.has(t)) continue;
      seen.add(t);
      const name = join(path, field);
      if (found.has(name))
        throw new GraphError(`module: ${root.constructor.name} has two parameters called ${name}`);
      found.set(name, t);
    }
  }
  for (const [path, t] of found) rename(t, path);
  return found;
}

const watch: Watch<Module> = {
  inspect: refuseHidden,
  pathBetween(above, below) {
    if (!(above instanceof Module)) return undefined;
    try {
      return walk(above).find(([path, m]) => m === below && path)?.[0];
    } catch (e) {
      if (e instanceof KilnError) return undefined;
      throw e;
    }
  },
};

/**
 * Throws for what calls used of parameters and modules that no walk finds, if a module that used
 * them can hide them.
 */
function refuseHidden(root: Module, calls: readonly Call<Module>[]): void {
  const modules = new Set(walk(root).map(([, m]) => m));
  const found = new Set<Tensor>(stateOf(root).values());
  const looked = new Set<Tensor>();
  for (const call of calls) {
    const { module, above, made } = call;
    const isNewer = (m: Module) => births.get(module)!.module > births.get(m)!.module;
    if (above && !modules.has(module) && isNewer(above.module))
      refuse(above.module, `the ${module.constructor.name}`);
    for (const t of made) {
      if (looked.has(t)) continue;
      looked.add(t);
      for (const p of t.operands) if (p.op === "param" && !found.has(p)) refuseParameter(call, p);
    }
  }
}

/**
 * Throws if the module that a parameter comes from, not being handed it, may hold it where nobody
 * can look.
 */
function refuseParameter(call: Call<Module>, p: Tensor): void {
  let from: Call<Module> | undefined = call;
  while (from?.inputs.includes(p)) from = from.above;
  if (from && p.id > births.get(from.module)!.node)
    refuse(from.module, `the parameter ${String(p.attrs.name)} ${p.dtype}${printShape(p.shape)}`);
}

function refuse(owner: Module, what: string): void {
  const hidden = hiddenFieldsOf(owner, Module, isHeld);
  if (hidden.length)
    throw new GraphError(
      `${owner.constructor.name}: forward uses ${what}, which parameters() does not find: nobody can look into ${hidden.join(", ")}\n  keep parameters and modules in public fields, or in lists, records, maps and sets there`,
    );
}

function checkFunction(op: string, f: unknown): void {
  if (typeof f !== "function")
    throw new GraphError(`${op}: takes a function of a module, got ${kindOf(f)}`);
}

const isHeld = (x: unknown): boolean => x instanceof Tensor || x instanceof Module;

const join = (a: string, b: string): string => (a && b ? `${a}.${b}` : a || b);
const list = (names: readonly string[]): string => `[${names.join(", ")}]`;

/**
 * A layer names its parameter before it knows where it will stand, so a walk from further up
 * extends the name (`weight` → `fc1.weight`). Parameters are never interned, hence a change of name
 * is safe.
 */
function rename(t: Tensor, path: string): void {
  const name = String(t.attrs.name ?? "");
  if (/^param\d+$/.test(name) || path.endsWith(`.${name}`))
    (t.attrs as { name: string }).name = path;
}

const isPart = (x: unknown): x is Tensor | Module =>
  x instanceof Module || (x instanceof Tensor && x.op === "param");

/**
 * Parameters and modules held by the fields of `m`, looking into arrays, plain records, maps and
 * sets.
 */
const partsOf = (m: Module): [string, Tensor | Module][] =>
  partsIn(
    Object.entries(m).map(([field, value]) => [m.pathOfField(field), value] as const),
    isPart,
  );

function countOf(tensors: Iterable<Tensor>): number {
  let sum = 0;
  for (const t of tensors) {
    const size = sizeOf(t.shape);
    if (!isStatic(size))
      throw new ShapeError(`parameter: shape ${printShape(t.shape)} is symbolic`);
    if (t.attrs.trainable) sum += size;
  }
  return sum;
}

function printModule(m: Module, path: string, above: readonly Module[] = []): string[] {
  if (above.includes(m)) return [`${path}: (above)`];
  const config = m.describe();
  const head = `${path ? `${path}: ` : ""}${m.constructor.name}${config ? ` ${config}` : ""}`;
  const whole = walk(m).every(([, part]) => isBuilt(part));
  const count = whole ? `${m.parameterCount.toLocaleString("en-US")} parameters` : "not built";
  const lines = [`${head} (${count})`];
  for (const [name, part] of partsOf(m))
    if (part instanceof Module)
      lines.push(...printModule(part, name, [...above, m]).map((l) => `  ${l}`));
    else lines.push(`  ${name} ${part.dtype}${printShape(part.shape)}${note(part)}`);
  return lines;
}

function note(t: Tensor): string {
  if (!t.attrs.trainable) return " buffer";
  return isFrozen(t) ? " frozen" : "";
}

/** Throws GraphError for what is no module. */
export function checkModule(op: string, net: unknown): void {
  if (!(net instanceof Module))
    throw new GraphError(`${op}: takes a Module, got ${kindOf(net)}\n  give it the network itself`);
}
