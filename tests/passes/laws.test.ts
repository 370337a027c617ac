/**
 * What holds for every pass on every program: the meaning is kept, bit for bit or, where a pass
 * says that it reassociates, within the error of a sum; the result verifies, a second run changes
 * nothing, and the argument is left alone. And what the passes are for: each finds work somewhere.
 */
import { readdirSync, readFileSync } from "node:fs";
import { grad, sum } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Pass } from "../../compiler/src/pass.ts";
import { cse } from "../../compiler/src/passes/cse.ts";
import { dce } from "../../compiler/src/passes/dce.ts";
import { factorSums } from "../../compiler/src/passes/factor-sums.ts";
import { fold } from "../../compiler/src/passes/fold.ts";
import { inline } from "../../compiler/src/passes/inline.ts";
import { joinSums } from "../../compiler/src/passes/join-sums.ts";
import { orient } from "../../compiler/src/passes/orient.ts";
import { regions } from "../../compiler/src/passes/regions.ts";
import { reuseProduct } from "../../compiler/src/passes/reuse-product.ts";
import { simplify, simplifyFast } from "../../compiler/src/passes/simplify.ts";
import { splitColumns } from "../../compiler/src/passes/split-columns.ts";
import { splitConcat } from "../../compiler/src/passes/split-concat.ts";
import { splitContraction } from "../../compiler/src/passes/split-contraction.ts";
import { splitReduce } from "../../compiler/src/passes/split-reduce.ts";
import { splitScan } from "../../compiler/src/passes/split-scan.ts";
import { splitVariance } from "../../compiler/src/passes/split-variance.ts";
import { graphPasses } from "../../compiler/src/pipeline.ts";
import { nodesOf, type Program, rootsOf, sameProgram } from "../../compiler/src/program.ts";
import { type RandomProgram, randomProgram, sampleDims } from "../support/graphs.ts";
import { evaluateProgram, printProgram, sameValue, verifyProgram } from "../support/reference.ts";
import { runs } from "../support/setup.ts";
import { programsFor, type Sample } from "./pass-programs.ts";

/** What targets add. */
const ofTargets: readonly Pass[] = [
  splitConcat,
  splitReduce,
  joinSums,
  reuseProduct,
  splitContraction,
  splitColumns,
  splitScan,
  factorSums,
  splitVariance,
];

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

/** Few of the passes of targets find work in small programs: `programsFor` has such in which they do. */
const often = (pass: Pass): number => (ofTargets.includes(pass) ? 20 : 150);

for (const pass of [simplify(), fold, cse, dce, inline, orient, regions, ...ofTargets]) {
  test(`${pass.name} keeps the meaning bit for bit`, () => {
    fc.assert(
      fc.property(randomProgram({ symbolic: true }), (p) => keepsMeaning(pass, p)),
      { numRuns: runs(often(pass)) },
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
      { numRuns: runs(often(pass)) },
    );
  });
}

test("the passes that the laws are tried on are all there are", () => {
  const folder = new URL("../../compiler/src/passes/", import.meta.url);
  const there = readdirSync(folder).filter((file) =>
    /^export const \w+ = \(\): Pass =>|^export const \w+: Pass = /m.test(
      readFileSync(new URL(file, folder), "utf8"),
    ),
  );
  const tried = [simplify(), fold, cse, dce, inline, orient, regions, ...ofTargets];
  assert.equal(there.sort(), tried.map(({ name }) => `${name}.ts`).sort());
});

test("passes of all targets keep every bit", () => {
  for (const pass of graphPasses) assert.not(pass.reassociates, pass.name);
});

/** Result by result: every bit, or of a sum of floats within the error of adding up its terms in any order. */
function staysWithin(pass: Pass, sample: Sample, result: Program): void {
  const { program, feeds, sizes, terms } = sample;
  const known = sample.known ?? ((of) => evaluateProgram(program, of));
  const before = known(feeds);
  const after = evaluateProgram(result, feeds);
  const most = known(sizes);
  for (const [i, value] of before.entries()) {
    const got = after[i]!;
    if (!pass.reassociates || value.dtype !== "f32") assert.ok(sameValue(value, got));
    else
      for (const [at, x] of value.data.entries()) {
        const bound = 2 * terms * 2 ** -24 * Math.abs(most[i]!.data[at]!) + 2 ** -149;
        const off = Math.abs(x - got.data[at]!);
        assert.ok(off <= bound, `${pass.name}: ${x} became ${got.data[at]}, ±${bound}`);
      }
  }
}

for (const pass of ofTargets)
  test(`${pass.name} keeps the meaning where it finds work${pass.reassociates ? ", but for the order of additions" : ""}`, () => {
    fc.assert(
      fc.property(programsFor[pass.name]!, (sample) => {
        const result = pass.run(sample.program);
        verifyProgram(result);
        assert.not(sameProgram(result, sample.program), "it finds none");
        assert.ok(sameProgram(pass.run(result), result), printProgram(result));
        staysWithin(pass, sample, result);
      }),
      { numRuns: runs(3) },
    );
  });

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
  // A conversion before a transpose gets one of its own where others read the first: it is an index
  // map.
  const moving = new Set(
    "constant broadcastInDim reshape transpose convert input param".split(" "),
  );
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
