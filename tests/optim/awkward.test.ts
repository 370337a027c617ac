/**
 * Every optimizer on parameters of no element, of one, and of none but ones: finite, and of their
 * shape.
 */
import {
  evaluate,
  initialValueOf,
  param,
  type Tensor,
  trace,
  type Value,
  zeros,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { kinds } from "./kinds.ts";

const shapes = [[0], [0, 3], [3, 0], [1], [], [1, 1], [1, 3], [3, 1], [1, 1, 2]] as const;

for (const [name, [make]] of Object.entries(kinds))
  test(`${name} steps on parameters of no element and of one`, () => {
    const params = shapes.map((shape, i) => param(zeros(shape).add(i + 1), { name: `w${i}` }));
    const optimizer = make([{ params }], {});
    const { updates } = trace(() => {
      const losses = params.map((w) => w.square().sum());
      optimizer.step(losses.reduce((a, b) => a.add(b)));
    });
    for (const p of params) assert.ok(updates.has(p), `${p.attrs.name} moves`);
    const values = new Map<Tensor, Value>();
    const held = [...new Set([...params, ...updates.keys()])];
    for (const t of held) values.set(t, evaluate([initialValueOf(t)])[0]!);
    for (let step = 0; step < 3; step++) {
      const next = evaluate([...updates.values()], { inputs: values });
      for (const [i, t] of [...updates.keys()].entries()) values.set(t, next[i]!);
    }
    for (const [t, v] of values) {
      assert.equal([...v.shape], [...t.shape], `${t.attrs.name}`);
      assert.ok([...v.data].every(Number.isFinite), `${t.attrs.name}: ${v.data}`);
    }
    params.forEach((p, i) => {
      for (const x of values.get(p)!.data) assert.not.equal(x, i + 1);
    });
  });

test.run();
