/**
 * What a network is, as JSON: its class and the arguments of its constructor, and where it differs
 * from what that makes. Weights are not in it. `from-config.ts` reads it.
 */
import {
  checkOptions,
  GraphError,
  isFrozen,
  KilnError,
  kindOf,
  type OptionNames,
  Tensor,
} from "@kiln-ml/ir";
import { type ChangeName, changesOf } from "./changes.ts";
import { applyChange } from "./config-changes.ts";
import {
  entriesOf,
  holdsParts,
  isBelow,
  isParameter,
  join,
  setAt,
  treeOf,
  valueAt,
} from "./config-tree.ts";
import { isRecord, type Json, Reader, Writer } from "./config-values.ts";
import { setDrawsAside, skipInit } from "./init.ts";
import { buildWith, isBuilt, learntSize } from "./lazy.ts";
import { checkModule, Module } from "./module.ts";
import { recipeOf } from "./recipes.ts";

/** A network as JSON. What is left out is as the constructor makes it. */
export interface ModuleConfig {
  readonly format: "kiln-module";
  readonly version: 1;
  /** `{ "$class": "Linear", "args": [4, 8] }`. */
  readonly module: Json;
  /**
   * What stands elsewhere in the network than its constructor puts it, by path; null for nothing.
   */
  readonly parts?: { readonly [path: string]: Json };
  /** Sizes that layers took from their first input, by path. */
  readonly sizes?: { readonly [path: string]: number };
  /** Fields that were set afterwards, by the path of their module. */
  readonly fields?: { readonly [path: string]: { readonly [name: string]: Json } };
  /** Reparameterisations in their order, by path. */
  readonly changes?: { readonly [path: string]: readonly (readonly [ChangeName, Json])[] };
  /** Paths of parameters that are frozen, or of modules all of whose parameters are. */
  readonly frozen?: readonly string[];
  /** The mode of modules that differ in it from the one above them. */
  readonly training?: { readonly [path: string]: boolean };
}

export interface ConfigOptions {
  /** Functions that arguments hold, such as activations, by the names they have in the config. */
  readonly functions?: Readonly<Record<string, unknown>>;
}

const configOptions: OptionNames<ConfigOptions> = { functions: 1 };

/**
 * A network as plain JSON, which `fromConfig` makes again, in another process too: classes by name
 * and arguments of constructors; then what was changed since, such as a head that was exchanged,
 * sizes that were learnt, `nn.lora`, what is frozen and what is in training. Weights go beside it,
 * by `save`.
 *
 * A class of your own hands its arguments to the base, `super([width, depth])`, or overrides
 * `constructorArguments`. Its constructor is run once more here, to compare. Names are those of
 * `classes` where they are given, as a page needs whose classes were renamed by a bundler, else
 * those of the classes. `keras.Model.get_config`; no counterpart in PyTorch.
 *
 * Throws GraphError for what has no text: a function that is not in `functions`, a hook, a tensor
 * among arguments.
 *
 * @param net A module.
 * @param classes By name: `nn` for all layers, `{ ...nn, Net }` with your own.
 * @param options `functions` by name, where arguments hold any.
 * @example
 *   const net = new nn.Sequential(new nn.Linear(4, 8), new nn.ReLU());
 *   const config = nn.toConfig(net, nn);
 *   config.module.args[0] // { $class: "Linear", args: [4, 8] }
 *   nn.fromConfig(JSON.parse(JSON.stringify(config)), nn).parameterCount // 40
 */
export function toConfig(
  net: Module,
  classes?: Readonly<Record<string, unknown>>,
  options: ConfigOptions = {},
): ModuleConfig {
  checkModule("toConfig", net);
  const { functions = {} } = checkOptions("toConfig", options, configOptions);
  const difference = new Difference(new Writer(classes, functions), functions);
  const module = difference.writer.module(net, "");
  const bringBack = setDrawsAside();
  try {
    skipInit(() => difference.compare(net, difference.again(net, module), ""));
  } finally {
    bringBack();
  }
  return {
    format: "kiln-module",
    version: 1,
    module,
    ...filled("parts", difference.parts),
    ...filled("sizes", difference.sizes),
    ...filled("fields", difference.fields),
    ...filled("changes", difference.changes),
    ...filled("frozen", frozenIn(net)),
    ...filled("training", modesOf(net)),
  };
}

const filled = <T extends object>(name: string, held: T) =>
  Object.keys(held).length ? { [name]: held } : {};

/** Paths of what is frozen, modules rather than all that they have. */
function frozenIn(net: Module): string[] {
  const { modules, parameters } = treeOf(net);
  const open = [...parameters].filter(([, t]) => !isFrozen(t)).map(([path]) => path);
  const found: string[] = [];
  for (const path of [...modules.keys(), ...parameters.keys()]) {
    const own = [...parameters.keys()].filter((p) => isBelow(p, [path]));
    if (own.length && !isBelow(path, found) && !open.some((p) => isBelow(p, [path])))
      found.push(path);
  }
  return found;
}

function modesOf(net: Module): Record<string, boolean> {
  const found: Record<string, boolean> = {};
  const { modules } = treeOf(net);
  for (const [path, { module, above }] of modules) {
    const inherited = module === net || modules.get(above)!.module.training;
    if (module.training !== inherited) found[path] = module.training;
  }
  return found;
}

/** Goes over a network beside one that its constructor made anew, which it makes equal. */
class Difference {
  readonly writer: Writer;
  readonly #reader: Reader;
  readonly parts: Record<string, Json> = {};
  readonly sizes: Record<string, number> = {};
  readonly fields: Record<string, Record<string, Json>> = {};
  readonly changes: Record<string, (readonly [ChangeName, Json])[]> = {};
  /** Where modules and parameters came first, of the network and of the one made anew. */
  readonly #seen = new Map<unknown, string>();
  readonly #seenAgain = new Map<unknown, string>();
  readonly #again = new Map<string, unknown>();

  constructor(writer: Writer, functions: Readonly<Record<string, unknown>>) {
    this.writer = writer;
    this.#reader = new Reader({ classes: writer.classes, functions });
  }

  /** The module that a config makes. */
  again(m: Module, config: Json): Module {
    const { name } = m.constructor;
    try {
      return this.#reader.module(config, name);
    } catch (e) {
      if (!(e instanceof KilnError)) throw e;
      throw new GraphError(
        `toConfig: ${name} is not made again by its arguments: ${e.message.split("\n")[0]}\n  hand those of the constructor to the base: super([width, depth])`,
        { cause: e },
      );
    }
  }

  compare(m: Module, again: Module, path: string): void {
    this.#note(m, again, path);
    const size = learntSize(m);
    if (isBuilt(m) && !isBuilt(again) && size !== undefined) {
      this.sizes[path] = size;
      buildWith(again, size);
    }
    this.#compareChanges(m, again, path);
    const held = Object.entries(m);
    for (const [key, x] of held) this.#compareSlot(x, [again, key], join(path, key), path);
    for (const [key, y] of Object.entries(again))
      if (!held.some(([k]) => k === key)) this.#remove(y, [again, key], join(path, key));
  }

  #note(x: unknown, again: unknown, path: string): void {
    this.#seen.set(x, path);
    this.#seenAgain.set(again, path);
    this.#again.set(path, again);
  }

  #compareChanges(m: Module, again: Module, path: string): void {
    const all = changesOf(m);
    for (const { name, options } of all.slice(changesOf(again).length)) {
      const change = [name, this.writer.value(options, path)] as const;
      this.changes[path] = [...(this.changes[path] ?? []), change];
      applyChange(again, name, options);
    }
    const own = Object.hasOwn(m, "forward") && Object.hasOwn(again, "forward");
    const expected = all.length ? all.at(-1)!.forward : own ? m.forward : undefined;
    if (Object.hasOwn(m, "forward") && m.forward !== expected)
      throw new GraphError(
        `toConfig: the forward of ${path || m.constructor.name} was replaced, as hooks do\n  take the hook off first`,
      );
  }

  #compareSlot(x: unknown, slot: readonly [object, string], path: string, module: string): void {
    const again = valueAt(slot);
    if (x instanceof Module || isParameter(x)) this.#comparePart(x, again, slot, path);
    else if (!holdsParts(x) && !(entriesOf(x) && holdsParts(again))) {
      if (holdsParts(again)) this.#remove(again, slot, path);
      else if (slot[0] instanceof Module) this.#compareField(x, again, slot[1], module);
    } else this.#compareHolder(x, again, slot, path, module);
  }

  #comparePart(
    x: Module | Tensor,
    again: unknown,
    slot: readonly [object, string],
    path: string,
  ): void {
    const first = this.#seen.get(x);
    if (first !== undefined) {
      if (this.#seenAgain.get(again) === first) return;
      this.parts[path] = { $path: first };
      setAt(slot, this.#again.get(first), path);
      return;
    }
    const isSame = again !== undefined && !this.#seenAgain.has(again) && sameMaking(x, again);
    if (!isSame)
      this.parts[path] =
        x instanceof Module ? this.writer.module(x, path) : parameterConfig(x, path);
    if (x instanceof Tensor) {
      // A parameter made anew stands for itself: its shape and dtype are what the config says.
      this.#note(x, isSame ? again : x, path);
      return;
    }
    const other = isSame ? (again as Module) : this.again(x, this.parts[path]!);
    if (!isSame) setAt(slot, other, path);
    this.compare(x, other, path);
  }

  #compareHolder(
    x: unknown,
    again: unknown,
    slot: readonly [object, string],
    path: string,
    module: string,
  ): void {
    let other = again;
    if (kindOfHolder(x) !== kindOfHolder(again)) {
      this.parts[path] = this.writer.value(x, path);
      other = this.#reader.value(this.parts[path], path);
      setAt(slot, other, path);
    }
    const held = entriesOf(x)!;
    for (const [key, y] of held)
      this.#compareSlot(y, [other as object, key], join(path, key), module);
    const rest = entriesOf(other)!.filter(([key]) => !held.some(([k]) => k === key));
    for (const [key, y] of rest.reverse()) this.#remove(y, [other as object, key], join(path, key));
  }

  #remove(again: unknown, slot: readonly [object, string], path: string): void {
    if (!holdsParts(again)) return;
    this.parts[path] = null;
    setAt(slot, undefined, path);
  }

  #compareField(x: unknown, again: unknown, name: string, module: string): void {
    const [now, then] = [plainText(x), plainText(again)];
    if (now === undefined || then === undefined || now === then || typeof x !== typeof again)
      return;
    this.fields[module] = { ...this.fields[module], [name]: x as Json };
  }
}

function kindOfHolder(x: unknown): string | undefined {
  if (Array.isArray(x)) return "list";
  if (x instanceof Map) return "map";
  if (x instanceof Set) return "set";
  return isRecord(x) ? "record" : undefined;
}

function parameterConfig(t: Tensor, path: string): Json {
  if (!t.shape.every((d) => typeof d === "number"))
    throw new GraphError(`toConfig: the shape of ${path} has symbols\n  give it numbers`);
  const { trainable } = t.attrs as { readonly trainable: boolean };
  return { $parameter: [...t.shape] as number[], dtype: t.dtype, trainable };
}

/** Whether constructors were given the same, so that what they made differs by what came after. */
function sameMaking(x: unknown, y: unknown): boolean {
  if (Object.is(x, y)) return true;
  if (x instanceof Tensor && y instanceof Tensor)
    return (
      x.dtype === y.dtype &&
      x.attrs.trainable === y.attrs.trainable &&
      String(x.shape) === String(y.shape)
    );
  if (x instanceof Module && y instanceof Module)
    return (
      x.constructor === y.constructor &&
      sameLists(x.constructorArguments(), y.constructorArguments())
    );
  if (typeof x === "function" && typeof y === "function") return sameFunction(x, y);
  const [a, b] = [entriesOf(x), entriesOf(y)];
  if (!a || !b || kindOfHolder(x) !== kindOfHolder(y)) return kindOf(x) === kindOf(y) && !!x && !!y;
  return (
    sameLists(
      a.map(([k]) => k),
      b.map(([k]) => k),
    ) &&
    sameLists(
      a.map(([, v]) => v),
      b.map(([, v]) => v),
    )
  );
}

const sameLists = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((x, i) => sameMaking(x, b[i]));

/** Of one text: a constructor makes such functions anew at each call. */
function sameFunction(f: object, g: object): boolean {
  const [one, other] = [recipeOf(f), recipeOf(g)];
  if (one || other)
    return one?.name === other?.name && sameLists(one?.args ?? [], other?.args ?? []);
  return String(f) === String(g);
}

/** The text of what JSON holds without loss; undefined for anything else. */
function plainText(x: unknown): string | undefined {
  const isPlain = (y: unknown): boolean =>
    y === null ||
    typeof y === "string" ||
    typeof y === "boolean" ||
    (typeof y === "number" && Number.isFinite(y) && !Object.is(y, -0)) ||
    ((Array.isArray(y) || isRecord(y)) && Object.values(y).every(isPlain));
  return isPlain(x) ? JSON.stringify(x) : undefined;
}
