/**
 * Fixtures and how tests use them: reading the JSON, comparing values within a tolerance, and a session that runs a
 * traced step again and again with the reference evaluator, keeping the parameters between runs.
 */
import { readFileSync } from "node:fs";
import {
  type Dtype,
  evaluate,
  grad,
  initialValueOf,
  input,
  makeValue,
  type Tensor,
  tensor,
  trace,
  type Value,
} from "@kiln-ml/ir";
import type { Module } from "@kiln-ml/nn";

export interface Packed {
  readonly shape: readonly number[];
  readonly data: readonly (number | string)[];
}
export type Named = Readonly<Record<string, Packed>>;

/** The cases of `tests/fixtures/<name>.json`; the caller knows their type. */
export const fixture = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), "utf8")) as T;

const numbers = (p: Packed): number[] => p.data.map(Number);

export const asValue = (p: Packed, dtype: Dtype = "f32"): Value =>
  makeValue(dtype, p.shape, numbers(p));
export const tensorOf = (p: Packed, dtype: Dtype = "f32"): Tensor =>
  tensor(numbers(p), { shape: p.shape, dtype });

/** Throws unless shapes are equal and every element is within `tolerance` of the largest one expected. */
export function close(name: string, got: Value, expected: Packed, tolerance = 1e-6): void {
  if (got.shape.join() !== expected.shape.join())
    throw new Error(`${name}: shape [${got.shape}], expected [${expected.shape}]`);
  const wanted = numbers(expected);
  const finite = wanted.filter(Number.isFinite).map(Math.abs);
  const allowed = tolerance * Math.max(1e-30, ...finite);
  for (const [i, x] of wanted.entries()) {
    const y = got.data[i]!;
    if (Object.is(x, y) || x === y || Math.abs(x - y) <= allowed) continue;
    throw new Error(`${name}: element ${i} is ${y}, expected ${x}, allowed ${allowed}`);
  }
}

/** PyTorch's name of a parameter in ours. */
export const ourName = (name: string): string =>
  name.replace("running_mean", "runningMean").replace("running_var", "runningVar");

/** Values of parameters between runs. */
export class Session {
  readonly values = new Map<Tensor, Value>();

  load(module: Module, state: Named): this {
    const own = module.state();
    for (const [name, packed] of Object.entries(state)) {
      const target = own.get(ourName(name));
      if (!target)
        throw new Error(`no parameter ${ourName(name)} in ${[...own.keys()].join(", ")}`);
      this.values.set(target, asValue(packed));
    }
    return this;
  }

  valueOf(p: Tensor): Value {
    return this.values.get(p) ?? evaluate([initialValueOf(p)])[0]!;
  }

  /** Evaluates `roots`, then moves the parameters to their updates. */
  run(
    roots: readonly Tensor[],
    updates: ReadonlyMap<Tensor, Tensor> = new Map(),
    inputs: ReadonlyMap<Tensor, Value> = new Map(),
  ): Value[] {
    const targets = [...updates.keys()];
    const all = evaluate([...roots, ...updates.values()], {
      inputs: new Map([...this.values, ...inputs]),
    });
    for (const [i, p] of targets.entries()) this.values.set(p, all[roots.length + i]!);
    return all.slice(0, roots.length);
  }

  check(module: Module, expected: Named, tolerance?: number): void {
    const own = module.state();
    for (const [name, packed] of Object.entries(expected))
      close(name, this.valueOf(own.get(ourName(name))!), packed, tolerance);
  }
}

export interface LayerCase {
  readonly state: Named;
  readonly x: Packed;
  readonly y: Packed;
  readonly weights: Packed;
  readonly grads: Named;
  readonly dx?: Packed;
}

/** The result of a layer and the gradients of Σ y·weights, against PyTorch's. */
export function checkLayer(
  module: Module & { forward(x: Tensor): Tensor },
  c: LayerCase,
  session = new Session().load(module, c.state),
  tolerance = 1e-6,
): void {
  const dtype: Dtype = c.dx ? "f32" : "i32";
  const x = input("x", dtype, c.x.shape);
  const names = Object.keys(c.grads);
  const own = module.state();
  const { value, updates } = trace(() => {
    const y = module.forward(x);
    const sources = [...(c.dx ? [x] : []), ...names.map((n) => own.get(ourName(n))!)];
    const loss = y.mul(tensorOf(c.weights)).sum();
    return [y, ...(sources.length ? grad(loss, sources) : [])];
  });
  const got = session.run(value, updates, new Map([[x, asValue(c.x, dtype)]]));
  close("y", got.shift()!, c.y, tolerance);
  if (c.dx) close("dx", got.shift()!, c.dx, 5 * tolerance);
  for (const name of names) close(`d ${name}`, got.shift()!, c.grads[name]!, 5 * tolerance);
}
