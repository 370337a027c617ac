/**
 * One tensor has one value, whatever is fused: of a program all intermediates are made outputs,
 * each also as f32, and every node must be what its op makes of the values that its operands have
 * as outputs. What a reader in the same kernel saw of a tensor is then what memory says of it.
 */
import {
  convert,
  type Dtype,
  evaluate,
  input,
  isFloat,
  makeNode,
  opRecord,
  roundTo,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import * as assert from "uvu/assert";
import type { CompileOptions } from "../../compiler/src/all.ts";
import { nodesOf, type Program } from "../../compiler/src/program.ts";
import { printProgram } from "./reference.ts";
import { type Dims, runProgram } from "./run.ts";
import { tolerances } from "./tolerance.ts";

type Feeds = ReadonlyMap<Tensor, Value>;

/** More would be more memory than a kernel may bind. */
const mostNodes = 24;

/** The nodes whose values are seen: all that compute, and those of leaves that have values here. */
function seenOf(program: Program, feeds: Feeds): Tensor[] {
  const computed = nodesOf(program).filter((t) => t.operands.length > 0 && !feeds.has(t));
  return computed.slice(-mostNodes);
}

/**
 * The program with all of its intermediates as outputs, and each once more as f32, or as f64 where
 * it is that.
 */
export function exposed(program: Program, feeds: Feeds): { program: Program; seen: Tensor[] } {
  const seen = seenOf(program, feeds);
  const wide = (t: Tensor): Tensor => convert(t, t.dtype === "f64" ? "f64" : "f32");
  const outputs = [...seen, ...seen.map(wide)].map((value, i) => ({ name: `y${i}`, value }));
  return { program: { inputs: program.inputs, outputs, updates: [] }, seen };
}

/**
 * Half a unit in the last place is the rounding, and what is rounded may lie on the other side of a
 * tie.
 */
const unit: Partial<Record<Dtype, number>> = { f16: 2 ** -10, bf16: 2 ** -7 };
const sums = new Set([
  "reduceSum",
  "reduceProd",
  "fold",
  "cumsum",
  "cumprod",
  "dotGeneral",
  "convolution",
]);

/** Whether all targets give the same bits for the same operands. */
const isExact = ({ op }: Tensor): boolean => {
  const { family, ulp } = opRecord(op);
  return family === "elementwise" ? ulp === 0 : !sums.has(op) && family !== "scatter";
};

/**
 * Whether a value is known to the bit: it was seen, or follows from such values by ops that all
 * targets compute alike. What an unseen sine was in the program nobody can tell.
 */
const isSettled = (t: Tensor, known: Feeds): boolean =>
  known.has(t) || (isExact(t) && t.operands.every((o) => isSettled(o, known)));

const same = (a: number, b: number): boolean => Object.is(a, b) || a === b;

/** What WGSL may flush to 0 (docs/numbers.md): subnormal numbers. */
const flushed = { js: 0, wasm: 0, native: 0, webgpu: 2 ** -126 };

/** How far each element may be from the reference's. */
function slackOf(node: Tensor, program: Program, feeds: Feeds, want: Value): Float64Array {
  if (isExact(node)) return new Float64Array(want.data.length);
  const [allowed] = tolerances(program, feeds, {}, [want]);
  // A sum of halves in f32 is off by what cancels in it.
  const most = Math.max(1, ...node.operands.flatMap((t) => [...feeds.get(t)!.data].map(Math.abs)));
  const cancelled = sums.has(node.op) && isFloat(node.dtype) ? most * most * 2 ** -20 : 0;
  return allowed!.map((a, k) =>
    Math.max(
      a,
      cancelled,
      (unit[node.dtype] ?? 0) * Math.abs(want.data[k]!) + 2 ** -24 * (unit[node.dtype] ? 1 : 0),
    ),
  );
}

/**
 * Throws unless every node is what its op makes of its operands' values, and has one value in its
 * own dtype and in f32.
 */
export async function hasOneValue(
  given: Program,
  feeds: Feeds,
  device: Device,
  options: CompileOptions,
  dims: Dims = {},
): Promise<void> {
  const { program, seen } = exposed(given, feeds);
  const { values } = await runProgram(program, feeds, dims, device, options);
  const known = new Map<Tensor, Value>(feeds);
  for (const [i, t] of seen.entries()) known.set(t, values[i]!);
  const where = (t: Tensor, i: number) => `%${t.id} ${t.op} ${t.dtype}, output ${i}`;
  for (const [i, t] of seen.entries()) {
    const [own, wide] = [values[i]!, values[seen.length + i]!];
    const off = own.data.findIndex((x, k) => !same(roundTo(wide.dtype, x), wide.data[k]!));
    assert.is(
      off,
      -1,
      `${where(t, i)}: is ${own.data[off]}, and ${wide.data[off]} as f32\n${printProgram(program)}`,
    );
  }
  for (const [i, t] of seen.entries()) {
    if (!t.operands.every((o) => isSettled(o, known))) continue;
    const operands = t.operands.map(
      (o) => known.get(o) ?? evaluate([o], { inputs: known, dims })[0]!,
    );
    const leaves = operands.map((v, k) => input(`x${k}`, v.dtype, [...v.shape]));
    const node = makeNode({
      op: t.op,
      operands: leaves,
      attrs: t.attrs,
      dtype: t.dtype,
      shape: values[i]!.shape,
    });
    const own = new Map(leaves.map((leaf, k) => [leaf, operands[k]!]));
    const want = evaluate([node], { inputs: own })[0]!;
    const one: Program = { inputs: leaves, outputs: [{ name: "y", value: node }], updates: [] };
    const slack = slackOf(node, one, own, want);
    const least = isFloat(t.dtype) ? flushed[device.target] : 0;
    const got = values[i]!.data;
    const off = want.data.findIndex(
      (x, k) => !(same(x, got[k]!) || Math.abs(x - got[k]!) <= Math.max(slack[k]!, least)),
    );
    assert.is(
      off,
      -1,
      `${where(t, i)}, element ${off}: is ${got[off]}, of its operands' values ${want.data[off]}: ${operands.map((v) => v.data[off])}\n${printProgram(program)}`,
    );
  }
}
