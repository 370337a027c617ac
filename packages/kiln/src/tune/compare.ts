/**
 * Compares the results of two ways to compute the same where they lie, on the device: all elements, by a small program. Reading
 * them back would take longer than all else, and leave the device at rest. What seems to differ is read and looked at.
 */
import { type Artifact, evaluateExtent, type TensorSpec } from "@kiln-ml/artifact";
import { compileProgram, type Program } from "@kiln-ml/compiler";
import {
  type Dtype,
  fromHost,
  full,
  type HostArray,
  input,
  isFloat,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";
import { type Device, type DeviceArray, type Executable, load } from "@kiln-ml/runtime/loader";

type Dims = Readonly<Record<string, number>>;

const tolerances: Readonly<Partial<Record<Dtype, number>>> = { f32: 1e-3, f64: 1e-9 };
/** Of halves. */
const coarse = 2e-2;
const toleranceOf = (dtype: Dtype): number => (isFloat(dtype) ? (tolerances[dtype] ?? coarse) : 0);

/** No result of sums of few positive numbers; finite, since a shader may take it that every number is. */
function poisonOf(dtype: Dtype, i: number): number | boolean {
  if (dtype === "bool") return true;
  return dtype === "f16" ? -60_000 + 32 * i : isFloat(dtype) ? -1e30 * (1 + i) : 99 + i;
}

export class Comparison {
  readonly #outputs: readonly TensorSpec[];
  readonly #poison: Executable;
  readonly #agreements: Executable;
  readonly #sizes: readonly number[];

  private constructor(
    outputs: readonly TensorSpec[],
    sizes: readonly number[],
    exes: Executable[],
  ) {
    this.#outputs = outputs;
    this.#sizes = sizes;
    [this.#poison, this.#agreements] = exes as [Executable, Executable];
  }

  /** For results of an artifact and of others with the same signature. */
  static async open(device: Device, artifact: Artifact, dims: Dims): Promise<Comparison> {
    const { outputs } = artifact.signature;
    const shapes = outputs.map(({ shape }) => shape.map((e) => evaluateExtent(e, dims)));
    const programs = [poisonProgram(outputs, shapes), agreementProgram(outputs, shapes)];
    const { target, limits, features } = artifact;
    const artifacts = programs.map(
      (program) => compileProgram(program, { target, limits, features }).artifact,
    );
    const sizes = shapes.map((shape) => shape.reduce((a, b) => a * b, 1));
    return new Comparison(outputs, sizes, await loadAll(artifacts, device));
  }

  /** The results of a run into memory that held something else before. */
  async run(exe: Executable, inputs: readonly DeviceArray[]): Promise<DeviceArray[]> {
    for (const array of await this.#poison.run([])) array.dispose();
    return exe.run(inputs);
  }

  /** Where results are not those expected, beyond what another order of sums explains; undefined where they are. */
  async difference(
    expected: readonly DeviceArray[],
    got: readonly DeviceArray[],
  ): Promise<string | undefined> {
    const counts = await this.#agreements.run([...expected, ...got]);
    const agreeing = await Promise.all(counts.map((c) => c.item())).finally(() => {
      for (const c of counts) c.dispose();
    });
    for (const [i, spec] of this.#outputs.entries()) {
      if (agreeing[i] === this.#sizes[i]) continue;
      const [want, have] = await Promise.all([valuesOf(expected[i]!), valuesOf(got[i]!)]);
      const found = firstDifference(spec, want, have);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  dispose(): void {
    this.#poison.dispose();
    this.#agreements.dispose();
  }
}

/** All of them, or none. */
async function loadAll(artifacts: readonly Artifact[], device: Device): Promise<Executable[]> {
  const loading = artifacts.map((artifact) => load(artifact, device, { states: [] }));
  try {
    return await Promise.all(loading);
  } catch (error) {
    for (const result of await Promise.allSettled(loading))
      if (result.status === "fulfilled") result.value.dispose();
    throw error;
  }
}

type Shapes = readonly (readonly number[])[];

const outputsOf = (values: readonly Tensor[]): Program["outputs"] =>
  values.map((value, i) => ({ name: `y${i}`, value }));

/** As much memory as the results take, which a run is given next. */
const poisonProgram = (outputs: readonly TensorSpec[], shapes: Shapes): Program => ({
  inputs: [],
  // Those that are equal would be one.
  outputs: outputsOf(outputs.map((o, i) => full(shapes[i]!, poisonOf(o.dtype, i), o.dtype))),
  updates: [],
});

/** How many elements agree, of each pair of results. Counts what is right, so that a NaN does not. */
function agreementProgram(outputs: readonly TensorSpec[], shapes: Shapes): Program {
  const [xs, ys] = ["x", "y"].map((name) =>
    outputs.map(({ dtype }, i) => input(`${name}${i}`, dtype, shapes[i]!)),
  ) as [Tensor[], Tensor[]];
  const counts = xs.map((x, i) => agreement(x, ys[i]!).convert("i32").sum());
  return { inputs: [...xs, ...ys], outputs: outputsOf(counts), updates: [] };
}

function agreement(x: Tensor, y: Tensor): Tensor {
  const tolerance = toleranceOf(x.dtype);
  if (tolerance === 0 || sizeOf(x.shape) === 0) return x.equal(y);
  const [a, b] = x.dtype === "f64" ? [x, y] : [x.convert("f32"), y.convert("f32")];
  const scale = a!.mul(a!).mean().sqrt();
  const close = a!.sub(b!).abs().lessEqual(a!.abs().add(scale).mul(tolerance));
  // Squares may be too large.
  return close.and(scale.less(1e30));
}

/** Floats as numbers, whatever their width in memory. */
async function valuesOf(array: DeviceArray): Promise<ArrayLike<number>> {
  const values = (await array.data()) as HostArray;
  const { dtype } = array;
  return dtype === "f16" || dtype === "bf16" ? fromHost(dtype, values) : values;
}

function firstDifference(
  { name, dtype }: TensorSpec,
  want: ArrayLike<number>,
  have: ArrayLike<number>,
): string | undefined {
  const tolerance = toleranceOf(dtype);
  const scale = tolerance > 0 ? rootMeanSquare(want) : 0;
  for (let at = 0; at < want.length; at++) {
    const [x, y] = [want[at]!, have[at]!];
    if (x === y || Math.abs(x - y) <= tolerance * (Math.abs(x) + scale)) continue;
    if (!Object.is(x, y)) return `its ${name}[${at}] is ${y}, not ${x}`;
  }
  return undefined;
}

function rootMeanSquare(values: ArrayLike<number>): number {
  let [sum, count] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    if (!Number.isFinite(x)) continue;
    sum += x * x;
    count++;
  }
  return Math.sqrt(sum / (count || 1));
}
