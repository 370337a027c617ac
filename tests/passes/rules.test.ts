/**
 * Every rule in text proves itself: both sides are evaluated by the reference on all combinations of awkward
 * values in every dtype that fits, and compared bit for bit. A fast rule must fail that somewhere, or it would
 * belong among the exact ones, and must be close on ordinary values.
 */
import {
  type Dtype,
  input,
  isFloat,
  KilnError,
  makeValue,
  maxOf,
  minOf,
  type Value,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { algebra } from "../../compiler/src/rules/algebra.ts";
import { fast } from "../../compiler/src/rules/fast.ts";
import { type Bindings, instantiate, type Rule } from "../../compiler/src/rules/match.ts";
import { variablesIn } from "../../compiler/src/rules/pattern.ts";
import { uniform } from "../../compiler/src/rules/uniform.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";

const dtypes: readonly Dtype[] = ["f32", "f64", "f16", "i32", "u32", "bool"];
const smallest = 2 ** -149;
// biome-ignore format: one kind a row
const awkward = [
  0, -0, 1, -1, 2, -2, 0.5, 3, -7.25, 0.1,
  Infinity, -Infinity, NaN,
  smallest, -smallest, 2 ** -126, 1e-40, 65504,
  3.4028234663852886e38, -3.4028234663852886e38, 1.0000001, 16777217,
];

type Samples = (dtype: Dtype, variables: number) => readonly number[];

/** Fewer for rules of many variables, as all combinations are tried. */
function samplesOf(dtype: Dtype, variables: number): readonly number[] {
  if (dtype === "bool") return [0, 1];
  if (isFloat(dtype)) return awkward.slice(0, variables > 2 ? 13 : awkward.length);
  return [0, 1, 2, -1, minOf(dtype), maxOf(dtype), 3, 7, 31, -9].slice(0, variables > 2 ? 6 : 10);
}

/** Every way of giving each variable one of its samples, as one long vector for each. */
function vectors(types: readonly Dtype[], samples: Samples): Value[] {
  const lists = types.map((d) => samples(d, types.length));
  const total = lists.reduce((n, list) => n * list.length, 1);
  let repeat = 1;
  return types.map((dtype, which) => {
    const list = lists[which]!;
    const every = repeat;
    repeat *= list.length;
    const at = (i: number) => list[Math.floor(i / every) % list.length]!;
    return makeValue(
      dtype,
      [total],
      Array.from({ length: total }, (_, i) => at(i)),
    );
  });
}

/** Operands and both sides of a rule for the given dtypes, or nothing if they do not fit it. */
function instance(rule: Rule, types: readonly Dtype[], size: number) {
  const names = [...variablesIn(rule.text!.lhs)];
  const bindings: Bindings = new Map(
    names.map((name, i) => [name, input(name, types[i]!, [size])]),
  );
  const leaves = [...bindings.values()];
  try {
    const lhs = instantiate(rule.text!.lhs, bindings, uniform(0, types[0]!, [size]));
    const rhs = rule.apply(lhs);
    return rhs && { leaves, lhs, rhs };
  } catch (e) {
    if (e instanceof KilnError) return undefined;
    throw e;
  }
}

/** The values of both sides at sampled operands. */
function sides(rule: Rule, types: readonly Dtype[], samples: Samples): Value[] | undefined {
  if (!instance(rule, types, 1)) return undefined;
  const values = vectors(types, samples);
  const { leaves, lhs, rhs } = instance(rule, types, values[0]!.data.length)!;
  const feeds = new Map(leaves.map((leaf, i) => [leaf, values[i]!]));
  const outputs = [lhs, rhs].map((value, i) => ({ name: `y${i}`, value }));
  return evaluateProgram({ inputs: leaves, outputs, updates: [] }, feeds);
}

const assignments = (count: number): Dtype[][] =>
  count === 0 ? [[]] : assignments(count - 1).flatMap((head) => dtypes.map((d) => [...head, d]));

/** The results for every assignment of dtypes that fits. */
function trials(rule: Rule, samples: Samples = samplesOf): { types: Dtype[]; values: Value[] }[] {
  return assignments(variablesIn(rule.text!.lhs).size).flatMap((types) => {
    const values = sides(rule, types, samples);
    return values ? [{ types, values }] : [];
  });
}

for (const rule of algebra)
  test(`${rule.name} keeps every bit`, () => {
    const all = trials(rule);
    assert.ok(all.length > 0, "no dtypes fit");
    for (const { types, values } of all)
      assert.ok(sameValue(values[0]!, values[1]!), `differs on ${types}`);
  });

const ordinary = (dtype: Dtype): readonly number[] =>
  isFloat(dtype) ? [0.5, 0.7, 1, 1.9, 2.5] : [1];
const epsilon: Partial<Record<Dtype, number>> = { f64: 1e-14, f32: 1e-5, f16: 4e-2 };

for (const rule of fast.filter((r) => r.text))
  test(`${rule.name} is close, and is not exact`, () => {
    for (const { types, values } of trials(rule, ordinary))
      for (const [i, x] of values[0]!.data.entries()) {
        const error = Math.abs(x - values[1]!.data[i]!);
        assert.ok(error <= epsilon[types[0]!]! * (1 + Math.abs(x)), `${types}: off by ${error}`);
      }
    assert.ok(trials(rule).some(({ values }) => !sameValue(values[0]!, values[1]!)));
  });

test("a square of 13 bits, which lies between two floats, rounds as pow does", () => {
  const x = Float64Array.from({ length: 4096 }, (_, i) => 4097 + 2 * i);
  assert.ok(x.every((v) => Object.is(v ** 2, v * v)));
});

test.run();
