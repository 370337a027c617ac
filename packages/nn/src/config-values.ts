/**
 * Arguments of constructors as JSON and back: numbers that JSON lacks, modules, and functions that
 * have a name. What has no such form is refused, and so is what was not written here. Marks are the
 * keys that begin with `$`.
 */
import { GraphError, KilnError, kindOf, Tensor } from "@kiln-ml/ir";
import { located } from "./calls.ts";
import {
  constant,
  type Initializer,
  kaimingNormal,
  kaimingUniform,
  normal,
  orthogonal,
  truncatedNormal,
  uniform,
  xavierNormal,
  xavierUniform,
} from "./init.ts";
import { Module } from "./module.ts";
import { recipeOf } from "./recipes.ts";
import { Input } from "./sequential.ts";

/** What JSON holds. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

type Class = new (...args: unknown[]) => unknown;

/** What a config may name: classes of modules, and functions among arguments. */
export interface Names {
  readonly classes: Readonly<Record<string, unknown>>;
  readonly functions: Readonly<Record<string, unknown>>;
}

const initializers: Readonly<Record<string, (...args: never[]) => Initializer>> = {
  constant,
  uniform,
  normal,
  truncatedNormal,
  kaimingUniform,
  kaimingNormal,
  xavierUniform,
  xavierNormal,
  orthogonal,
};

/** Numbers and the like that JSON has no text for. */
const unwritten: readonly (readonly [string, unknown])[] = [
  ["undefined", undefined],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["-0", -0],
];

/** A config that nests deeper is none that anybody meant. */
const deepest = 200;

export function isRecord(x: unknown): x is Record<string, unknown> {
  if (typeof x !== "object" || x === null) return false;
  const prototype: unknown = Object.getPrototypeOf(x);
  return prototype === Object.prototype || prototype === null;
}

const isClass = (x: unknown): x is Class =>
  typeof x === "function" && (x === Input || x.prototype instanceof Module);

/** Writes arguments of one network; a module that comes twice is written once. */
export class Writer {
  readonly #names: Names | undefined;
  readonly #functions: Names["functions"];
  readonly #ids = new Map<Module, { $class: string; args: Json; id?: number }>();
  /** The classes that were written, by name. */
  readonly classes: Record<string, Class> = {};
  #count = 0;

  constructor(classes: Names["classes"] | undefined, functions: Names["functions"]) {
    this.#names = classes && { classes, functions };
    this.#functions = functions;
  }

  module(m: Module | Input, path: string): Json {
    const known = m instanceof Module && this.#ids.get(m);
    if (known) {
      known.id ??= ++this.#count;
      return { $ref: known.id };
    }
    const args = m instanceof Module ? m.constructorArguments() : [[...m.shape]];
    const name = this.#nameOf(m, path);
    const written: { $class: string; args: Json; id?: number } = { $class: name, args: [] };
    if (m instanceof Module) this.#ids.set(m, written);
    written.args = trimmed(args).map((x, i) => this.value(x, `${path || name}(${i})`));
    return written as Json;
  }

  value(x: unknown, path: string): Json {
    if (x === null || typeof x === "boolean" || typeof x === "string") return x;
    const [name] = unwritten.find(([, value]) => Object.is(value, x)) ?? [];
    if (name) return { $value: name };
    if (typeof x === "number") return x;
    if (x instanceof Module || x instanceof Input) return this.module(x, path);
    if (typeof x === "function") return this.#function(x as () => unknown, path);
    if (Array.isArray(x)) return x.map((y, i) => this.value(y, `${path}[${i}]`));
    if (!isRecord(x))
      throw new GraphError(
        `toConfig: ${path} is ${kindOf(x)}, which a config cannot hold\n  ${x instanceof Tensor ? "keep it as a parameter or buffer, which are saved with the weights" : "give the constructor numbers, texts, lists, records, modules and functions"}`,
      );
    const entries = Object.entries(x).filter(([, y]) => y !== undefined);
    const reserved = entries.find(([key]) => key.startsWith("$"));
    if (reserved)
      throw new GraphError(
        `toConfig: ${path}.${reserved[0]} begins with $, as marks of a config do\n  call it something else`,
      );
    return Object.fromEntries(entries.map(([key, y]) => [key, this.value(y, `${path}.${key}`)]));
  }

  #nameOf(m: object, path: string): string {
    const type = m.constructor as Class;
    const given = this.#names?.classes;
    const name = given ? nameIn(given, type) : type.name;
    const where = path ? ` of ${path}` : "";
    if (!name || (name in this.classes && this.classes[name] !== type))
      throw new GraphError(
        name
          ? `toConfig: two classes are called ${name}\n  tell them apart: nn.toConfig(net, { ...nn, Other })`
          : `toConfig: the class ${type.name || "without a name"}${where} has no name here\n  give it one: nn.toConfig(net, { ...nn, ${type.name || "Net"} })`,
      );
    this.classes[name] = type;
    return name;
  }

  #function(f: () => unknown, path: string): Json {
    const name = nameIn(this.#functions, f);
    if (name) return { $function: name };
    const recipe = recipeOf(f);
    if (recipe)
      return { $init: recipe.name, args: trimmed(recipe.args).map((x) => this.value(x, path)) };
    throw new GraphError(
      `toConfig: ${path} is a function that has no name here\n  give it one, to fromConfig too: nn.toConfig(net, nn, { functions: { ${f.name || "f"} } })`,
    );
  }
}

/** Arguments without those at the end that say nothing. */
function trimmed(args: readonly unknown[]): readonly unknown[] {
  const isNothing = (x: unknown) => x === undefined || (isRecord(x) && !Object.keys(x).length);
  const last = args.findLastIndex((x) => !isNothing(x));
  return args.slice(0, last + 1);
}

const nameIn = (names: Readonly<Record<string, unknown>>, x: unknown): string | undefined =>
  Object.keys(names).find((name) => names[name] === x);

/** Reads what `Writer` wrote. Throws GraphError for anything else, before a constructor runs. */
export class Reader {
  readonly #names: Names;
  readonly #made = new Map<unknown, Module>();
  #depth = 0;

  constructor(names: Names) {
    this.#names = names;
  }

  value(x: unknown, path: string): unknown {
    if (++this.#depth > deepest)
      throw new GraphError(`fromConfig: ${path.slice(0, 60)}… is nested over ${deepest} deep`);
    try {
      if (Array.isArray(x)) return x.map((y, i) => this.value(y, `${path}[${i}]`));
      if (!isRecord(x)) return primitive(x, path);
      const mark = Object.keys(x).find((key) => key.startsWith("$"));
      if (mark !== undefined) return this.#marked(mark, x, path);
      const entries = Object.entries(x);
      return Object.fromEntries(entries.map(([k, y]) => [k, this.value(y, `${path}.${k}`)]));
    } finally {
      this.#depth--;
    }
  }

  /** A module. */
  module(x: unknown, path: string): Module {
    const m = this.value(x, path);
    if (m instanceof Module) return m;
    throw new GraphError(
      `fromConfig: ${path} must be a module, { "$class": …, "args": […] }, got ${kindOf(x)}`,
    );
  }

  #marked(mark: string, x: Record<string, unknown>, path: string): unknown {
    const name = x[mark];
    if (mark === "$class") return this.#make(x, path);
    if (mark === "$init") {
      checkKeys(x, [mark, "args"], path);
      const factory = own(initializers, name, path, "initialiser");
      return made(`${path}: ${String(name)}`, () =>
        factory(...(this.#args(x.args, path) as never[])),
      );
    }
    checkKeys(x, [mark], path);
    if (mark === "$value") {
      const found = unwritten.find(([text]) => text === name);
      if (found) return found[1];
    }
    if (mark === "$function") {
      const f = own(this.#names.functions, name, path, "function");
      if (typeof f === "function") return f;
    }
    const module = mark === "$ref" && this.#made.get(name);
    if (module) return module;
    throw new GraphError(
      `fromConfig: ${path} has ${mark} ${kindOf(name)}, which means nothing here`,
    );
  }

  #make(x: Record<string, unknown>, path: string): unknown {
    checkKeys(x, ["$class", "args", "id"], path);
    const type = own(this.#names.classes, x.$class, path, "class");
    if (!isClass(type))
      throw new GraphError(
        `fromConfig: ${path} is of ${String(x.$class)}, which is no class of modules`,
      );
    const args = this.#args(x.args, path);
    const m = made(`${path}: ${String(x.$class)}`, () => new type(...args));
    if (x.id !== undefined && m instanceof Module) this.#made.set(x.id, m);
    return m;
  }

  #args(x: unknown, path: string): unknown[] {
    if (!Array.isArray(x))
      throw new GraphError(`fromConfig: args of ${path} must be a list, got ${kindOf(x)}`);
    return this.value(x, path) as unknown[];
  }
}

function primitive(x: unknown, path: string): unknown {
  if (x === null || ["boolean", "number", "string"].includes(typeof x)) return x;
  throw new GraphError(
    `fromConfig: ${path} is ${kindOf(x)}, which is not JSON\n  take what JSON.parse gives`,
  );
}

function own<T>(
  names: Readonly<Record<string, T>>,
  name: unknown,
  path: string,
  what: "class" | "function" | "initialiser",
): T {
  if (typeof name === "string" && Object.hasOwn(names, name)) return names[name]!;
  const remedy =
    what === "class"
      ? `nn.fromConfig(config, { ...nn, ${visibleName(name)} })`
      : `nn.fromConfig(config, nn, { functions: { ${visibleName(name)} } })`;
  throw new GraphError(
    `fromConfig: ${path} asks for the ${what} ${kindOf(name)}, which it was not given${what === "initialiser" ? "" : `\n  if you trust the config with it: ${remedy}`}`,
  );
}

const visibleName = (name: unknown): string =>
  typeof name === "string" && /^[A-Za-z_]\w{0,60}$/.test(name) ? name : "Net";

function checkKeys(x: Record<string, unknown>, keys: readonly string[], path: string): void {
  const other = Object.keys(x).find((key) => !keys.includes(key));
  if (other !== undefined)
    throw new GraphError(`fromConfig: ${path} has ${other} beside ${keys[0]}`);
}

/** What `make` gives; whatever it throws is an error of ours that says where. */
export function made<T>(where: string, make: () => T): T {
  try {
    return located(where, make);
  } catch (e) {
    if (e instanceof KilnError) throw e;
    throw new GraphError(
      `fromConfig: ${where} cannot be made of its arguments: ${e instanceof Error ? e.message : kindOf(e)}`,
      { cause: e },
    );
  }
}
