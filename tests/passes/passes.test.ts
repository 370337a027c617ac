/**
 * What each pass is for, and where it stops: directed cases beside the laws.
 */
import {
  call,
  constant,
  grad,
  input,
  isNan,
  makeNode,
  matmul,
  mean,
  type NodeParts,
  param,
  randomBits,
  sum,
  type Tensor,
  tanh,
  tensor,
  zeros,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cse } from "../../compiler/src/passes/cse.ts";
import { dce } from "../../compiler/src/passes/dce.ts";
import { fold } from "../../compiler/src/passes/fold.ts";
import { inline } from "../../compiler/src/passes/inline.ts";
import { orient } from "../../compiler/src/passes/orient.ts";
import { simplify } from "../../compiler/src/passes/simplify.ts";
import { nodesOf, type Program, rewriteProgram, sameProgram } from "../../compiler/src/program.ts";
import { makeNormalizer, rewriteByRules } from "../../compiler/src/rewrite.ts";
import { exactRules } from "../../compiler/src/rules/index.ts";
import { rule } from "../../compiler/src/rules/match.ts";
import { parseRule } from "../../compiler/src/rules/pattern.ts";
import { randomProgram } from "../support/graphs.ts";
import { runs } from "../support/setup.ts";

const programOf = (...values: Program["outputs"][number]["value"][]): Program => ({
  inputs: [],
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});
const opsOf = (p: Program): string[] => nodesOf(p).map((t) => t.op);

test("fold computes small values that turn out uniform and leaves others", () => {
  const counted = zeros([4]).add(1).sum();
  assert.is(fold.run(programOf(counted)).outputs[0]!.value, constant(4));
  const count = makeNode({
    op: "iota",
    operands: [],
    attrs: { axis: 0 },
    dtype: "i32",
    shape: [4],
  });
  const steps = programOf(count.add(count));
  assert.ok(sameProgram(fold.run(steps), steps));
  assert.is(fold.run(programOf(sum(count))).outputs[0]!.value, constant(6, "i32"));
});

test("fold reads nothing for what has no elements, and leaves an extent that may be zero", () => {
  const x = input("x", "f32", [2, 0, 2]);
  const folded = fold.run(programOf(x.div(x.add(1)).reverse([2]).neg()));
  assert.equal(opsOf(folded), ["constant", "broadcastInDim"]);
  const some = programOf(input("x", "f32", [2, "N", 2]).reverse([2]).neg());
  assert.ok(sameProgram(fold.run(some), some));
});

test("fold keeps NaN and the sign of zero", () => {
  const nan = fold.run(programOf(constant(0).div(0), constant(-1).mul(0)));
  assert.ok(Number.isNaN(nan.outputs[0]!.value.attrs.value));
  assert.ok(Object.is(nan.outputs[1]!.value.attrs.value, -0));
  assert.is(
    fold.run(programOf(isNan(constant(Number.NaN)))).outputs[0]!.value,
    constant(true, "bool"),
  );
});

test("fold touches neither random bits nor data", () => {
  const key = zeros([2], "u32");
  const drawn = programOf(randomBits(key, [1]), tensor([2, 2]).mul(0));
  assert.ok(sameProgram(fold.run(drawn), drawn));
});

test("equal nodes are one node without any pass", () => {
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), ({ program }) => {
      const again = rewriteProgram(program, (t) =>
        t.operands.length === 0 ? t : makeNode({ ...t } as NodeParts),
      );
      assert.ok(sameProgram(again, program));
    }),
    { numRuns: runs(100) },
  );
});

test("cse merges a comparison with its mirror image", () => {
  const [x, y] = [input("x", "f32", [3]), input("y", "f32", [3])];
  const merged = cse.run(programOf(x.less(y), y.greater(x), x.lessEqual(y), y.lessEqual(x)));
  assert.is(merged.outputs[0]!.value, merged.outputs[1]!.value);
  assert.is.not(merged.outputs[2]!.value, merged.outputs[3]!.value);
});

test("dce keeps every update that changes its parameter", () => {
  const [p, q] = [param([1, 2]), param([3, 4])];
  const program: Program = {
    inputs: [],
    outputs: [],
    updates: [
      [p, q],
      [q, q],
    ],
  };
  assert.equal(dce.run(program).updates, [[p, q]]);
});

test("inline substitutes nested calls with several results", () => {
  const [a, b] = [input("a", "f32", [2]), input("b", "f32", [2])];
  const inner = { params: [a], results: [a.exp(), a.neg()] };
  const outer = { params: [b], results: call(inner, [b.add(1)]) };
  const x = input("x", "f32", [2]);
  const [y, z] = call(outer, [x]);
  const flat = inline.run(programOf(y!, z!));
  assert.is(flat.outputs[0]!.value, x.add(1).exp());
  assert.is(flat.outputs[1]!.value, x.add(1).neg());
});

test("orient leaves a product that is read twice as it is", () => {
  const [x, y] = [input("x", "f32", [3, 4]), input("y", "f32", [4, 3])];
  const product = matmul(x, y);
  const turned = product.transpose();
  const shared = programOf(product.add(turned));
  assert.ok(sameProgram(orient.run(shared), shared));
  assert.equal(opsOf(orient.run(programOf(turned))), ["input", "input", "dotGeneral"]);
});

test("orient exchanges a product that is converted before it is transposed", () => {
  const [x, y] = [input("x", "f16", [3, 4]), input("y", "f16", [4, 3])];
  const wide = matmul(x, y).convert("f32");
  const ops = opsOf(orient.run(programOf(wide.transpose())));
  assert.equal(ops, ["input", "input", "dotGeneral", "convert"]);
  const shared = programOf(wide, wide.transpose());
  assert.ok(sameProgram(orient.run(shared), shared));
});

test("orient exchanges batched products", () => {
  const [x, y] = [input("x", "f32", [2, 3, 4]), input("y", "f32", [2, 4, 5])];
  const turned = programOf(
    matmul(x, y).transpose([0, 2, 1]),
    matmul(x, y.exp()).transpose([2, 0, 1]),
  );
  const ops = opsOf(orient.run(turned));
  assert.is(ops.filter((op) => op === "transpose").length, 1);
});

test("simplify leaves no trace of the ones and the stops of a gradient", () => {
  const x = input("x", "f32", ["N", 3]);
  const w = param(zeros([3, 3]));
  const g = grad(sum(tanh(matmul(x, w)).stopGradient().add(matmul(x, w))), [w]);
  assert.not.ok(opsOf(simplify().run(programOf(g[0]!))).includes("stopGradient"));
});

test("a rule that undoes another is reported and does not hang", () => {
  const x = input("x", "f32", []);
  const normalize = makeNormalizer([rule("neg(x) -> abs(x)"), rule("abs(x) -> neg(x)")]);
  assert.throws(() => normalize(x.neg()), /rules do not come to an end/);
});

test("rule texts are read, and nonsense is not", () => {
  assert.equal(parseRule("mul(x, -0) -> x where float(x)").lhs.args[1], {
    kind: "constant",
    value: -0,
    bool: false,
  });
  for (const text of ["x -> x", "mul(x, 1)", "mul(x -> x", "mul(x, 1) -> x x", "mul(x; 1) -> x"])
    assert.throws(() => parseRule(text), /bug in rules/);
});

/** A residual network with its gradient and updates, about 20 nodes a layer. */
function deepProgram(layers: number): Program {
  const x = input("x", "f32", ["N", 8]);
  const params: ReturnType<typeof param>[] = [];
  let h = x;
  for (let i = 0; i < layers; i++) {
    const [w, b] = [param(zeros([8, 8])), param(zeros([8]))];
    params.push(w, b);
    h = tanh(matmul(h, w).add(b)).add(h);
  }
  const g = grad(mean(h), params);
  const updates = params.map((p, i) => [p, p.sub(g[i]!.mul(0.1))] as const);
  return { inputs: [x], outputs: [], updates };
}

test("simplify tries rules in proportion to the program", () => {
  const tries = (program: Program): number => {
    let count = 0;
    const counted = exactRules().map((rule) => ({
      ...rule,
      apply(node: Tensor) {
        count++;
        return rule.apply(node);
      },
    }));
    rewriteByRules(program, counted);
    return count;
  };
  const [few, many] = [tries(deepProgram(40)), tries(deepProgram(160))];
  // Four times the layers; a quadratic rewriter would need sixteen times as many.
  assert.ok(few > 0 && many < 5 * few, `${many} tries, for a quarter of the layers ${few}`);
});

test.run();
