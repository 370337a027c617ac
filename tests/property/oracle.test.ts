/**
 * The reference and js against a second opinion (`tests/oracle`) on random programs over all ops and dtypes. Each node is judged by
 * itself, on the values that the reference has for its operands, so that what one node gets wrong is not the next one's fault: the reference
 * bit for bit, js as a program of that one op, rounded at every op.
 */
import {
  allOps,
  type Dtype,
  dtypes,
  evaluate,
  input,
  isStatic,
  makeNode,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import { createCpuDevice } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { nodesOf } from "../../compiler/src/program.ts";
import { element, inexact } from "../oracle/elementwise.ts";
import { type Array_, fitted, isReal, type Num } from "../oracle/number.ts";
import { fromValue, knownOps, resultsOf } from "../oracle/oracle.ts";
import { casesOf, operandsOf, wantedOf } from "../printers/records.ts";
import { randomProgram } from "../support/graphs.ts";
import { printProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";

const device = createCpuDevice();
const given = new Set(["input", "param", "data"]);

const ulp: { readonly [K in Dtype]?: number } = {
  f64: 2 ** -40,
  f32: 2 ** -23,
  f16: 2 ** -10,
  bf16: 2 ** -7,
};

/** Equal bits, but for NaN; of functions that two libraries compute differently, neighbours. */
function agree(op: string, dtype: Dtype, a: Num, b: Num): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a === "bigint" || typeof b === "bigint" || !inexact.has(op)) return false;
  return Math.abs(a - b) <= ulp[dtype]! * Math.max(Math.abs(a), 2 ** -14);
}

function check(
  who: string,
  node: Tensor,
  got: Array_,
  wanted: Array_,
  operands: readonly Array_[],
): void {
  const about = `${who}: ${node.op} ${JSON.stringify(node.attrs)} of ${operands.map((x) => `${x.dtype}[${x.shape}] {${x.data}}`).join(", ")} to ${node.dtype}`;
  assert.equal(got.shape, wanted.shape, about);
  const at = wanted.data.findIndex((w, i) => !agree(node.op, node.dtype, got.data[i]!, w));
  assert.is(at, -1, `${about}\nelement ${at}: got ${got.data[at]}, want ${wanted.data[at]}`);
}

/** The node alone, on inputs. */
async function onJs(node: Tensor, values: readonly Value[]): Promise<Value> {
  const inputs = node.operands.map((t, i) => input(`x${i}`, t.dtype, t.shape));
  const { op, attrs, dtype, shape } = node;
  const value = inputs.length ? makeNode({ op, operands: inputs, attrs, dtype, shape }) : node;
  const program = { inputs, outputs: [{ name: "y", value }], updates: [] };
  const feeds = new Map(inputs.map((t, i) => [t, values[i]!]));
  const run = await runProgram(program, feeds, {}, device, { target: "js", rounding: "each-op" });
  return run.values[0]!;
}

const seen = new Map<string, Set<Dtype>>();

async function judge(roots: readonly Tensor[], feeds: ReadonlyMap<Tensor, Value>): Promise<void> {
  const values = new Map<Tensor, Value>();
  const plain = roots.filter((t) => !t.results && t.shape.every(isStatic));
  const all = evaluate(plain, { inputs: feeds });
  for (const [i, t] of plain.entries()) values.set(t, all[i]!);
  for (const node of plain) {
    if (given.has(node.op) || node.op === "result" || !node.operands.every((t) => values.has(t)))
      continue;
    const operands = node.operands.map((t) => values.get(t)!);
    const own = operands.map(fromValue);
    const [wanted] = resultsOf(node, own);
    check("reference", node, fromValue(values.get(node)!), wanted!, own);
    check("js", node, fromValue(await onJs(node, operands)), wanted!, own);
    seen.set(
      node.op,
      (seen.get(node.op) ?? new Set()).add(operands[0] ? operands[0].dtype : node.dtype),
    );
  }
}

for (const dtype of dtypes)
  test(`random programs on ${dtype} mean the same to the reference, to js and to the oracle`, async () => {
    await fc.assert(
      fc.asyncProperty(
        randomProgram({ dtypes: [dtype, dtype, dtype, "i32", "f32"] }),
        async ({ program, feeds }) => {
          try {
            await judge(nodesOf(program), feeds({}));
          } catch (error) {
            throw new Error(`${(error as Error).message}\n${printProgram(program)}`);
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });

/** Functions whose last bits libraries compute differently agree all the same: both sides ask the host for them. */
for (const c of casesOf(dtypes))
  test(`the record of ${c.name} has the oracle's values for extremes`, () => {
    const operands = operandsOf(c, true);
    const wanted = wantedOf(c, operands);
    const from = c.dtypes[c.record.name === "select" ? 1 : 0]!;
    for (const [i, w] of wanted.entries()) {
      const x = operands.map((o, k) => (isReal(c.dtypes[k]!) ? o[i]! : BigInt(o[i]!)));
      const own = fitted(c.result, element(c.record.name, from, c.result, x));
      const got = isReal(c.result) ? w : BigInt(w);
      assert.ok(agree(c.record.name, c.result, got, own), `${x}: record ${got}, oracle ${own}`);
    }
  });

test("the oracle knows every op", () => {
  // What a kernel of the user computes, its text alone says.
  const sources = [...given, "customKernel"];
  const unknown = allOps().filter(
    ({ name }) => !knownOps.includes(name) && !sources.includes(name),
  );
  assert.equal(
    unknown.map((r) => r.name),
    [],
  );
});

test("random programs come to most ops, and the oracle judged them on most dtypes", () => {
  assert.ok(seen.size > 50, `${seen.size} ops: ${[...seen.keys()]}`);
  const real = [...seen].filter(([, on]) => [...on].some(isReal));
  assert.ok(real.length > 35, `${real.length} ops on floats`);
});

test.run();
