/**
 * One example for each rule that is a function: the program before, the program after, and the proof that
 * this rule fired and no bit changed. A rule without an example fails.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { simplify, simplifyFast } from "../../compiler/src/passes/simplify.ts";
import { ruleHits } from "../../compiler/src/rewrite.ts";
import { exactRules, fastRules } from "../../compiler/src/rules/index.ts";
import { sampleFeeds } from "../support/leaves.ts";
import { evaluateProgram, parseProgram, printProgram, sameValue } from "../support/reference.ts";

/** Lines of a graph body; the last line is the result. */
const graph = (params: string, body: string): string => `graph f(${params}) {\n${body}\n}`;

interface Example {
  readonly rule: string;
  readonly params: string;
  readonly before: string;
  readonly after: string;
}

const examples: readonly Example[] = [
  {
    rule: "movement of a uniform constant -> uniform",
    params: "%x: f32[3,2]",
    before: `%1: f32[] = constant {value=2}
      %2: f32[2,3] = broadcastInDim %1 {dims=[]}
      %3: f32[3,2] = transpose %2 {perm=[1, 0]}
      %4: f32[3,2] = add %x %3
      return %4`,
    after: `%1: f32[] = constant {value=2}
      %2: f32[3,2] = broadcastInDim %1 {dims=[]}
      %3: f32[3,2] = add %x %2
      return %3`,
  },
  {
    rule: "concat or pad of one uniform constant -> uniform",
    params: "%x: f32[4]",
    before: `%1: f32[] = constant {value=2}
      %2: f32[2] = broadcastInDim %1 {dims=[]}
      %3: f32[4] = pad %2 %1 {low=[1], high=[1], interior=[0]}
      %4: f32[4] = add %x %3
      return %4`,
    after: `%1: f32[] = constant {value=2}
      %2: f32[4] = broadcastInDim %1 {dims=[]}
      %3: f32[4] = add %x %2
      return %3`,
  },
  {
    rule: "reshape(x) to its own shape -> x",
    params: "%x: f32[N,2]",
    before: "%1: f32[N,2] = reshape %x\nreturn %1",
    after: "return %x",
  },
  {
    rule: "reshape(reshape(x)) -> reshape(x)",
    params: "%x: f32[N,2]",
    before: "%1: f32[2*N] = reshape %x\n%2: f32[2,N] = reshape %1\nreturn %2",
    after: "%1: f32[2,N] = reshape %x\nreturn %1",
  },
  {
    rule: "reshape(broadcastInDim(x)) by ones -> broadcastInDim(x)",
    params: "%x: f32[3]",
    before: `%1: f32[2,1,3] = broadcastInDim %x {dims=[2]}
      %2: f32[2,3,1] = reshape %1
      return %2`,
    after: "%1: f32[2,3,1] = broadcastInDim %x {dims=[1]}\nreturn %1",
  },
  {
    rule: "broadcastInDim(x) that adds ones only -> reshape(x)",
    params: "%x: f32[N,3]",
    before: "%1: f32[N,1,3] = broadcastInDim %x {dims=[0, 2]}\nreturn %1",
    after: "%1: f32[N,1,3] = reshape %x\nreturn %1",
  },
  {
    rule: "broadcastInDim(broadcastInDim(x)) -> broadcastInDim(x)",
    params: "%x: f32[3]",
    before: `%1: f32[2,3] = broadcastInDim %x {dims=[1]}
      %2: f32[3,N,2] = broadcastInDim %1 {dims=[2, 0]}
      return %2`,
    after: "%1: f32[3,N,2] = broadcastInDim %x {dims=[0]}\nreturn %1",
  },
  {
    rule: "broadcastInDim(reshape(x)) by ones -> broadcastInDim(x)",
    params: "%x: f32[3]",
    before: `%1: f32[3,1] = reshape %x
      %2: f32[3,N] = broadcastInDim %1 {dims=[0, 1]}
      return %2`,
    after: "%1: f32[3,N] = broadcastInDim %x {dims=[0]}\nreturn %1",
  },
  {
    rule: "transpose(x) by the identity -> x",
    params: "%x: f32[N,2]",
    before: "%1: f32[N,2] = transpose %x {perm=[0, 1]}\nreturn %1",
    after: "return %x",
  },
  {
    rule: "transpose(transpose(x)) -> transpose(x)",
    params: "%x: f32[2,3,4]",
    before: `%1: f32[3,4,2] = transpose %x {perm=[1, 2, 0]}
      %2: f32[4,3,2] = transpose %1 {perm=[1, 0, 2]}
      return %2`,
    after: "%1: f32[4,3,2] = transpose %x {perm=[2, 1, 0]}\nreturn %1",
  },
  {
    rule: "transpose(broadcastInDim(x)) -> broadcastInDim(x)",
    params: "%x: f32[3]",
    before: `%1: f32[2,3] = broadcastInDim %x {dims=[1]}
      %2: f32[3,2] = transpose %1 {perm=[1, 0]}
      return %2`,
    after: "%1: f32[3,2] = broadcastInDim %x {dims=[0]}\nreturn %1",
  },
  {
    rule: "convert(transpose(x)) -> transpose(convert(x))",
    params: "%x: f32[2,3]",
    before: `%1: f32[3,2] = transpose %x {perm=[1, 0]}
      %2: f16[3,2] = convert %1
      return %2`,
    after: `%1: f16[2,3] = convert %x
      %2: f16[3,2] = transpose %1 {perm=[1, 0]}
      return %2`,
  },
  {
    rule: "reverse(x) over axes of one element -> x",
    params: "%x: f32[N,1]",
    before: "%1: f32[N,1] = reverse %x {axes=[0, 1]}\nreturn %1",
    after: "%1: f32[N,1] = reverse %x {axes=[0]}\nreturn %1",
  },
  {
    rule: "reverse(reverse(x)) -> reverse(x)",
    params: "%x: f32[2,3]",
    before: `%1: f32[2,3] = reverse %x {axes=[0, 1]}
      %2: f32[2,3] = reverse %1 {axes=[1]}
      return %2`,
    after: "%1: f32[2,3] = reverse %x {axes=[0]}\nreturn %1",
  },
  {
    rule: "slice(x) of the whole -> x",
    params: "%x: f32[N]",
    before: "%1: f32[N] = slice %x {start=[0], limit=[N], stride=[1]}\nreturn %1",
    after: "return %x",
  },
  {
    rule: "slice(slice(x)) -> slice(x)",
    params: "%x: f32[8]",
    before: `%1: f32[6] = slice %x {start=[1], limit=[7], stride=[1]}
      %2: f32[2] = slice %1 {start=[2], limit=[5], stride=[2]}
      return %2`,
    after: "%1: f32[2] = slice %x {start=[3], limit=[6], stride=[2]}\nreturn %1",
  },
  {
    rule: "pad(x) by nothing -> x",
    params: "%x: f32[N], %v: f32[]",
    before: "%1: f32[N] = pad %x %v {low=[0], high=[0], interior=[0]}\nreturn %1",
    after: "return %x",
  },
  {
    rule: "pad(pad(x)) with one value -> pad(x)",
    params: "%x: f32[2], %v: f32[]",
    before: `%1: f32[3] = pad %x %v {low=[1], high=[0], interior=[0]}
      %2: f32[6] = pad %1 %v {low=[1], high=[2], interior=[0]}
      return %2`,
    after: "%1: f32[6] = pad %x %v {low=[2], high=[2], interior=[0]}\nreturn %1",
  },
  {
    rule: "concat(x) of one -> x",
    params: "%x: f32[N]",
    before: "%1: f32[N] = concat %x {axis=0}\nreturn %1",
    after: "return %x",
  },
  {
    rule: "concat(x, empty) -> x",
    params: "%x: f32[2], %y: f32[0], %z: f32[1]",
    before: "%1: f32[3] = concat %x %y %z {axis=0}\nreturn %1",
    after: "%1: f32[3] = concat %x %z {axis=0}\nreturn %1",
  },
  {
    rule: "concat(concat(x, y), z) -> concat(x, y, z)",
    params: "%x: f32[2], %y: f32[N]",
    before: `%1: f32[N+2] = concat %x %y {axis=0}
      %2: f32[N+4] = concat %1 %x {axis=0}
      return %2`,
    after: "%1: f32[N+4] = concat %x %y %x {axis=0}\nreturn %1",
  },
  {
    rule: "convert(x) to its own dtype -> x",
    params: "%x: f32[N]",
    before: "%1: f32[N] = convert %x\nreturn %1",
    after: "return %x",
  },
  {
    rule: "convert(convert(x)) through a dtype that holds x -> convert(x)",
    params: "%x: i8[4]",
    before: "%1: f16[4] = convert %x\n%2: f32[4] = convert %1\nreturn %2",
    after: "%1: f32[4] = convert %x\nreturn %1",
  },
  {
    rule: "select(c, 1, 0) -> convert(c)",
    params: "%c: bool[3]",
    before: `%1: f32[] = constant {value=1}
      %2: f32[3] = broadcastInDim %1 {dims=[]}
      %3: f32[] = constant {value=0}
      %4: f32[3] = broadcastInDim %3 {dims=[]}
      %5: f32[3] = select %c %2 %4
      return %5`,
    after: "%1: f32[3] = convert %c\nreturn %1",
  },
  {
    rule: "div(x, 2^k) -> mul(x, 2^-k)",
    params: "%x: f32[]",
    before: "%1: f32[] = constant {value=8}\n%2: f32[] = div %x %1\nreturn %2",
    after: "%1: f32[] = constant {value=0.125}\n%2: f32[] = mul %x %1\nreturn %2",
  },
  {
    rule: "reduce(x) over no axes or single elements -> reshape(x)",
    params: "%x: f32[1,N]",
    before: "%1: f32[N] = reduceMax %x {axes=[0]}\nreturn %1",
    after: "%1: f32[N] = reshape %x\nreturn %1",
  },
  {
    rule: "reduceMax(reduceMax(x)) -> reduceMax(x), and min, any, all",
    params: "%x: f32[2,N,3]",
    before: `%1: f32[2,N] = reduceMax %x {axes=[2]}
      %2: f32[N] = reduceMax %1 {axes=[0]}
      return %2`,
    after: "%1: f32[N] = reduceMax %x {axes=[0, 2]}\nreturn %1",
  },
  {
    rule: "reduceMax(broadcastInDim(x)) over new axes -> broadcastInDim(x), and min, any, all",
    params: "%x: f32[3]",
    before: `%1: f32[2,3,N] = broadcastInDim %x {dims=[1]}
      %2: f32[2,3] = reduceMax %1 {axes=[2]}
      return %2`,
    after: "%1: f32[2,3] = broadcastInDim %x {dims=[1]}\nreturn %1",
  },
  {
    rule: "dotGeneral(transpose(x), y) -> dotGeneral(x, y)",
    params: "%x: f32[3,N], %y: f32[3,2]",
    before: `%1: f32[N,3] = transpose %x {perm=[1, 0]}
      %2: f32[N,2] = dotGeneral %1 %y {lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[0]}
      return %2`,
    after: `%1: f32[N,2] = dotGeneral %x %y {lhsBatch=[], rhsBatch=[], lhsContract=[0], rhsContract=[0]}
      return %1`,
  },
  {
    rule: "dotGeneral(x, transpose(y)) -> dotGeneral(x, y)",
    params: "%x: f32[N,3], %y: f32[2,3]",
    before: `%1: f32[3,2] = transpose %y {perm=[1, 0]}
      %2: f32[N,2] = dotGeneral %x %1 {lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[0]}
      return %2`,
    after: `%1: f32[N,2] = dotGeneral %x %y {lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[1]}
      return %1`,
  },
  {
    rule: "commutative(constant, x) -> commutative(x, constant)",
    params: "%x: f32[]",
    before: "%1: f32[] = constant {value=3}\n%2: f32[] = add %1 %x\nreturn %2",
    after: "%1: f32[] = constant {value=3}\n%2: f32[] = add %x %1\nreturn %2",
  },
  {
    rule: "elementwise(broadcastInDim(x), …) -> broadcastInDim(elementwise(x, …))",
    params: "%x: f32[2], %y: f32[2]",
    before: `%1: f32[2,N] = broadcastInDim %x {dims=[0]}
      %2: f32[2,N] = broadcastInDim %y {dims=[0]}
      %3: f32[2,N] = add %1 %2
      return %3`,
    after: `%1: f32[2] = add %x %y
      %2: f32[2,N] = broadcastInDim %1 {dims=[0]}
      return %2`,
  },
  {
    rule: "elementwise(reshape(x), …) -> reshape(elementwise(x, …))",
    params: "%x: f32[N], %y: f32[N]",
    before: `%1: f32[N,1] = reshape %x
      %2: f32[N,1] = reshape %y
      %3: f32[N,1] = mul %1 %2
      %4: f32[N] = reshape %3
      return %4`,
    after: "%1: f32[N] = mul %x %y\nreturn %1",
  },
];

const fastExamples: readonly Example[] = [
  {
    rule: "div(x, constant) -> mul(x, 1/constant)",
    params: "%x: f32[]",
    before: "%1: f32[] = constant {value=10}\n%2: f32[] = div %x %1\nreturn %2",
    after: "%1: f32[] = constant {value=0.10000000149011612}\n%2: f32[] = mul %x %1\nreturn %2",
  },
  {
    rule: "reduceSum(broadcastInDim(x)) -> mul(x, n)",
    params: "%x: f32[]",
    before: `%1: f32[3,5] = broadcastInDim %x {dims=[]}
      %2: f32[] = reduceSum %1 {axes=[0, 1]}
      return %2`,
    after: "%1: f32[] = constant {value=15}\n%2: f32[] = mul %x %1\nreturn %2",
  },
  {
    rule: "reduceSum(reduceSum(x)) -> reduceSum(x)",
    params: "%x: f32[2,3,N]",
    before: `%1: f32[3,N] = reduceSum %x {axes=[0]}
      %2: f32[N] = reduceSum %1 {axes=[0]}
      return %2`,
    after: "%1: f32[N] = reduceSum %x {axes=[0, 1]}\nreturn %1",
  },
  {
    rule: "reduceSum(x) over single elements -> reshape(x)",
    params: "%x: f32[1,N]",
    before: "%1: f32[N] = reduceSum %x {axes=[0]}\nreturn %1",
    after: "%1: f32[N] = reshape %x\nreturn %1",
  },
];

/** Runs the example and returns the programs. */
function rewritten(example: Example, fast: boolean) {
  const before = parseProgram(graph(example.params, example.before));
  const after = parseProgram(graph(example.params, example.after));
  ruleHits.delete(example.rule);
  const result = (fast ? simplifyFast() : simplify()).run(before);
  assert.is(printProgram(result), printProgram(after));
  assert.ok(ruleHits.get(example.rule), "the rule did not fire");
  return { before, result };
}

for (const example of examples)
  test(`${example.rule} keeps every bit`, () => {
    const { before, result } = rewritten(example, false);
    for (const dims of [{ N: 1 }, { N: 4 }]) {
      const feeds = sampleFeeds(before.inputs, dims);
      const [x, y] = [before, result].map((p) => evaluateProgram(p, feeds, dims)[0]!);
      assert.ok(sameValue(x!, y!));
    }
  });

for (const example of fastExamples)
  test(`${example.rule} rewrites when asked to`, () => {
    rewritten(example, true);
  });

test("every rule that is a function has an example", () => {
  const shown = [...examples, ...fastExamples].map((e) => e.rule).sort();
  const all = [...new Set([...exactRules(), ...fastRules()])].filter((r) => !r.text);
  assert.equal(shown, [...new Set(all.map((r) => r.name))].sort());
});

test.run();
