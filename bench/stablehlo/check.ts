/**
 * Writes a folder that a machine with jaxlib checks without Kiln: for each program its text, its arguments and what the
 * reference makes of them, and `run.py`, which runs them.
 *
 *   node --conditions=@kiln-ml/source --import tsx bench/stablehlo/check.ts FOLDER [NAME…]
 *   python FOLDER/run.py
 */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  evaluate,
  evaluateDim,
  initialValueOf,
  isFloat,
  makeValue,
  type Tensor,
  toHost,
  type Value,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { exportStableHlo } from "@kiln-ml/stablehlo";
import { type Program, rootsOf } from "../../compiler/src/program.ts";
import { type Family, families } from "./families.ts";
import { networks } from "./networks.ts";

/** Steps of a network, so that states are fed back. */
const trainingSteps = 3;

interface Check extends Family {
  readonly steps: number;
}

/** Noise, or classes for integers. */
function sample(t: Tensor, { numbers = {}, dims = {} }: Family, seed: number): Value {
  const shape = t.shape.map((d) => evaluateDim(d, dims));
  const given = numbers[String(t.attrs.name)];
  const size = shape.reduce((a, b) => a * b, 1);
  const noise = (i: number) => Math.sin(12.9898 * (i + 1) + 78.233 * seed);
  const number = (i: number) => (isFloat(t.dtype) ? noise(i) : Math.floor(2 + 2 * noise(i)));
  return makeValue(t.dtype, shape, given ?? Array.from({ length: size }, (_, i) => number(i)));
}

const feedsOf = (check: Check, leaves: readonly Tensor[]): Map<Tensor, Value> =>
  new Map(
    leaves.map((t, i) => {
      if (t.op === "input") return [t, sample(t, check, i)];
      return [t, evaluate([t.op === "param" ? initialValueOf(t) : t])[0]!];
    }),
  );

/** The results of the last step. */
function expected(
  { program, dims = {}, steps }: Check,
  first: ReadonlyMap<Tensor, Value>,
): Value[] {
  const feeds = new Map(first);
  let results: Value[] = [];
  for (let i = 0; i < steps; i++) {
    results = evaluate(rootsOf(program), { inputs: feeds, dims });
    for (const [k, [param]] of program.updates.entries())
      feeds.set(param, results[program.outputs.length + k]!);
  }
  return results;
}

function write(folder: string, name: string, check: Check): number {
  const { dims = {}, program, steps } = check;
  const { text, args, results } = exportStableHlo(program, {
    dims,
    name: name.replaceAll("-", "_"),
  });
  const leaves = args.map((a) => a.leaf);
  const feeds = feedsOf(check, leaves);
  const want = expected(check, feeds);
  const bytes: Uint8Array[] = [];
  let offset = 0;
  const stored = ({ dtype, shape, data }: Value, more: object) => {
    const array = toHost(dtype, data);
    bytes.push(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    const entry = { ...more, dtype, shape, offset };
    offset += array.byteLength;
    return entry;
  };
  const about = {
    steps,
    args: args.map(({ name, leaf, alias }) => stored(feeds.get(leaf)!, { name, alias })),
    results: results.map(({ name }, i) => stored(want[i]!, { name })),
  };
  writeFileSync(join(folder, `${name}.mlir`), text);
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(about));
  writeFileSync(join(folder, `${name}.bin`), Buffer.concat(bytes));
  return text.length + offset;
}

const network = (program: Program): Check => ({ program, steps: trainingSteps });

/** All programs by name. */
export const checks: Readonly<Record<string, () => Check>> = {
  ...Object.fromEntries(
    Object.entries(networks).map(([name, build]) => [name, () => network(build())]),
  ),
  ...Object.fromEntries(
    Object.entries(families).map(([name, build]) => [name, () => ({ ...build(), steps: 1 })]),
  ),
};

/** Writes the named programs, all by default, and `run.py`; gives the number of bytes. */
export function writeChecks(
  folder: string,
  names: readonly string[] = Object.keys(checks),
): number {
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(import.meta.dirname, "run.py"), join(folder, "run.py"));
  let bytes = 0;
  for (const name of names) {
    nn.seed(1);
    bytes += write(folder, name, checks[name]!());
  }
  return bytes;
}

if (process.argv[1] === import.meta.filename) {
  const [folder, ...names] = process.argv.slice(2);
  if (folder === undefined) throw new Error("check: give the folder to write to");
  const list = names.length ? names : Object.keys(checks);
  const bytes = writeChecks(folder, list);
  console.log(`${list.length} programs, ${(bytes / 2 ** 20).toFixed(1)} MiB, in ${folder}`);
  console.log(`run them where jaxlib is: python ${join(folder, "run.py")}`);
}
