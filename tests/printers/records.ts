/**
 * One kernel for each elementwise record and dtype: out[i] = op(x₀[i], x₁[i], …), with sampled operands and the
 * values the record gives.
 */

import * as ir from "@kiln-ml/ir";
import {
  addDim,
  allOps,
  type Dim,
  type Dtype,
  evaluateElement,
  isFloat,
  loopVar,
  mulDim,
  type OpRecord,
  roundTo,
  type Tensor,
} from "@kiln-ml/ir";
import type { Expr, Kernel, Param } from "../../compiler/src/kernel/kernel.ts";
import { call, kernel, load, loop, param, store } from "./kernels.ts";

export interface Case {
  readonly name: string;
  readonly record: OpRecord;
  readonly dtypes: readonly Dtype[];
  readonly result: Dtype;
}

// An op registers its record when its module is evaluated, and a bundler leaves out ops that nobody names.
if (Object.keys(ir).length === 0) throw new Error("no ops");

export const size = 1024;

/** The dtype of the result for these operand dtypes, or undefined if the record refuses them. */
function resultOf(record: OpRecord, dtypes: readonly Dtype[]): Dtype | undefined {
  const operands = dtypes.map((dtype) => ({ dtype, shape: [size] }) as unknown as Tensor);
  try {
    return record.infer(operands, {}).dtype;
  } catch {
    return undefined;
  }
}

/** Every elementwise op on each of `dtypes` that it takes; conversions between all pairs. */
export function casesOf(dtypes: readonly Dtype[]): Case[] {
  const cases: Case[] = [];
  for (const record of allOps()) {
    if (record.family !== "elementwise" || record.name === "bitcast") continue;
    for (const dtype of dtypes) {
      if (record.name === "convert") {
        // Conversion to bool is notEqual.
        for (const to of dtypes)
          if (to !== dtype && to !== "bool")
            cases.push({ name: `convert ${dtype} to ${to}`, record, dtypes: [dtype], result: to });
        continue;
      }
      const lists: Dtype[][] = [[dtype], [dtype, dtype], ["bool", dtype, dtype]];
      for (const operands of lists) {
        if (record.name === "select" && operands.length < 3) continue;
        const result = resultOf(record, operands);
        if (result)
          cases.push({ name: `${record.name} ${dtype}`, record, dtypes: operands, result });
      }
    }
  }
  if (cases.length < 100) throw new Error(`only ${cases.length} cases: records are missing`);
  return cases;
}

export function kernelOf(c: Case, width: 1 | 4 = 1): Kernel {
  const names = c.dtypes.map((_, i) => `x${i}`);
  const params: Param[] = [
    ...names.map((n, i) => param(n, size, "read", c.dtypes[i]!, width)),
    param("out", size, "write", c.result, width),
  ];
  const value = (i: Dim): Expr =>
    call(c.record.name, c.result, ...names.map((n, k) => load(n, i, c.dtypes[k]!)));
  if (width === 1) {
    const i = loopVar("i", size);
    return kernel(c.record.name, params, [loop(i, size, [store("out", i, value(i))], "local")], {
      workgroupSize: 32,
    });
  }
  const [i, v] = [loopVar("i", size / 4), loopVar("v", 4)];
  const at = addDim(mulDim(i, 4), v);
  const inner = loop(v, 4, [store("out", at, value(at))], "vector");
  return kernel(c.record.name, params, [loop(i, size / 4, [inner], "local")], {
    workgroupSize: 32,
  });
}

// biome-ignore format: by kind
const specials = [
  0, -0, 1, -1, Number.NaN, Infinity, -Infinity,
  0.5, 1.5, 2.5, -2.5, 3, -3, 1e-8, -1e-8, 100, -100,
  // Beyond the range of each integer dtype, and where functions of angles have few digits left.
  128, -129, 256, 2147483648, -2147483904, 4294967296, 1e9, -1e10, 1e22, 3.4028234663852886e38, -3.4028234663852886e38,
];
/** Those that are left of an operand are subnormal: a device may flush them. */
export const subnormals = [1e-40, -1e-40, 1.401298464324817e-45];

/** Limits, divisors and counts of shifts at which integers go wrong. */
const integers = [
  0, 1, -1, 2, -2, 3, 7, 8, 31, 32, 33, 127, -128, 255, 65537, 2147483647, -2147483648,
];

/** Operand k: samples of the record's domain, after the special values if asked for. */
export function operandsOf(c: Case, special: boolean): number[][] {
  const [low, high] = c.record.domain ?? [-10, 10];
  let seed = 7;
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  return c.dtypes.map((dtype, k) =>
    Array.from({ length: size }, (_, i) => {
      const x = low + (high - low) * random();
      if (dtype === "bool") return random() < 0.5 ? 1 : 0;
      const list = isFloat(dtype) ? specials : integers;
      const first = k === c.dtypes.length - 2 || c.dtypes.length === 1;
      const pair = first ? i % list.length : (i / list.length) | 0;
      const value = special && pair < list.length ? list[pair]! : x;
      if (isFloat(dtype)) return roundTo(dtype === "f64" ? "f32" : dtype, value);
      return roundTo(dtype, Math.round(value * (!special && c.record.name === "mul" ? 1e8 : 1)));
    }),
  );
}

export const wantedOf = (c: Case, operands: readonly number[][]): number[] =>
  Array.from({ length: size }, (_, i) =>
    evaluateElement(
      c.record,
      c.dtypes[0]!,
      c.result,
      operands.map((x) => x[i]!),
    ),
  );
