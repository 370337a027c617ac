/**
 * Tensor functions against plain JavaScript: values and gradients in f64 by the reference, and in f32 on js and wasm, of static extents
 * and of symbolic ones. Gradients of the oracle are central differences.
 */
import {
  type Dtype,
  dim,
  evaluate,
  grad,
  input,
  makeValue,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import * as assert from "uvu/assert";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { runProgram } from "../support/run.ts";
import { variants, wasmDevice } from "../support/wasm.ts";

/** An array of the oracle. */
export interface Nd {
  readonly shape: readonly number[];
  readonly data: readonly number[];
  /** Floats are f64 or f32 as the check goes, unless this says another. */
  readonly dtype?: Dtype;
}

export const sizeOfNd = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

export const nd = (shape: readonly number[], data: readonly number[], dtype?: Dtype): Nd => ({
  shape,
  data,
  ...(dtype ? { dtype } : {}),
});

/** Numbers in (−2, 2) that are the same in every run and keep off each other. */
export function sample(shape: readonly number[], seed = 1): Nd {
  const n = sizeOfNd(shape);
  const data = Array.from({ length: n }, (_, i) => {
    const place = (i * 7 + seed * 3 + 1) % (n + (n % 7 === 0 ? 1 : 0) || 1);
    return (4 * (place + 0.37)) / (n + 1) - 2 + 0.01 * Math.sin(i + seed);
  });
  return { shape, data };
}

/** All coordinates of a shape, row-major. */
export function coordinatesOf(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>(
    (all, d) => all.flatMap((c) => Array.from({ length: d }, (_, i) => [...c, i])),
    [[]],
  );
}

/** An array by a formula of its coordinates. */
export const build = (shape: readonly number[], of: (...at: number[]) => number): Nd => ({
  shape,
  data: coordinatesOf(shape).map((at) => of(...at)),
});

export const at = (x: Nd, ...coords: number[]): number =>
  x.data[coords.reduce((flat, c, i) => flat * x.shape[i]! + c, 0)]!;

export interface Check {
  readonly of: (...xs: Tensor[]) => Tensor | readonly Tensor[];
  readonly oracle: (...xs: Nd[]) => Nd | readonly Nd[];
  readonly inputs: readonly Nd[];
  /** The same axes with names, by operand; extents come from the inputs. */
  readonly symbols?: readonly (readonly (string | number)[])[];
  /** Which operands have a gradient, of the first result. */
  readonly gradients?: readonly number[];
  readonly tolerance?: number;
}

const list = <T>(x: T | readonly T[]): readonly T[] =>
  Array.isArray(x) ? (x as readonly T[]) : [x as T];

function near(what: string, got: Value, want: Nd, tolerance: number): void {
  assert.equal([...got.shape], [...want.shape], `${what}: shape`);
  for (const [i, w] of want.data.entries()) {
    const g = Number(got.data[i]);
    const fits =
      Object.is(g, w) || g === w || Math.abs(g - w) <= tolerance * Math.max(1, Math.abs(w));
    assert.ok(
      fits || (Number.isNaN(g) && Number.isNaN(w)),
      `${what}: element ${i} is ${g}, want ${w}`,
    );
  }
}

/** ∂ Σ weight·y₀ / ∂ x_k by central differences. */
function differences({ oracle, inputs }: Check, k: number, weight: readonly number[]): Nd {
  const h = 1e-5;
  const scoreAt = (i: number, by: number): number => {
    const moved = inputs.map((x, j) =>
      j === k ? { ...x, data: x.data.map((v, m) => (m === i ? v + by : v)) } : x,
    );
    return list(oracle(...moved))[0]!.data.reduce((s, v, m) => s + v * weight[m]!, 0);
  };
  const { shape, data } = inputs[k]!;
  return { shape, data: data.map((_, i) => (scoreAt(i, h) - scoreAt(i, -h)) / (2 * h)) };
}

const cpu = guardedCpuDevice();

async function checkOne(name: string, check: Check, symbolic: boolean): Promise<void> {
  const { of, oracle, inputs, symbols, gradients = [], tolerance = 1 } = check;
  const want = list(oracle(...inputs));
  const weight = want[0]!.data.map((_, i) => 0.5 + ((i * 5) % 7) / 7);
  const slopes = gradients.map((k) => differences(check, k, weight));
  const dims: Record<string, number> = {};
  if (symbolic)
    for (const [k, shape] of symbols!.entries())
      for (const [i, d] of shape.entries())
        if (typeof d === "string") dims[d] = inputs[k]!.shape[i]!;
  const extentOf = (d: string | number) => (typeof d === "string" ? dim(d, { min: 0 }) : d);
  for (const float of ["f64", "f32"] as const) {
    const xs = inputs.map((x, k) =>
      input(`x${k}`, x.dtype ?? float, symbolic ? symbols![k]!.map(extentOf) : x.shape),
    );
    const ys = list(of(...xs));
    const scores = input("weight", ys[0]!.dtype, ys[0]!.shape);
    const gs = gradients.length
      ? (grad(
          ys[0]!.mul(scores).sum(),
          gradients.map((k) => xs[k]!),
        ) as Tensor[])
      : [];
    const feeds = new Map(
      xs.map((t, k) => [t, makeValue(t.dtype, inputs[k]!.shape, [...inputs[k]!.data])] as const),
    );
    if (gs.length) feeds.set(scores, makeValue(ys[0]!.dtype, want[0]!.shape, weight));
    const roots = [...ys, ...gs];
    const right = [...want, ...slopes];
    const judge = (where: string, values: readonly Value[], value: number, slope: number) => {
      for (const [i, v] of values.entries())
        near(`${name}, ${where}, ${i < ys.length ? "result" : "gradient"} ${i}`, v, right[i]!, i < ys.length ? value : slope); // biome-ignore format: one line
    };
    const how = symbolic ? "symbolic" : "static";
    if (float === "f64") {
      judge(
        `f64 ${how}`,
        evaluate(roots, { inputs: feeds, dims }),
        1e-9 * tolerance,
        1e-6 * tolerance,
      );
      continue;
    }
    const program = {
      inputs: [...feeds.keys()],
      outputs: roots.map((value, i) => ({ name: `y${i}`, value })),
      updates: [],
    };
    const js = await runProgram(program, feeds, dims, cpu, { target: "js" });
    judge(`js ${how}`, js.values, 2e-5 * tolerance, 1e-4 * tolerance);
    const device = wasmDevice(variants[0]!);
    const wasm = await runProgram(program, feeds, dims, device, { target: "wasm" });
    judge(`wasm ${how}`, wasm.values, 2e-5 * tolerance, 1e-4 * tolerance);
  }
}

/** Throws unless values and gradients are those of the oracle. */
export async function agrees(name: string, check: Check): Promise<void> {
  await checkOne(name, check, false);
  if (check.symbols) await checkOne(name, check, true);
}
