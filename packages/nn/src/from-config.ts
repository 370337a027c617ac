/**
 * Networks of configs, which may come from anywhere: nothing is made but what the caller names, and
 * what does not fit is an error of ours.
 */
import {
  checkOptions,
  GraphError,
  isDtype,
  kindOf,
  type OptionNames,
  param,
  setFrozen,
  zeros,
} from "@kiln-ml/ir";
import { spendElements, withAllowance } from "./allowance.ts";
import type { ConfigOptions, ModuleConfig } from "./config.ts";
import { applyChange, isChange } from "./config-changes.ts";
import {
  entriesOf,
  holdsParts,
  isBelow,
  setAt,
  slotOf,
  type Tree,
  treeOf,
  valueAt,
} from "./config-tree.ts";
import { isRecord, made, Reader } from "./config-values.ts";
import { buildWith, isBuilt } from "./lazy.ts";
import { Module } from "./module.ts";

export interface FromConfigOptions extends ConfigOptions {
  /** Elements that all parameters may have together; 2²⁸ by default, 1 GB of f32. */
  readonly maxElements?: number;
}

const fromConfigOptions: OptionNames<FromConfigOptions> = { functions: 1, maxElements: 1 };

const sections = ["parts", "sizes", "fields", "changes", "frozen", "training"] as const;

/**
 * The network of a config that `toConfig` gave, with first values of its own: weights are loaded
 * afterwards. `nn.skipInit(() => nn.fromConfig(config, nn))` leaves the draws out.
 *
 * Only classes and functions that are handed over are made or called, so a config may come from
 * anywhere. `{ Linear, ReLU }` instead of `nn` keeps a page as small as it is. Types are up to the
 * caller: `nn.fromConfig<nn.Sequential>(…)`. `keras.Model.from_config`; no counterpart in PyTorch.
 *
 * Throws GraphError for what is no config of a known version, a class or a function that it was not
 * given, and more than `maxElements`; and what constructors throw.
 *
 * @param config What JSON.parse gives.
 * @param classes By name: `nn` for all layers, `{ ...nn, Net }` with your own.
 * @param options `functions` by name, where the config asks for any; `maxElements`.
 * @example
 *   const text = JSON.stringify(nn.toConfig(new nn.Linear(3, 2), nn));
 *   const net = nn.fromConfig(JSON.parse(text), { Linear: nn.Linear });
 *   net.forward(ones([1, 3])).shape // [1, 2]
 */
export function fromConfig<M extends Module = Module & { forward(...inputs: unknown[]): never }>(
  config: ModuleConfig,
  classes: Readonly<Record<string, unknown>>,
  options: FromConfigOptions = {},
): M {
  const { functions = {}, maxElements = 2 ** 28 } = checkOptions(
    "fromConfig",
    options,
    fromConfigOptions,
  );
  if (typeof classes !== "object" || classes === null)
    throw new GraphError(
      `fromConfig: takes the classes by name, got ${kindOf(classes)}\n  nn.fromConfig(config, nn), or of a few: { Linear: nn.Linear }`,
    );
  if (!(typeof maxElements === "number" && maxElements >= 0))
    throw new GraphError(
      `fromConfig: maxElements must be a number of 0 or more, got ${kindOf(maxElements)}`,
    );
  checkConfig(config);
  const reader = new Reader({ classes, functions });
  const refused = (): never => {
    throw new GraphError(
      `fromConfig: the network takes more than ${maxElements.toLocaleString("en-US")} elements of parameters\n  if it may, allow more: { maxElements }`,
    );
  };
  return withAllowance(maxElements, refused, () => {
    const net = reader.module(config.module, "module");
    putParts(net, config, reader);
    setFields(net, config);
    setModes(net, config);
    return net as M;
  });
}

function checkConfig(config: ModuleConfig): void {
  const { format, version, module: _, ...rest } = (isRecord(config) ? config : {}) as ModuleConfig;
  if (format !== "kiln-module")
    throw new GraphError(
      `fromConfig: takes what nn.toConfig gave, got ${isRecord(config) ? `a record of format ${kindOf(format)}` : kindOf(config)}\n  parse its text first: nn.fromConfig(JSON.parse(text), nn)`,
    );
  if (version !== 1)
    throw new GraphError(`fromConfig: version 1 is known, this is ${kindOf(version)}`);
  for (const [name, section] of Object.entries(rest) as [string, unknown][]) {
    if (!sections.includes(name as "parts"))
      throw new GraphError(`fromConfig: a config has no ${name}`);
    const inner = name === "fields" && isRecord(section) ? Object.values(section) : [];
    if (!inner.every(isRecord))
      throw new GraphError("fromConfig: fields must be records of values by path");
    if (name === "frozen" ? !isTexts(section) : !isRecord(section))
      throw new GraphError(
        `fromConfig: ${name} must be ${name === "frozen" ? "a list of paths" : "a record by path"}, got ${kindOf(section)}`,
      );
  }
}

const isTexts = (x: unknown): boolean => Array.isArray(x) && x.every((y) => typeof y === "string");

/**
 * What stands at paths, sizes and changes: above before below, for one makes room for the other.
 */
function putParts(net: Module, config: ModuleConfig, reader: Reader): void {
  const { parts = {}, sizes = {}, changes = {} } = config;
  const values = new Map<string, unknown>();
  const shared: [string, string][] = [];
  for (const [path, part] of Object.entries(parts)) {
    if (isRecord(part) && typeof part.$path === "string") shared.push([path, part.$path]);
    else values.set(path, part === null ? undefined : partOf(part, path, reader));
  }
  const paths = new Set([...values.keys(), ...Object.keys(sizes), ...Object.keys(changes)]);
  for (const path of [...paths].sort((a, b) => a.length - b.length)) {
    if (values.has(path)) {
      const place = placeIn(treeOf(net), path);
      if (values.get(path) === undefined && !holdsParts(valueAt(place)))
        refuse(path, "no module or parameter that could be taken out");
      setAt(place, values.get(path), path);
    }
    if (Object.hasOwn(sizes, path)) setSize(moduleAt(net, path), sizes[path], path);
    if (Object.hasOwn(changes, path)) repeat(moduleAt(net, path), changes[path], path);
  }
  for (const [path, from] of shared) {
    const tree = treeOf(net);
    const value = valueAt(placeIn(tree, from));
    if (!(value instanceof Module) && !tree.parameters.has(from))
      refuse(from, "no module or parameter");
    const place = placeIn(tree, path);
    if (value instanceof Module && [...treeOf(value).holders.values()].includes(place[0]))
      refuse(path, "within what it is to hold, a circle");
    setAt(place, value, path);
  }
}

function partOf(part: unknown, path: string, reader: Reader): unknown {
  if (!isRecord(part) || !("$parameter" in part)) {
    const value = reader.value(part, path);
    if (value instanceof Module || entriesOf(value)) return value;
    return refuse(path, `${kindOf(value)}, which is no part`);
  }
  const { $parameter: shape, dtype, trainable } = part;
  const fits =
    Array.isArray(shape) &&
    shape.every((d) => Number.isSafeInteger(d) && d >= 0) &&
    isDtype(dtype) &&
    typeof trainable === "boolean";
  if (!fits) refuse(path, "a $parameter without a shape, dtype and trainable that are any");
  spendElements(shape);
  return made(path, () => param(zeros(shape, dtype), { name: path, trainable }));
}

function refuse(path: string, what: string): never {
  throw new GraphError(`fromConfig: ${path} is ${what} of this network`);
}

function placeIn(tree: Tree, path: string): readonly [object, string] {
  return slotOf(tree, path) || refuse(`"${path}"`, "no place");
}

function moduleAt(net: Module, path: string): Module {
  return treeOf(net).modules.get(path)?.module ?? refuse(`"${path}"`, "no module");
}

function setSize(m: Module, size: unknown, path: string): void {
  if (!Number.isSafeInteger(size) || (size as number) < 0)
    throw new GraphError(
      `fromConfig: sizes of ${path || "the network"} must be a whole number, got ${kindOf(size)}`,
    );
  if (isBuilt(m)) refuse(path, "no layer that waits for its size");
  made(path || "the network", () => buildWith(m, size as number));
}

function repeat(m: Module, changes: unknown, path: string): void {
  if (!Array.isArray(changes)) refuse(path, "no list of changes");
  for (const change of changes as unknown[]) {
    const [name, options] = Array.isArray(change) ? change : [];
    if (!isChange(name) || !isRecord(options))
      throw new GraphError(
        `fromConfig: changes of ${path || "the network"} have ${kindOf(name)}, which is none`,
      );
    made(path || "the network", () => applyChange(m, name, options));
  }
}

/** Only fields that are there, of the kind that is there. */
function setFields(net: Module, { fields = {} }: ModuleConfig): void {
  for (const [path, values] of Object.entries(fields)) {
    const m = moduleAt(net, path);
    for (const [name, value] of Object.entries(values)) {
      const before = Object.getOwnPropertyDescriptor(m, name);
      if (!before || !("value" in before) || !sameKind(before.value, value))
        throw new GraphError(
          `fromConfig: ${path || "the network"} has no field ${name} that may be ${kindOf(value)}`,
        );
      Object.defineProperty(m, name, {
        ...before,
        value: new Reader({ classes: {}, functions: {} }).value(value, path),
      });
    }
  }
}

function sameKind(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b);
  if (isRecord(a)) return isRecord(b);
  return typeof a === typeof b && typeof a !== "object" && typeof a !== "function";
}

function setModes(net: Module, { frozen = [], training = {} }: ModuleConfig): void {
  const { modules, parameters } = treeOf(net);
  for (const path of [...frozen, ...Object.keys(training)])
    if (!modules.has(path) && !parameters.has(path)) refuse(`"${path}"`, "no place");
  for (const [path, t] of parameters) setFrozen(t, isBelow(path, frozen));
  for (const [path, { module, above }] of modules) {
    const own = Object.hasOwn(training, path) ? training[path] : undefined;
    module.training = own ?? (module === net || modules.get(above)!.module.training);
    if (typeof module.training !== "boolean")
      throw new GraphError(
        `fromConfig: training of ${path || "the network"} must be true or false`,
      );
  }
}
