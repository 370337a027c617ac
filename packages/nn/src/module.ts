/**
 * The base of all layers. Class fields hold parameters and sub-modules; this file walks them, names them by
 * path (`fc1.weight`), counts and prints them. It computes nothing: `forward` does, by building a graph.
 */
import {
  assign,
  changeSetting,
  GraphError,
  isStatic,
  printShape,
  readSetting,
  ShapeError,
  Stateful,
  sizeOf,
  Tensor,
} from "@kiln-ml/ir";
import { scopeForward } from "./module-scope.ts";

/** A module with one input and one result, as containers expect. */
export interface Layer extends Module {
  forward(x: Tensor): Tensor;
}

const frozen = new WeakSet<Tensor>();

/**
 * A part of a model. Subclasses keep parameters, sub-modules, and arrays or records of them in fields, and
 * define `forward`. A name is the path of fields: `blocks.0.fc1.weight`.
 */
export abstract class Module extends Stateful {
  #training = true;

  constructor() {
    super();
    scopeForward(this, Module.prototype);
  }

  /**
   * Read while `forward` builds the graph: dropout and batch normalisation differ in training. A compiled function has a program
   * for each way in which it found the modules that it asks.
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

  /** Parameters to train, each once, in the order of the fields. Frozen ones and buffers are left out. */
  parameters(): Tensor[] {
    return [...this.namedParameters().values()];
  }

  /** `parameters()` by path. */
  namedParameters(): Map<string, Tensor> {
    const trained = [...this.#all()].filter(([, t]) => t.attrs.trainable && !frozen.has(t));
    return new Map(trained);
  }

  /** Parameters that no gradient changes: running statistics, random state. */
  buffers(): Map<string, Tensor> {
    return new Map([...this.#all()].filter(([, t]) => !t.attrs.trainable));
  }

  /** Everything that a checkpoint holds, by path: parameters, frozen or not, and buffers. */
  state(): Map<string, Tensor> {
    return this.#all();
  }

  checkpoint(): Map<string, Tensor> {
    return this.#all();
  }

  /** `state()` as a record: `net.weights["fc1.weight"]`. */
  get weights(): Record<string, Tensor> {
    return Object.fromEntries(this.#all());
  }

  /**
   * Assigns `values` to the state of the same names. Throws GraphError for a name that is missing or unknown,
   * ShapeError or DtypeError where a value does not fit.
   */
  load(values: Readonly<Record<string, Tensor>>): this {
    const own = this.#all();
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
    const found = new Map<string, Module>();
    const seen = new Set<Module>();
    const visit = (path: string, m: Module): void => {
      if (seen.has(m)) return;
      seen.add(m);
      found.set(path, m);
      for (const [field, child] of m.children()) visit(join(path, field), child);
    };
    visit("", this);
    return found;
  }

  /** Calls `visit` with every module, this one first. */
  apply(visit: (module: Module, path: string) => void): this {
    for (const [path, m] of this.modules()) visit(m, path);
    return this;
  }

  /** Results of `f` for every module, this one first. */
  map<T>(f: (module: Module, path: string) => T): T[] {
    return [...this.modules()].map(([path, m]) => f(m, path));
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

  /** Takes the parameters out of `parameters()`, so that no optimizer made afterwards sees them. */
  freeze(): this {
    for (const t of this.#all().values()) frozen.add(t);
    return this;
  }

  unfreeze(): this {
    for (const t of this.#all().values()) frozen.delete(t);
    return this;
  }

  /** Number of elements of all parameters, frozen ones included. */
  get parameterCount(): number {
    return countOf(this.#all().values());
  }

  /** The part of a path that a field stands for; "" where a container's own field should not show. */
  pathOfField(field: string): string {
    return field;
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

  #all(): Map<string, Tensor> {
    const found = new Map<string, Tensor>();
    const seen = new Set<Tensor>();
    for (const [path, m] of this.modules())
      for (const [field, t] of partsOf(m)) {
        if (!(t instanceof Tensor) || seen.has(t)) continue;
        seen.add(t);
        found.set(join(path, field), t);
      }
    for (const [path, t] of found) rename(t, path);
    return found;
  }
}

const join = (a: string, b: string): string => (a && b ? `${a}.${b}` : a || b);
const list = (names: readonly string[]): string => `[${names.join(", ")}]`;

/**
 * A layer names its parameter before it knows where it will stand, so a walk from further up extends the
 * name (`weight` → `fc1.weight`). Parameters are never interned, hence a change of name is safe.
 */
function rename(t: Tensor, path: string): void {
  const name = String(t.attrs.name ?? "");
  if (/^param\d+$/.test(name) || path.endsWith(`.${name}`))
    (t.attrs as { name: string }).name = path;
}

/** Parameters and modules held by the fields of `m`, looking into arrays and plain records. */
function partsOf(m: Module): [string, Tensor | Module][] {
  const found: [string, Tensor | Module][] = [];
  const visit = (path: string, value: unknown): void => {
    if (value instanceof Module || (value instanceof Tensor && value.op === "param"))
      found.push([path, value]);
    else if (Array.isArray(value))
      for (const [i, v] of value.entries()) visit(join(path, `${i}`), v);
    else if (isRecord(value)) for (const [k, v] of Object.entries(value)) visit(join(path, k), v);
  };
  for (const [field, value] of Object.entries(m)) visit(m.pathOfField(field), value);
  return found;
}

const isRecord = (x: unknown): x is Record<string, unknown> =>
  typeof x === "object" && x !== null && Object.getPrototypeOf(x) === Object.prototype;

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
  const lines = [`${head} (${m.parameterCount.toLocaleString("en-US")} parameters)`];
  for (const [name, part] of partsOf(m))
    if (part instanceof Module)
      lines.push(...printModule(part, name, [...above, m]).map((l) => `  ${l}`));
    else lines.push(`  ${name} ${part.dtype}${printShape(part.shape)}${note(part)}`);
  return lines;
}

function note(t: Tensor): string {
  if (!t.attrs.trainable) return " buffer";
  return frozen.has(t) ? " frozen" : "";
}
