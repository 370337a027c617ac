/**
 * The names a PyTorch pickle may call, and what each makes. None of them runs anything: a call becomes a tensor, a
 * container or a plain value, or is refused for its arguments.
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
import { type TorchDtype, torchDtypes, torchStorages, torchTensorTypes, untyped } from "./names.ts";
import { numpyMakers } from "./numpy.ts";
import { Storage, TorchTensor, type View } from "./tensor.ts";

type Makers = Map<string, Make>;

/** Names that are only referred to: types and factories that stand as arguments. */
export const knownNames: ReadonlySet<string> = new Set([
  ...torchDtypes.keys(),
  ...torchStorages.keys(),
  ...torchTensorTypes,
  "torch.Tensor",
  "torch.nn.parameter.Parameter",
  "torch.nn.parameter.Buffer",
  "numpy.ndarray",
  "builtins.object",
  "__builtin__.object",
]);

const pathTypes = [
  "Path",
  "PurePath",
  "PosixPath",
  "PurePosixPath",
  "WindowsPath",
  "PureWindowsPath",
];

/** The calls that are known, of which each refuses the file by `fail`. */
export function torchMakers(fail: Fail): ReadonlyMap<string, Make> {
  const makers: Makers = new Map([...containers(fail), ...numpyMakers(fail)]);
  const tensor: Make = (args, offset) =>
    rebuild(args, dtypeOfStorage(args[0], offset, fail), offset, fail);
  makers.set("torch._utils._rebuild_tensor", tensor);
  makers.set("torch._utils._rebuild_tensor_v2", tensor);
  makers.set("torch._utils._rebuild_tensor_v3", (args, offset) => {
    const name = args[6] instanceof Global ? args[6].name : "";
    const dtype = torchDtypes.get(name) ?? fail("a tensor has no known dtype", offset);
    return rebuild(args, dtype, offset, fail);
  });
  const first: Make = ([data = null], offset) =>
    data instanceof TorchTensor ? data : fail(`a parameter is ${describe(data)}`, offset);
  makers.set("torch._utils._rebuild_parameter", first);
  makers.set("torch._utils._rebuild_parameter_with_state", first);
  // A subclass of tensor: how the tensor is made, its type, the arguments, its attributes.
  makers.set("torch._tensor._rebuild_from_type_v2", ([make = null, type, args], offset) => {
    const known = make instanceof Global ? makers.get(make.name) : undefined;
    const plain = type instanceof Global && /^torch\.(Tensor$|nn\.parameter\.)/.test(type.name);
    if (!known || !plain || !Array.isArray(args))
      return fail(`a tensor of another type is made by ${describe(make)}`, offset);
    return known(args, offset);
  });
  makers.set("torch.Size", ([size = []], offset) =>
    Array.isArray(size) ? size : fail(`a torch.Size is ${describe(size)}`, offset),
  );
  makers.set("torch.device", ([type = null, index], offset) =>
    typeof type !== "string"
      ? fail(`a torch.device is ${describe(type)}`, offset)
      : typeof index === "number"
        ? `${type}:${index}`
        : type,
  );
  const text: Make = ([value = null], offset) =>
    typeof value === "string" ? value : fail(`a name is ${describe(value)}`, offset);
  makers.set("torch.serialization._get_layout", text);
  makers.set("torch.torch_version.TorchVersion", text);
  return makers;
}

/** Python's own: containers, plain types, and how old protocols write bytes. */
function containers(fail: Fail): Makers {
  const items = (value: PickleValue | undefined, offset: number): Iterable<PickleValue> => {
    if (value === undefined) return [];
    if (Array.isArray(value) || value instanceof Set) return value;
    return fail(`a container is made of ${describe(value)}`, offset);
  };
  const dict: Make = ([from], offset) => {
    if (from instanceof Map) return new Map(from);
    const pairs = [...items(from, offset)];
    for (const pair of pairs)
      if (!Array.isArray(pair) || pair.length !== 2)
        fail("a dict is made of what is no pair", offset);
    return new Map(pairs as [PickleValue, PickleValue][]);
  };
  const itself: Make = ([value = null], offset) =>
    typeof value !== "object" ? value : fail(`a plain value is made of ${describe(value)}`, offset);
  const made: Record<string, Make> = {
    set: ([from], offset) => new Set(items(from, offset)),
    frozenset: ([from], offset) => new Set(items(from, offset)),
    list: ([from], offset) => [...items(from, offset)],
    tuple: ([from], offset) => [...items(from, offset)],
    dict,
    int: itself,
    float: itself,
    bool: itself,
    str: itself,
    complex: ([re = 0, im = 0]) =>
      new Map([
        ["real", re],
        ["imag", im],
      ]),
    bytes: (args, offset) => bytesFrom(args, offset, fail),
    bytearray: (args, offset) => bytesFrom(args, offset, fail),
  };
  const makers: Makers = new Map();
  for (const [name, make] of Object.entries(made))
    for (const module of ["builtins", "__builtin__"]) makers.set(`${module}.${name}`, make);
  makers.set("collections.OrderedDict", dict);
  makers.set("collections.Counter", dict);
  // Its factory, which is only named, makes values that are not there.
  makers.set("collections.defaultdict", ([, ...rest], offset) => dict(rest, offset));
  makers.set("_codecs.encode", (args, offset) => bytesFrom(args, offset, fail));
  for (const type of pathTypes)
    for (const module of ["pathlib", "pathlib._local"])
      makers.set(`${module}.${type}`, (parts, offset) =>
        parts.map((part) => itself([part], offset)).join("/"),
      );
  makers.set("argparse.Namespace", () => new Attributes());
  makers.set("types.SimpleNamespace", () => new Attributes());
  // How old protocols make an object: its class, the class that has its value, the value.
  for (const module of ["copyreg", "copy_reg"])
    makers.set(`${module}._reconstructor`, ([type = null, ...rest], offset) => {
      if (!(type instanceof Global)) return fail(`an object is made of ${describe(type)}`, offset);
      return makers.get(type.name)?.([], offset) ?? new Opaque(type.name, offset, rest);
    });
  return makers;
}

/** Bytes from a string in latin-1, or as they are. */
function bytesFrom(args: readonly PickleValue[], offset: number, fail: Fail): PickleValue {
  const [text, encoding = "latin1"] = args;
  if (text === undefined) return new Uint8Array(0);
  if (text instanceof Uint8Array) return text;
  if (typeof text !== "string" || (encoding !== "latin1" && encoding !== "latin-1"))
    return fail(`bytes are made of ${describe(text)}`, offset);
  const odd = /[^\0-\xff]/.exec(text);
  if (odd) fail("bytes are made of text that is not latin-1", offset);
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

function dtypeOfStorage(storage: PickleValue | undefined, offset: number, fail: Fail): TorchDtype {
  if (!(storage instanceof Storage))
    return fail(`a tensor is made of ${describe(storage ?? null)}`, offset);
  return storage.dtype === untyped ? fail("a tensor has no dtype", offset) : storage.dtype;
}

/** Arguments: storage, offset in it, sizes, strides, and what does not concern values. */
function rebuild(
  args: readonly PickleValue[],
  dtype: TorchDtype,
  offset: number,
  fail: Fail,
): TorchTensor {
  const [storage, start, size, stride] = args;
  if (!(storage instanceof Storage))
    return fail(`a tensor is made of ${describe(storage ?? null)}`, offset);
  const view = { start, size, stride } as View;
  if (!isCount(start)) fail("a tensor's offset in its storage is not a count", offset);
  if (!isCounts(size) || !isCounts(stride) || size.length !== stride.length || size.length > 32)
    fail("a tensor's sizes and strides are not two lists of as many counts, at most 32", offset);
  return new TorchTensor(dtype, storage, view, offset);
}

const isCount = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0;
const isCounts = (x: unknown): x is number[] => Array.isArray(x) && x.every(isCount);
