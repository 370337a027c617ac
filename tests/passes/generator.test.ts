/**
 * What is asked of the random programs themselves: they are valid, reach every op, shrink to something small,
 * and print as IR.
 */
import { allOps } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { nodesOf } from "../../compiler/src/program.ts";
import { randomProgram, sampleDims } from "../support/graphs.ts";
import {
  evaluateProgram,
  parseProgram,
  printProgram,
  verifyProgram,
} from "../support/reference.ts";
import { runs } from "../support/setup.ts";

/** Ops that come from gradients, keys or regions, and have tests of their own. */
const elsewhere = new Set(
  "after stopGradient bitcast randomBits fold scatter call cond whileLoop scan result customKernel".split(
    " ",
  ),
);

test("random programs verify and have a value", () => {
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), ({ program, feeds }) => {
      verifyProgram(program);
      for (const dims of sampleDims) evaluateProgram(program, feeds(dims), dims);
    }),
    { numRuns: runs(150) },
  );
});

test("random programs reach every op", () => {
  const seen = new Set<string>();
  for (const { program } of fc.sample(randomProgram(), { numRuns: 2500, seed: 7 }))
    for (const node of nodesOf(program)) seen.add(node.op);
  const missing = allOps()
    .map((r) => r.name)
    .filter((op) => !seen.has(op) && !elsewhere.has(op));
  assert.equal(missing, []);
});

test("random programs share nodes, and have updates and several outputs", () => {
  const programs = fc.sample(randomProgram(), { numRuns: 300, seed: 7 }).map((p) => p.program);
  const shares = (p: (typeof programs)[number]) =>
    nodesOf(p).reduce((n, t) => n + t.operands.length, 0) > nodesOf(p).length;
  assert.ok(programs.filter(shares).length > 100);
  assert.ok(programs.filter((p) => p.updates.length > 0).length > 20);
  assert.ok(programs.filter((p) => p.outputs.length > 1).length > 100);
});

test("a failing program shrinks to the op that fails", () => {
  const result = fc.check(
    fc.property(randomProgram(), ({ program }) => !nodesOf(program).some((t) => t.op === "exp")),
    { numRuns: 2000, seed: 7 },
  );
  assert.ok(result.failed);
  const [smallest] = result.counterexample!;
  assert.ok(nodesOf(smallest.program).length <= 10, printProgram(smallest.program));
});

test("random programs print as IR that reads back", () => {
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), ({ program }) => {
      const text = printProgram(program);
      assert.is(printProgram(parseProgram(text)), text);
      return fc.stringify(program).length > 0;
    }),
    { numRuns: runs(100) },
  );
});

test.run();
