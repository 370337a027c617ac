/**
 * The names of PyTorch that a pickle may call, and what each makes. None of them runs anything: a call becomes a tensor or
 * a plain value, or is refused for its arguments.
 */
import { describe, Global, type Make, type PickleValue } from "../pickle/values.ts";
import type { Fail } from "../reading.ts";
import { type TorchDtype, torchDtypes, torchStorages, torchTensorTypes, untyped } from "./names.ts";
import { numpyMakers } from "./numpy.ts";
import { pythonMakers } from "./python.ts";
import { Storage, TorchTensor, type View } from "./tensor.ts";

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

/** All calls that are known; those with arguments that do not fit refuse the file by `fail`. */
export const torchMakers = (fail: Fail): ReadonlyMap<string, Make> =>
  new Map([...pythonMakers(fail), ...numpyMakers(fail), ...tensors(fail), ...plain(fail)]);

function tensors(fail: Fail): Map<string, Make> {
  const tensor: Make = (args, offset) =>
    rebuild(args, dtypeOfStorage(args[0], offset, fail), offset, fail);
  const typed: Make = (args, offset) => {
    const name = args[6] instanceof Global ? args[6].name : "";
    const dtype = torchDtypes.get(name) ?? fail("a tensor has no known dtype", offset);
    return rebuild(args, dtype, offset, fail);
  };
  const parameter: Make = ([data = null], offset) =>
    data instanceof TorchTensor ? data : fail(`a parameter is ${describe(data)}`, offset);
  const makers = new Map([
    ["torch._utils._rebuild_tensor", tensor],
    ["torch._utils._rebuild_tensor_v2", tensor],
    ["torch._utils._rebuild_tensor_v3", typed],
    ["torch._utils._rebuild_parameter", parameter],
    ["torch._utils._rebuild_parameter_with_state", parameter],
  ]);
  // How a tensor with attributes is made, its type, the arguments. One of these cannot make another.
  const ofType: Make = ([make = null, type, args], offset) => {
    const known = make instanceof Global ? made.get(make.name) : undefined;
    const isPlain = type instanceof Global && /^torch\.(Tensor$|nn\.parameter\.)/.test(type.name);
    if (!known || !isPlain || !Array.isArray(args))
      return fail(`a tensor of another type is made by ${describe(make)}`, offset);
    return known(args, offset);
  };
  const made = new Map(makers);
  return makers.set("torch._tensor._rebuild_from_type_v2", ofType);
}

/** Plain values: sizes, devices, names. */
function plain(fail: Fail): Map<string, Make> {
  const size: Make = ([sizes = []], offset) =>
    Array.isArray(sizes) ? sizes : fail(`a torch.Size is ${describe(sizes)}`, offset);
  const device: Make = ([type = null, index], offset) => {
    if (typeof type !== "string") return fail(`a torch.device is ${describe(type)}`, offset);
    return typeof index === "number" ? `${type}:${index}` : type;
  };
  const text: Make = ([value = null], offset) =>
    typeof value === "string" ? value : fail(`a name is ${describe(value)}`, offset);
  return new Map([
    ["torch.Size", size],
    ["torch.device", device],
    ["torch.serialization._get_layout", text],
    ["torch.torch_version.TorchVersion", text],
  ]);
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
