/**
 * numpy's accuracy vectors (numpy/_core/tests/data: inputs and correctly rounded outputs as bits) over every function of
 * theirs that we have too, on the js target as compiled and on both variants of wasm, in f32 and f64.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as ir from "@kiln-ml/ir";
import { opRecord, type Tensor } from "@kiln-ml/ir";
import { compile } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fromC } from "../../compiler/src/targets/wasm/math/c-expression.ts";
import { doubleMath, vectorMath } from "../../compiler/src/targets/wasm/math/index.ts";
import { dataTest } from "../support/data.ts";
import { ulpsApart } from "../support/ulp.ts";
import { type Lanes, type Run, runAll, type Variant } from "./run-math.ts";
import "../support/setup.ts";

type Floats = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;
interface Vectors {
  readonly x: Floats;
  readonly wanted: Floats;
}

/** Their names of functions that we have, and ours. */
// biome-ignore format: one row
const named: Readonly<Record<string, string>> = { arccos: "acos", arccosh: "acosh", arcsin: "asin", arcsinh: "asinh", arctan: "atan", arctanh: "atanh", cos: "cos", cosh: "cosh", exp: "exp", exp2: "exp2", expm1: "expm1", log: "log", log1p: "log1p", log2: "log2", sin: "sin", sinh: "sinh", tan: "tan", tanh: "tanh" };
/** Functions that C text may call though no op is. */
const textOnly = ["cbrt", "log10"];

/** The rows of one width: `np.float32,0x3f800000,0x402df854,3`. */
function vectorsOf(folder: string, name: string, width: 32 | 64): Vectors {
  const path = join(folder, "np", `umath-validation-set-${name}.csv`);
  const rows = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`np.float${width},`))
    .map((line) => line.split(","));
  const [Bits, Values] =
    width === 32 ? [Uint32Array, Float32Array] : [BigUint64Array, Float64Array];
  const column = (k: number): Floats => {
    const words = rows.map((row) => row[k]!);
    const bits =
      Bits === Uint32Array ? Uint32Array.from(words, Number) : BigUint64Array.from(words, BigInt);
    return new Values(bits.buffer);
  };
  return { x: column(1), wanted: column(2) };
}

/** The worst distance, and where. Signs of zeros are not compared: their vectors do not hold them. */
function worstOf(name: string, { x, wanted }: Vectors, got: ArrayLike<number>) {
  let [ulps, at] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    const here = ulpsApart(got[i]!, wanted[i]!, x.BYTES_PER_ELEMENT === 4 ? "f32" : "f64");
    if (!(here <= ulps)) [ulps, at] = [here, i];
  }
  return { ulps, text: `${name}(${x[at]}) = ${got[at]}, not ${wanted[at]}: ${ulps} ulp` };
}

/** f32: the record's bound, as on every target. f64: the host's functions are within 2, which libraries differ by. */
const boundOf = (op: string, lanes: Lanes): number =>
  lanes === "f64" ? 2 : (opRecord(op).ulp ?? 0);

const ops: Readonly<Record<string, unknown>> = { ...ir };

for (const [lanes, width] of [
  ["f32x4", 32],
  ["f64", 64],
] as const) {
  dataTest(`numpy's vectors on js, f${width}`, "numpy-scipy-vectors", async (folder) => {
    const lines: string[] = [];
    for (const [theirs, op] of Object.entries(named)) {
      const vectors = vectorsOf(folder, theirs, width);
      const compiled = compile((x: Tensor) => (ops[op] as (x: Tensor) => Tensor)(x), {
        target: "js",
      });
      const y = await compiled({ data: vectors.x, shape: [vectors.x.length] });
      const { ulps, text } = worstOf(op, vectors, (await y.data()) as Floats);
      lines.push(`${op} ${ulps}`);
      assert.ok(ulps <= boundOf(op, lanes), text);
    }
    console.log(`  worst ulp against numpy (js, f${width}): ${lines.join(", ")}`);
  });

  for (const variant of ["plain", "relaxed"] satisfies Variant[])
    dataTest(`numpy's vectors on wasm, f${width}, ${variant}`, "numpy-scipy-vectors", (folder) => {
      const math = lanes === "f64" ? doubleMath : vectorMath;
      const cases = [...Object.entries(named), ...textOnly.map((name) => [name, name] as const)];
      const all = cases.map(([theirs, op]) => ({ op, vectors: vectorsOf(folder, theirs, width) }));
      const runs = all.map(
        ({ op, vectors }): Run => ({
          name: op,
          lanes,
          body: (x, bind) => math(op, x, bind) ?? fromC(`${op}(x)`, { x: x[0]! }, lanes, bind),
          inputs: [vectors.x],
        }),
      );
      const results = runAll(runs, variant);
      const lines: string[] = [];
      for (const { op, vectors } of all) {
        const { ulps, text } = worstOf(op, vectors, results.get(op)!);
        lines.push(`${op} ${ulps}`);
        assert.ok(ulps <= (textOnly.includes(op) ? 2 : boundOf(op, lanes)), text);
      }
      console.log(`  worst ulp against numpy (wasm, f${width}, ${variant}): ${lines.join(", ")}`);
    });
}

test.run();
