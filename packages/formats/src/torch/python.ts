/**
 * The names of Python itself that a pickle may call: containers, plain types, paths, records of attributes, and how old
 * protocols write bytes and objects.
 */
import {
  Attributes,
  describe,
  Global,
  type Make,
  Opaque,
  type PickleValue,
} from "../pickle/values.ts";
import type { Fail } from "../reading.ts";

type Makers = Map<string, Make>;

/** Each name under each module that has had it. */
const under = (
  modules: readonly string[],
  made: Readonly<Record<string, Make>>,
): [string, Make][] =>
  modules.flatMap((module) =>
    Object.entries(made).map(([name, make]): [string, Make] => [`${module}.${name}`, make]),
  );

/** The calls that are known; those with arguments that do not fit refuse the file by `fail`. */
export function pythonMakers(fail: Fail): ReadonlyMap<string, Make> {
  const attributes: Make = () => new Attributes();
  const makers: Makers = new Map([
    ...containers(fail),
    ...plainTypes(fail),
    ["argparse.Namespace", attributes],
    ["types.SimpleNamespace", attributes],
  ]);
  // How old protocols make an object: its class, the class that has its value, the value.
  const object: Make = ([type = null, ...rest], offset) => {
    if (!(type instanceof Global)) return fail(`an object is made of ${describe(type)}`, offset);
    const known = classes.get(type.name);
    return known ? known([], offset) : new Opaque(type.name, offset, rest);
  };
  const classes = new Map(makers);
  for (const [name, make] of under(["copyreg", "copy_reg"], { _reconstructor: object }))
    makers.set(name, make);
  return makers;
}

function containers(fail: Fail): [string, Make][] {
  const items = (value: PickleValue | undefined, offset: number): Iterable<PickleValue> => {
    if (value === undefined) return [];
    if (Array.isArray(value) || value instanceof Set) return value;
    return fail(`a container is made of ${describe(value)}`, offset);
  };
  const list: Make = ([from], offset) => [...items(from, offset)];
  const set: Make = ([from], offset) => new Set(items(from, offset));
  const dict: Make = ([from], offset) => {
    if (from instanceof Map) return new Map(from);
    const pairs = [...items(from, offset)];
    for (const pair of pairs)
      if (!Array.isArray(pair) || pair.length !== 2)
        fail("a dict is made of what is no pair", offset);
    return new Map(pairs as [PickleValue, PickleValue][]);
  };
  // The factory is only named: it makes values that are not there.
  const defaultdict: Make = ([, ...rest], offset) => dict(rest, offset);
  return [
    ...under(["builtins", "__builtin__"], { list, tuple: list, set, frozenset: set, dict }),
    ...under(["collections"], { OrderedDict: dict, Counter: dict, defaultdict }),
  ];
}

const longestPath = 4096;

function plainTypes(fail: Fail): [string, Make][] {
  const itself: Make = ([value = null], offset) =>
    typeof value !== "object" ? value : fail(`a plain value is made of ${describe(value)}`, offset);
  const bytes: Make = (args, offset) => bytesFrom(args, offset, fail);
  const complex: Make = ([re = 0, im = 0]) =>
    new Map([
      ["real", re],
      ["imag", im],
    ]);
  const path: Make = (parts, offset) => {
    const names = parts.filter((part) => typeof part === "string");
    const length = names.reduce((n, part) => n + part.length, 0);
    if (names.length < parts.length || length > longestPath)
      fail(`a path is not made of names of at most ${longestPath} characters in all`, offset);
    return names.join("/");
  };
  const values = { int: itself, float: itself, bool: itself, str: itself };
  const posix = { Path: path, PurePath: path, PosixPath: path, PurePosixPath: path };
  return [
    ...under(["builtins", "__builtin__"], { ...values, complex, bytes, bytearray: bytes }),
    ...under(["_codecs"], { encode: bytes }),
    ...under(["pathlib", "pathlib._local"], { ...posix, WindowsPath: path, PureWindowsPath: path }),
  ];
}

/** Bytes from a string in latin-1, or as they are. */
function bytesFrom(args: readonly PickleValue[], offset: number, fail: Fail): PickleValue {
  const [text, encoding = "latin1"] = args;
  if (text === undefined) return new Uint8Array(0);
  if (text instanceof Uint8Array) return text;
  if (typeof text !== "string" || (encoding !== "latin1" && encoding !== "latin-1"))
    return fail(`bytes are made of ${describe(text)}`, offset);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 255) fail("bytes are made of text that is not latin-1", offset);
    bytes[i] = code;
  }
  return bytes;
}
