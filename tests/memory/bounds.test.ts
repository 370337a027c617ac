/**
 * No place that a kernel names lies outside of its parameters and arrays: checked in kernel IR, of all golden programs, of
 * random ones and of packing, on each target. The check itself is tried on kernels that are wrong.
 */
import { addDim, argSort, dim, input, loopVar, minDim, modDim, mulDim, subDim } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { findOutside } from "../../compiler/src/kernel/in-bounds.ts";
import type { Kernel, Stmt } from "../../compiler/src/kernel/kernel.ts";
import { call, f32, load, loop, param, ref, store } from "../printers/kernels.ts";
import { programs } from "../stages/programs.ts";
import { staysInside } from "../support/bounds.ts";
import { randomProgram } from "../support/graphs.ts";
import { sized } from "../support/kernels-of.ts";
import { runs } from "../support/setup.ts";

const N = dim("N");
const i = loopVar("i'", N);

const kernel = (body: readonly Stmt[], size = mulDim(N, 1)): Kernel => ({
  name: "k",
  params: [param("x@", size), param("y@", size, "write")],
  dims: ["N"],
  body,
  workgroupSize: 1,
  bytes: 0,
  flops: 0,
});

const free = new Map([["N", N]]);
const outside = (body: readonly Stmt[], dims: Parameters<typeof findOutside>[1] = free) =>
  findOutside(kernel(body), dims);
const copy = (index: ReturnType<typeof addDim>): Stmt[] => [store("y@", index, load("x@", index))];

test("a loop over all elements is proved for all extents", () => {
  assert.is(outside([loop(i, N, copy(i))]), undefined);
});

test("one element too many is found, in what is read and in what is written", () => {
  const found = outside([loop(i, addDim(N, 1), copy(loopVar("i'", addDim(N, 1))))]);
  assert.match(found!, /^load from x@\[i'\]/);
  assert.match(outside([store("y@", N, f32(0))])!, /^store to y@\[N\]: N of N$/);
  assert.match(outside([store("y@", -1, f32(0))])!, /^store to y@\[-1\]: -1 of N$/);
});

test("a guard on a load counts, and one that is off by one does not", () => {
  const guarded = (least: number): Stmt => {
    const index = subDim(i, 3);
    const guard = [{ value: subDim(i, least), test: "nonnegative" } as const];
    const value = { kind: "load", from: "x@", index, guard, dtype: "f32" } as const;
    return loop(i, N, [store("y@", i, value)]);
  };
  assert.is(outside([guarded(3)]), undefined);
  assert.match(outside([guarded(2)])!, /^load from x@\[i'-3\]/);
});

test("blocks of four with a rest are proved, and a block beyond them is found", () => {
  const [b, s] = [loopVar("b'", N), loopVar("s'", 4)];
  const blocks = (count: ReturnType<typeof minDim>): Stmt => ({
    kind: "loop",
    name: "b'",
    extent: N,
    step: 4,
    loop: "serial",
    body: [loop(s, count, copy(addDim(b, s)))],
  });
  assert.is(outside([blocks(minDim(4, subDim(N, b)))]), undefined);
  assert.match(outside([blocks(4)], new Map([["N", 6]]))!, /of 6$/);
  assert.is(outside([blocks(4)], new Map([["N", 8]])), undefined);
});

test("a panel for a remainder where there is none is found", () => {
  const panels = (when: Stmt): Stmt[] => [when];
  const last = subDim(N, modDim(N, 4));
  const always: Stmt = { kind: "if", when: [], then: copy(last) };
  const right: Stmt = {
    kind: "if",
    when: [{ value: subDim(modDim(N, 4), 1), test: "nonnegative" }],
    then: copy(last),
  };
  for (let n = 1; n <= 70; n++) {
    const dims = new Map([["N", n]]);
    assert.is(outside(panels(always), dims) === undefined, n % 4 !== 0, `${n}`);
    assert.is(outside(panels(right), dims), undefined, `${n}`);
  }
});

test("what is only known at run time lies inside where it is clamped", () => {
  const at = loopVar("at'", N);
  const index = { kind: "index", value: subDim(N, 1), dtype: "i32" } as const;
  const any = load("x@", 0, "i32");
  const low = call("maximum", "i32", any, { kind: "const", dtype: "i32", value: 0 });
  const bind = (value: typeof any): Stmt => ({ kind: "letDynamic", name: "at'", value });
  assert.is(outside([bind(call("minimum", "i32", low, index)), ...copy(at)]), undefined);
  assert.match(outside([bind(low), ...copy(at)])!, /^load from x@\[at'\]/);
});

test("a kernel that begins later has less", () => {
  const first = kernel([store("y@", 0, ref("z"))], 2);
  assert.is(findOutside(first, free, { starts: [0, 1] }), undefined);
  assert.match(findOutside(first, free, { starts: [0, 2] })!, /^store to y@\[0\]: 0 of 0$/);
});

const targets = ["js", "wasm", "webgpu"] as const;

for (const target of targets) {
  test(`${target}: kernels of golden programs are proved for all values of their symbols`, () => {
    for (const [name, make] of Object.entries(programs)) {
      const { kernels, proved } = staysInside(make(), { target });
      assert.is(proved, kernels, name);
    }
  });

  test(`${target}: no kernel of a random program reaches outside, and few are not proved`, () => {
    let [kernels, proved] = [0, 0];
    fc.assert(
      fc.property(randomProgram({ symbolic: true }), fc.boolean(), ({ program }, fusion) => {
        const counts = staysInside(sized(program), { target, fusion }, { few: true });
        kernels += counts.kernels;
        proved += counts.proved;
      }),
      { numRuns: runs(60) },
    );
    assert.ok(proved >= 0.9 * kernels, `${proved} of ${kernels}`);
  });

  for (const shape of [
    ["N", 2],
    ["N", 40],
    [3, "N"],
    [5, 33],
  ] as const)
    for (const axis of [0, 1])
      test(`${target}: a sort of [${shape}] along ${axis} is proved for all N`, () => {
        const x = input("x", "f32", shape);
        const outputs = [{ name: "y", value: argSort(x, axis) }];
        const counts = staysInside({ inputs: [x], outputs, updates: [] }, { target });
        assert.equal(counts, { kernels: 1, proved: 1 });
      });
}

for (const K of [1, 7])
  for (const columns of [3, 9])
    test(`rows that run along memory: 1 to 70 of them, K ${K}, ${columns} columns`, () => {
      const a = input("a", "f32", [2, K, dim("T")]);
      const b = input("b", "f32", [2, K, columns]);
      const value = a.swapAxes(-1, -2).matmul(b);
      const program = { inputs: [a, b], outputs: [{ name: "y", value }], updates: [] };
      staysInside(program, { target: "wasm" }, { all: true });
    });

test.run();
