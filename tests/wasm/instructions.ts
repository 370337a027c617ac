/** A function for every instruction of the table, with operands of the right types. */

import {
  Code,
  get,
  op,
  type ValueType,
  type WasmFunction,
} from "../../compiler/src/targets/wasm/code.ts";
import { type Instruction, instructions } from "../../compiler/src/targets/wasm/opcodes.ts";

const structural = new Set(["clause", "comment", "call", "block", "if", "branch"]);

const scalars: Readonly<Record<string, ValueType>> = {
  i8x16: "i32",
  i16x8: "i32",
  i32x4: "i32",
  i64x2: "i64",
  f32x4: "f32",
  f64x2: "f64",
};

/** The type that a prefix such as `i32x4` or `f64` works on. */
function prefixType(prefix: string): ValueType {
  return /^[if](32|64)$/.test(prefix) ? (prefix as ValueType) : "v128";
}

function operandTypes({ name, kind, operands }: Instruction): ValueType[] {
  const [prefix = "", op = ""] = name.split(".");
  const type = prefixType(prefix);
  if (kind === "memory" && operands === 1) return ["i32"];
  if (kind === "memory") return ["i32", type];
  if (kind === "memoryLane") return ["i32", "v128"];
  if (name.startsWith("memory.")) return ["i32", "i32", "i32"];
  if (name === "select") return ["f64", "f64", "i32"];
  if (name === "drop") return ["f32"];
  if (name.startsWith("local.")) return operands === 0 ? [] : ["v128"];
  if (op === "splat") return [scalars[prefix]!];
  if (op === "replace_lane") return ["v128", scalars[prefix]!];
  if (/^sh[lr]/.test(op) && type === "v128") return ["v128", "i32"];
  const source = /_([if](?:32|64))(?:_[su])?$/.exec(op)?.[1];
  if (source !== undefined && type !== "v128") return [source as ValueType];
  return new Array<ValueType>(Math.max(operands, 0)).fill(type);
}

/** The type that the instruction leaves, or undefined. */
function resultType({ name, kind, operands }: Instruction): ValueType | undefined {
  const [prefix = "", op = ""] = name.split(".");
  const stores = (kind === "memory" && operands === 2) || /^store.*_lane$/.test(op);
  if (stores || /^(memory\.|drop|nop|return|unreachable|local\.set)/.test(name)) return undefined;
  if (name === "select") return "f64";
  if (name.startsWith("local.")) return "v128";
  if (/^extract_lane/.test(op)) return scalars[prefix];
  if (/^(any_true|all_true|bitmask)$/.test(op)) return "i32";
  const type = prefixType(prefix);
  if (type !== "v128" && /^(eqz?|ne|[lg][te](_[su])?)$/.test(op)) return "i32";
  return type;
}

type Immediates = readonly [immediate: Code["immediate"], detail?: Code["detail"]];

function immediates({ name, kind, width }: Instruction): readonly Immediates[] {
  if (kind === "memory") return [[0], [4], [70000]];
  if (kind === "memoryLane")
    return [
      [0, 0],
      [8, 16 / width - 1],
    ];
  if (kind === "lane") return [[0], [width - 1]];
  if (kind === "shuffle") return [[[0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 31]]];
  if (kind === "local") return [["v128"]];
  return kind === "constant" ? constants[name]! : [[undefined]];
}

const integers = [0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, -8192, -8193, 2147483647];
const floats = [0, -0, 1, -1.5, 0.1, 1e10, 3.4028234663852886e38, 1e-45, 1.17549435e-38];
const special = [Infinity, -Infinity, Number.NaN];
const tiny = [2.2250738585072014e-308, 5e-324, 1.7976931348623157e308];
const one = (v: number | bigint): Immediates => [v];
const constants: Readonly<Record<string, readonly Immediates[]>> = {
  "i32.const": [...integers, -2147483648].map(one),
  "i64.const": [...integers.map(BigInt), -(2n ** 63n), 2n ** 63n - 1n].map(one),
  "f32.const": [...floats, ...special].map(one),
  "f64.const": [...floats, ...special, ...tiny].map(one),
  "v128.const": [
    [[0, -1, 0x7fffffff, -2147483648], "i32x4"],
    [[0, -0.5, 1e-3, 16777217], "f32x4"],
    [[-Infinity, 0.1], "f64x2"],
  ],
};

function functionOf(row: Instruction, index: number): WasmFunction {
  const operands = operandTypes(row).map((type) => get(type));
  const body = immediates(row).map(([immediate, detail]) => {
    const use = new Code(row, operands, immediate, detail);
    return resultType(row) === undefined ? use : op("drop", use);
  });
  return {
    name: `f${index}`,
    exported: true,
    params: new Map((["i32", "i64", "f32", "f64"] as const).map((type) => [type, type])),
    locals: new Map([["v128", "v128"]]),
    calls: new Set(),
    body,
  };
}

export const everyInstruction = (): WasmFunction[] =>
  instructions.filter(({ kind }) => !structural.has(kind)).map(functionOf);
