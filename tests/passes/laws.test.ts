/**
 * What holds for every pass on every program: the meaning is kept bit for bit, the result verifies, a second
 * run changes nothing, and the argument is left alone. And what the passes are for: every rule fires somewhere.
 */
import { grad, sum } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Pass } from "../../compiler/src/pass.ts";
import { cse } from "../../compiler/src/passes/cse.ts";
import { dce } from "../../compiler/src/passes/dce.ts";
import { fold } from "../../compiler/src/passes/fold.ts";
import { inline } from "../../compiler/src/passes/inline.ts";
import { orient } from "../../compiler/src/passes/orient.ts";
import { simplify, simplifyFast } from "../../compiler/src/passes/simplify.ts";
import { nodesOf, rootsOf, sameProgram } from "../../compiler/src/program.ts";
import { type RandomProgram, randomProgram, sampleDims } from "../support/graphs.ts";
import { evaluateProgram, printProgram, sameValue, verifyProgram } from "../support/reference.ts";
import { runs } from "../support/setup.ts";

function keepsMeaning(pass: Pass, { program, feeds }: RandomProgram): void {
  const result = pass.run(program);
  verifyProgram(result);
  // A parameter without an update keeps its value.
  const updates = new Map(result.updates);
  const live = {
    ...result,
    updates: program.updates.map(([p]) => [p, updates.get(p) ?? p] as const),
  };
  for (const dims of sampleDims) {
    const before = evaluateProgram(program, feeds(dims), dims);
    const after = evaluateProgram(live, feeds(dims), dims);
    for (const [i, value] of before.entries())
      assert.ok(sameValue(value, after[i]!), `result ${i} differs after\n${printProgram(result)}`);
  }
}

for (const pass of [simplify(), fold, cse, dce, inline, orient]) {
  test(`${pass.name} keeps the meaning bit for bit`, () => {
    fc.assert(
      fc.property(randomProgram({ symbolic: true }), (p) => keepsMeaning(pass, p)),
      { numRuns: runs(150) },
    );
  });

  test(`${pass.name} leaves its own result and its argument alone`, () => {
    fc.assert(
      fc.property(randomProgram({ symbolic: true }), ({ program }) => {
        const roots = rootsOf(program);
        const once = pass.run(program);
        assert.ok(rootsOf(program).every((t, i) => t === roots[i]));
        assert.ok(sameProgram(pass.run(once), once), printProgram(once));
      }),
      { numRuns: runs(150) },
    );
  });
}

/** Steps whose ops all have a gradient. */
const smooth =
  "binary reshape transpose broadcast slice pad concat reverse matmul pool softmax normalize gather convolution select".split(
    " ",
  );

test("the passes in a row keep gradients bit for bit", () => {
  const all = [inline, simplify(), fold, simplify(), cse, orient, dce];
  const chain: Pass = { name: "chain", run: (p) => all.reduce((q, pass) => pass.run(q), p) };
  const graphs = randomProgram({ symbolic: true, dtypes: ["f32"], ops: smooth });
  fc.assert(
    fc.property(graphs, (random) => {
      const xs = random.leaves.filter((t) => t.dtype === "f32");
      const y = sum(random.program.outputs[0]!.value);
      const outputs = grad(y, xs, { unused: "zeros" }).map((value, i) => ({
        name: `g${i}`,
        value,
      }));
      keepsMeaning(chain, { ...random, program: { ...random.program, outputs, updates: [] } });
    }),
    { numRuns: runs(100) },
  );
});

test("simplify-fast comes to an end in a valid program", () => {
  const pass = simplifyFast();
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), ({ program }) => {
      const once = pass.run(program);
      verifyProgram(once);
      assert.ok(sameProgram(pass.run(once), once), printProgram(once));
    }),
    { numRuns: runs(150) },
  );
});

test("simplify never adds nodes that compute", () => {
  const moving = new Set(["constant", "broadcastInDim", "reshape", "convert", "input", "param"]);
  const computing = (p: RandomProgram["program"]) => nodesOf(p).filter((t) => !moving.has(t.op));
  fc.assert(
    fc.property(randomProgram(), ({ program }) => {
      const after = simplify().run(program);
      assert.ok(computing(after).length <= computing(program).length, printProgram(after));
    }),
    { numRuns: runs(150) },
  );
});

test.run();
