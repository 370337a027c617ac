/**
 * What holds for every pass on every program: the meaning is kept bit for bit, the result verifies, a second
 * run changes nothing, and the argument is left alone. And what the passes are for: every rule fires somewhere.
 */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Pass } from "../../compiler/src/pass.ts";
import { cse } from "../../compiler/src/passes/cse.ts";
import { dce } from "../../compiler/src/passes/dce.ts";
import { fold } from "../../compiler/src/passes/fold.ts";
import { inline } from "../../compiler/src/passes/inline.ts";
import { simplify } from "../../compiler/src/passes/simplify.ts";
import { nodesOf, rootsOf, sameProgram } from "../../compiler/src/program.ts";
import { type RandomProgram, randomProgram, sampleDims } from "../support/graphs.ts";
import { evaluateProgram, printProgram, sameValue, verifyProgram } from "../support/reference.ts";

const runs = 150 * Number(process.env.FC_RUNS ?? 1);

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

for (const pass of [simplify(), fold, cse, dce, inline]) {
  test(`${pass.name} keeps the meaning bit for bit`, () => {
    fc.assert(
      fc.property(randomProgram({ symbolic: true }), (p) => keepsMeaning(pass, p)),
      { numRuns: runs },
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
      { numRuns: runs },
    );
  });
}

test("simplify never adds nodes that compute", () => {
  const moving = new Set(["constant", "broadcastInDim", "reshape", "convert", "input", "param"]);
  const computing = (p: RandomProgram["program"]) => nodesOf(p).filter((t) => !moving.has(t.op));
  fc.assert(
    fc.property(randomProgram(), ({ program }) => {
      const after = simplify().run(program);
      assert.ok(computing(after).length <= computing(program).length, printProgram(after));
    }),
    { numRuns: runs },
  );
});

test.run();
