/** The law of this folder: text, read back and evaluated, has the values of the reference. */
import { evaluate, isFloat, type Tensor, type Value } from "@kiln-ml/ir";
import {
  type ExportedProgram,
  exportStableHlo,
  parseStableHlo,
  type StableHloOptions,
} from "@kiln-ml/stablehlo";
import * as assert from "uvu/assert";
import { Evaluator } from "./evaluate.ts";

type Dims = Readonly<Record<string, number>>;

/** The results of the program by its text. Throws where the text leaves a value open. */
export function byText(
  program: ExportedProgram,
  feeds: ReadonlyMap<Tensor, Value>,
  dims: Dims = {},
  more: StableHloOptions = {},
): Value[] {
  const { text, args } = exportStableHlo(program, { dims, ...more });
  const values = args.map(({ leaf }) => feeds.get(leaf) ?? evaluate([leaf])[0]!);
  try {
    return new Evaluator(parseStableHlo(text)).call("main", values);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${text.slice(0, 4000)}`);
  }
}

/** How far one element may be off, in units of the dtype: the last digits of functions, and sums in another order. */
const relative: Record<string, number> = {
  f64: 2 ** -44,
  f32: 2 ** -20,
  f16: 2 ** -9,
  bf16: 2 ** -6,
};

export function near(dtype: Value["dtype"], got: number, want: number, scale = 0): boolean {
  if (Object.is(got, want) || got === want) return true;
  if (!isFloat(dtype)) return false;
  const size = Math.max(Math.abs(want), scale, dtype === "f64" ? 2 ** -60 : 2 ** -24);
  return Math.abs(got - want) <= relative[dtype]! * size;
}

/** Throws unless all values agree; `scale` is the size of the terms of sums. */
export function agree(
  got: readonly Value[],
  want: readonly Value[],
  about: () => string,
  scale = 0,
): void {
  assert.is(got.length, want.length);
  for (const [k, w] of want.entries()) {
    const g = got[k]!;
    assert.equal([g.dtype, g.shape], [w.dtype, w.shape], about());
    const at = w.data.findIndex((x, i) => !near(w.dtype, g.data[i]!, x, scale));
    if (at >= 0)
      throw new Error(
        `result ${k}, element ${at}: text ${g.data[at]}, want ${w.data[at]}\n${about()}`,
      );
  }
}
