/**
 * The signature of a program: its symbols with their bounds, and the names, dtypes and shapes of
 * inputs, outputs and states.
 */
import type { Signature, TensorSpec } from "@kiln-ml/artifact";
import {
  collectSymbols,
  type DimSymbol,
  GraphError,
  linearIn,
  printDim,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";
import { boundsIn, tellingOf } from "./dim-bounds.ts";
import { toExtent } from "./kernel/extent.ts";
import { hasRegions } from "./passes/in-regions.ts";
import { nodesOf, type Program } from "./program.ts";
import { requirementsOf } from "./requirements.ts";

/** The symbols in the shapes of a program, those of its regions included. */
function symbolsOf(program: Program): Map<string, DimSymbol> {
  const symbols = new Map<string, DimSymbol>();
  const collect = (nodes: readonly Tensor[]) => {
    for (const t of nodes) {
      for (const d of t.shape) collectSymbols(d, symbols);
      for (const { shape } of t.results ?? []) for (const d of shape) collectSymbols(d, symbols);
      for (const { params, results } of t.regions)
        collect([...params, ...topologicalOrder(results)]);
    }
  };
  collect([...program.inputs, ...nodesOf(program)]);
  return symbols;
}

export const dimNames = (program: Program): ReadonlySet<string> =>
  hasRegions(program) ? new Set(symbolsOf(program).keys()) : new Set();

export function signatureOf(program: Program, states: readonly Tensor[]): Signature {
  const symbols = symbolsOf(program);
  const requirements = requirementsOf(program);
  const bounds = boundsIn(requirements, symbols);
  const telling = tellingOf(requirements, symbols, bounds).map(({ value, text }) => ({
    value: toExtent(value),
    text,
  }));
  const told = new Set(program.inputs.flatMap((t) => t.shape.map((d) => linearIn(d)?.symbol.name)));
  for (const name of symbols.keys())
    if (!told.has(name))
      throw new GraphError(
        `compile: symbol ${name} is no dim of an input, so that a run cannot know its value\n  give an input an axis of that symbol, or write a number`,
      );
  const spec = (t: Tensor, name: string): TensorSpec => ({
    name,
    dtype: t.dtype,
    shape: t.shape.map(toExtent),
  });
  const written = new Set(program.updates.map(([param]) => param));
  const names = new Set<string>();
  const unique = (wanted: string): string => {
    let name = wanted;
    for (let i = 2; names.has(name); i++) name = `${wanted}.${i}`;
    names.add(name);
    return name;
  };
  return {
    dims: [...bounds].map(([name, { min, max }]) => ({
      name,
      min,
      max: Number.isFinite(max) ? max : null,
    })),
    ...(telling.length ? { requirements: telling } : {}),
    inputs: program.inputs.map((t) => spec(t, String(t.attrs.name))),
    outputs: program.outputs.map((o) => spec(o.value, o.name)),
    states: states.map((t) => ({
      ...spec(t, unique(String(t.attrs.name ?? "data"))),
      shape: t.shape.map((d) => {
        if (typeof d !== "number") throw new GraphError(`compile: state has extent ${printDim(d)}`);
        return d;
      }),
      trainable: t.attrs.trainable === true,
      written: written.has(t),
    })),
  };
}
