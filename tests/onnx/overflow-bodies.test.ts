/**
 * 64-bit integers within bodies of If, Loop and Scan that are not unrolled: right, or an error that names the node
 * inside. What is not run refuses nothing.
 */
import type { AttributeDef, ElementType, GraphDef } from "@kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { OnnxTensor } from "../../packages/kiln/src/onnx.ts";
import { int64, loadSmall, modelOf, numbers, type SmallNode } from "./small-model.ts";

type Types = Readonly<Record<string, ElementType>>;

/** A body: int64 of rank 0 unless `types` says otherwise. */
function body(
  inputs: readonly string[],
  nodes: readonly SmallNode[],
  outputs: readonly string[],
  types: Types = {},
): AttributeDef {
  const all = Object.fromEntries(inputs.map((name) => [name, types[name] ?? "int64"] as const));
  const shapes = Object.fromEntries(inputs.map((name) => [name, []]));
  const { graph } = modelOf({ inputs: shapes, types: all, nodes, outputs });
  return { kind: "graph", value: graph as GraphDef };
}

const bool = (v: boolean) => ({
  name: "",
  type: "bool" as const,
  dims: [],
  data: Uint8Array.of(Number(v)),
});

/** The results by name, or the first line of what was thrown. */
async function outcome(
  model: ReturnType<typeof loadSmall>,
  feeds: Parameters<typeof model.run>[0],
): Promise<Record<string, number[]> | string> {
  try {
    const results = await model.run(feeds);
    return Object.fromEntries(
      Object.entries(results).map(([name, t]) => [name, numbers(t as OnnxTensor)]),
    );
  } catch (error) {
    return `${(error as Error).constructor.name}: ${(error as Error).message.split("\n")[0]}`;
  }
}

const beyond = (where: string) =>
  `DtypeError: ${where}: a result is beyond the 32 bits that hold int64`;

const square = (x: string, y: string): SmallNode => ({ op: "Mul", inputs: [x, x], outputs: [y] });
const double = (x: string, y: string): SmallNode => ({ op: "Add", inputs: [x, x], outputs: [y] });

/** y = c ? x·x : x + x. */
const choice = () =>
  loadSmall({
    inputs: { c: [], x: [] },
    types: { c: "bool", x: "int64" },
    nodes: [
      {
        op: "If",
        inputs: ["c"],
        attributes: {
          then_branch: body([], [square("x", "p")], ["p"]),
          else_branch: body([], [double("x", "s")], ["s"]),
        },
      },
    ],
  });

test("a branch that is taken is looked at, and the other is not", async () => {
  const model = choice();
  const run = (c: boolean, x: number) => outcome(model, { c: bool(c), x: int64(x) });
  assert.equal(await run(true, 46340), { y: [2147395600] });
  assert.is(await run(true, 46341), beyond("If If0/Mul Mul0"));
  assert.equal(await run(false, 46341), { y: [92682] });
  assert.equal(await run(false, 1073741823), { y: [2147483646] });
  assert.is(await run(false, 1073741824), beyond("If If0/Add Add0"));
  assert.is(model.compiles, 1);
});

/** `state` doubled `n` times, and its values on the way. */
const doublings = (trips: "given" | "fixed") =>
  loadSmall({
    inputs: { ...(trips === "given" ? { n: [] } : {}), x: [] },
    types: { n: "int64", x: "int64" },
    initializers: { ...(trips === "fixed" ? { n: int64(6) } : {}) },
    nodes: [
      {
        op: "Loop",
        inputs: ["n", "", "x"],
        outputs: ["y"],
        attributes: {
          body: body(
            ["i", "on", "a"],
            [{ op: "Identity", inputs: ["on"], outputs: ["more"] }, double("a", "b")],
            ["more", "b"],
            { on: "bool" },
          ),
        },
      },
    ],
  });

test("a loop whose count is known is looked at in each trip", async () => {
  const model = doublings("fixed");
  assert.equal(await outcome(model, { x: int64(3) }), { y: [192] });
  assert.equal(await outcome(model, { x: int64(33554431) }), { y: [2147483584] });
  assert.is(await outcome(model, { x: int64(33554432) }), beyond("Loop Loop0/Add Add1"));
  // After the trip in which it does not fit, it would again.
  assert.is(await outcome(model, { x: int64(1 << 30) }), beyond("Loop Loop0/Add Add1"));
});

test("a loop that ends when the run says so is looked at in the trips that it makes", async () => {
  const model = doublings("given");
  const run = (n: number, x: number) => outcome(model, { n: int64(n), x: int64(x) });
  assert.equal(await run(10, 3), { y: [3072] });
  assert.equal(await run(0, 2 ** 30), { y: [2 ** 30] });
  assert.is(await run(1, 2 ** 30), beyond("Loop Loop0/Add Add1"));
  assert.is(await run(40, 3), beyond("Loop Loop0/Add Add1"));
});

test("a loop that only a number beyond would end does end", async () => {
  const model = loadSmall({
    inputs: { x: [], limit: [] },
    types: { x: "int64", limit: "int64" },
    initializers: { yes: bool(true) },
    nodes: [
      {
        op: "Loop",
        inputs: ["", "yes", "x"],
        attributes: {
          body: body(
            ["i", "on", "a"],
            [double("a", "b"), { op: "Less", inputs: ["b", "limit"], outputs: ["more"] }],
            ["more", "b"],
            { on: "bool" },
          ),
        },
      },
    ],
  });
  assert.equal(await outcome(model, { x: int64(1), limit: int64(1000) }), { y: [1024] });
  assert.is(
    await outcome(model, { x: int64(1), limit: int64(2147483647) }),
    beyond("Loop Loop0/Add Add0"),
  );
});

/** Running sums of x, by a Scan. */
const sums = (length: number | string) =>
  loadSmall({
    inputs: { start: [], x: [length] },
    types: { start: "int64", x: "int64" },
    nodes: [
      {
        op: "Scan",
        inputs: ["start", "x"],
        outputs: ["last", "all"],
        attributes: {
          num_scan_inputs: 1,
          body: body(
            ["a", "e"],
            [
              { op: "Add", inputs: ["a", "e"], outputs: ["b"] },
              { op: "Identity", inputs: ["b"], outputs: ["c"] },
            ],
            ["b", "c"],
          ),
        },
      },
    ],
    outputs: ["last", "all"],
  });

for (const length of [6, "N"] as const)
  test(`a scan of ${length} steps is looked at in each`, async () => {
    const model = sums(length);
    const run = (...x: number[]) => outcome(model, { start: int64(0), x: int64(x) });
    const limit = 2147483647;
    assert.equal(await run(1, 2, 3, 4, 5, 6), { last: [21], all: [1, 3, 6, 10, 15, 21] });
    assert.equal(await run(limit, -1, 1, -5, 5, 0), {
      last: [limit],
      all: [limit, limit - 1, limit, limit - 5, limit, limit],
    });
    assert.is(await run(limit, 1, -1, 0, 0, 0), beyond("Scan Scan0/Add Add0"));
  });

test("a branch within a loop is looked at where it is taken", async () => {
  const model = loadSmall({
    inputs: { n: [], x: [] },
    types: { n: "int64", x: "int64" },
    initializers: { two: int64(2) },
    nodes: [
      {
        op: "Loop",
        inputs: ["n", "", "x"],
        attributes: {
          body: body(
            ["i", "on", "a"],
            [
              { op: "Identity", inputs: ["on"], outputs: ["more"] },
              { op: "Less", inputs: ["i", "two"], outputs: ["early"] },
              {
                op: "If",
                inputs: ["early"],
                outputs: ["b"],
                attributes: {
                  then_branch: body([], [square("a", "p")], ["p"]),
                  else_branch: body([], [double("a", "s")], ["s"]),
                },
              },
            ],
            ["more", "b"],
            { on: "bool" },
          ),
        },
      },
    ],
  });
  const run = (n: number, x: number) => outcome(model, { n: int64(n), x: int64(x) });
  // Squared twice, then doubled.
  assert.equal(await run(6, 3), { y: [81 * 16] });
  assert.is(await run(2, 300), beyond("Loop Loop0/If If2/Mul Mul0"));
  assert.is(await run(40, 3), beyond("Loop Loop0/If If2/Add Add0"));
  assert.equal(await run(1, 300), { y: [90000] });
});

test("a loop of no trips refuses nothing of what it would compute", async () => {
  const model = loadSmall({
    inputs: { n: [], x: [] },
    types: { n: "int64", x: "int64" },
    nodes: [
      {
        op: "Loop",
        inputs: ["n", "", "x"],
        outputs: ["y", "all"],
        attributes: {
          body: body(
            ["i", "on", "a"],
            [
              { op: "Identity", inputs: ["on"], outputs: ["more"] },
              square("x", "p"),
              { op: "Identity", inputs: ["a"], outputs: ["b"] },
            ],
            ["more", "b", "p"],
            { on: "bool" },
          ),
        },
      },
    ],
    outputs: ["y", "all"],
  });
  assert.equal(await outcome(model, { n: int64(0), x: int64(50000) }), { y: [50000], all: [] });
  assert.is(await outcome(model, { n: int64(1), x: int64(50000) }), beyond("Loop Loop0/Mul Mul1"));
});

test.run();
