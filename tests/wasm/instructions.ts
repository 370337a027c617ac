/** A function for every instruction that the assembler knows, with operands of the right types. */

import { type Instruction, instructions } from "../../compiler/src/targets/wasm/opcodes.ts";

const structural = new Set(["clause", "valueType", "declaration", "call", "block", "if", "branch"]);

/** Operand of each type that does not trap. */
const sample = {
  i32: "(local.get $i32)",
  i64: "(local.get $i64)",
  f32: "(local.get $f32)",
  f64: "(local.get $f64)",
  v128: "(local.get $v128)",
};
type ValueType = keyof typeof sample;

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
  return prefix in sample ? (prefix as ValueType) : "v128";
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

function immediates({ name, kind, width }: Instruction): readonly string[] {
  if (kind === "memory") return ["", "offset=4", `offset=70000 align=${width}`, "align=1"];
  if (kind === "memoryLane") return ["0", `offset=8 align=1 ${16 / width - 1}`];
  if (kind === "lane") return ["0", String(width - 1)];
  if (kind === "shuffle") return ["0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 31"];
  if (kind === "local") return ["$v128"];
  if (kind === "constant") return constants[name]!;
  return [""];
}

const integers =
  "0 1 -1 63 64 -64 -65 127 128 8191 8192 -8192 -8193 2147483647 4294967295 -2147483648";
const floats = "0 -0 1 -1.5 0.1 1e10 3.4028234663852886e38 1e-45 1.17549435e-38 inf -inf nan -nan";
const constants: Readonly<Record<string, readonly string[]>> = {
  "i32.const": `${integers} 0x0 0xFF 0xffffffff -0x80000000 +7`.split(" "),
  "i64.const": `${integers} 0xffffffffffffffff -9223372036854775808 18446744073709551615`.split(
    " ",
  ),
  "f32.const": `${floats} nan:0x200001 -nan:0x1 .5e0`.split(" ").map((x) => x.replace(/^\./, "0.")),
  "f64.const":
    `${floats} nan:0x8000000000001 2.2250738585072014e-308 5e-324 1.7976931348623157e308`.split(
      " ",
    ),
  "v128.const": [
    "i32x4 0 -1 0x7fffffff 4294967295",
    "f32x4 0 -0.5 1e-3 nan",
    "f64x2 -inf 0.1",
    "i64x2 -1 0x8000000000000000",
    "i16x8 0 1 -1 32767 -32768 65535 0xff 8",
    "i8x16 0 1 2 3 -1 -128 127 255 8 9 10 11 12 13 14 15",
  ],
};

function functionOf(op: Instruction, index: number): string {
  const result = resultType(op);
  const head = `(func $f${index} (export "f${index}") (param $i32 i32) (param $i64 i64) (param $f32 f32)`;
  const operands = operandTypes(op).map((type) => sample[type]);
  const uses = immediates(op).map((immediate) => {
    const text = `(${[op.name, immediate, ...operands].filter((part) => part !== "").join(" ")})`;
    return result === undefined ? text : `(drop ${text})`;
  });
  return `${head} (param $f64 f64) (local $v128 v128)\n  ${uses.join("\n  ")})`;
}

export function everyInstruction(): string[] {
  return instructions.filter(({ kind }) => !structural.has(kind)).map(functionOf);
}
