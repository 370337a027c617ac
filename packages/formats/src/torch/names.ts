/**
 * The element types PyTorch has, by the names of its dtypes and of its storages. Those Kiln lacks are listed too, so that a
 * file which has them can be listed, and refused by name.
 */
import type { Stored } from "../elements.ts";

export interface TorchDtype {
  readonly name: string;
  /** Undefined if Kiln cannot hold it. */
  readonly stored: Stored | undefined;
  readonly bytes: number;
}

const row = (name: string, bytes: number, stored?: Stored): TorchDtype => ({ name, bytes, stored });

// biome-ignore format: one dtype a row; its storage, its other names
const rows: readonly (readonly [TorchDtype, string | undefined, ...string[]])[] = [
  [row("float64", 8, "f64"),   "DoubleStorage", "double"],
  [row("float32", 4, "f32"),   "FloatStorage", "float"],
  [row("float16", 2, "f16"),   "HalfStorage", "half"],
  [row("bfloat16", 2, "bf16"), "BFloat16Storage"],
  [row("int64", 8, "i64"),     "LongStorage", "long"],
  [row("int32", 4, "i32"),     "IntStorage", "int"],
  [row("int16", 2, "i16"),     "ShortStorage", "short"],
  [row("int8", 1, "i8"),       "CharStorage"],
  [row("uint8", 1, "u8"),      "ByteStorage"],
  [row("uint16", 2, "u16"),    undefined],
  [row("uint32", 4, "u32"),    undefined],
  [row("uint64", 8, "u64"),    undefined],
  [row("bool", 1, "bool"),     "BoolStorage"],
  [row("complex32", 4),        undefined, "chalf"],
  [row("complex64", 8),        "ComplexFloatStorage", "cfloat"],
  [row("complex128", 16),      "ComplexDoubleStorage", "cdouble"],
  [row("quint8", 1),           "QUInt8Storage"],
  [row("qint8", 1),            "QInt8Storage"],
  [row("qint32", 4),           "QInt32Storage"],
  [row("quint4x2", 1),         "QUInt4x2Storage"],
  [row("quint2x4", 1),         "QUInt2x4Storage"],
  [row("float8_e4m3fn", 1),    undefined],
  [row("float8_e5m2", 1),      undefined],
  [row("float8_e4m3fnuz", 1),  undefined],
  [row("float8_e5m2fnuz", 1),  undefined],
  [row("float8_e8m0fnu", 1),   undefined],
];

/** Bytes without a type, as newer files have them. */
export const untyped: TorchDtype = row("untyped", 1);

/** By the name in a pickle: `torch.float32`. */
export const torchDtypes: ReadonlyMap<string, TorchDtype> = new Map(
  rows.flatMap(([dtype, , ...others]) =>
    [dtype.name, ...others].map((name) => [`torch.${name}`, dtype] as const),
  ),
);

/** By the name in a pickle: `torch.FloatStorage`, or of another device in old files: `torch.cuda.FloatStorage`. */
export const torchStorages: ReadonlyMap<string, TorchDtype> = new Map([
  ["torch.storage.UntypedStorage", untyped],
  ["torch.UntypedStorage", untyped],
  ...rows.flatMap(([dtype, storage]) =>
    storage === undefined
      ? []
      : ["torch.", "torch.cuda."].map((module) => [module + storage, dtype] as const),
  ),
]);

/** The types of tensors in old files: `torch.FloatTensor`. They stand beside tensors and say nothing more. */
export const torchTensorTypes: readonly string[] = [...torchStorages.keys()].map((name) =>
  name.replace(/Storage$/, "Tensor"),
);
