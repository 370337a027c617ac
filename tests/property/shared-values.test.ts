/**
 * Values that are used twice, made of values that are used twice, sixty levels deep: whoever walks expressions without
 * remembering where it was never comes to an end. Compiles only; the numbers are the affair of other tests.
 */
import {
  arange,
  constant,
  cumsum,
  dim,
  dimValue,
  gather,
  input,
  scatter,
  type Tensor,
  zeros,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";

const levels = 60;

/** Both operands of every op are the result of the one before. */
function doubled(from: Tensor): Tensor {
  let x = from;
  for (let i = 0; i < levels; i++) x = i % 2 ? x.shiftLeft(1).xor(x) : x.add(x.shiftRight(3));
  return x;
}

const n = dim("N");
const roots: Readonly<Record<string, () => Tensor>> = {
  "a constant": () => constant(7, "u32"),
  "an extent": () => dimValue(n, "u32"),
  "an input of one number": () => input("one", "u32"),
  "an element": () => input("x", "u32", [n]),
  "a position": () => arange(n, "u32"),
};

const wide = (t: Tensor): Tensor => t.broadcastTo([n]);
const uses: Readonly<Record<string, (t: Tensor) => Tensor>> = {
  "an elementwise op": (t) => wide(t).add(arange(n, "u32")),
  "a row and its sum": (t) => wide(t).sub(wide(t).max()),
  "a running sum": (t) => cumsum(wide(t).add(arange(n, "u32")), 0),
  "a product": (t) =>
    wide(t)
      .convert("f32")
      .expandDims(0)
      .matmul(input("w", "f32", [n, 8])),
  "places to read": (t) => gather(input("table", "f32", [64]), [wide(t).rem(64)], [0]),
  "places to write": (t) => scatter(zeros([64], "u32"), wide(t), [wide(t).rem(64)], [0]),
};

function inputsOf(roots: readonly Tensor[]): Tensor[] {
  const found = new Set<Tensor>();
  const walk = (t: Tensor): void => {
    if (found.has(t)) return;
    found.add(t);
    t.operands.forEach(walk);
  };
  roots.forEach(walk);
  return [...found].filter((t) => t.op === "input");
}

for (const [root, make] of Object.entries(roots))
  for (const target of ["js", "wasm", "webgpu"] as const)
    test(`${target}: what is shared is walked once: ${root}`, () => {
      for (const [use, of] of Object.entries(uses)) {
        const value = of(doubled(make()));
        // The extent needs an input that has it.
        const inputs = [...new Set([...inputsOf([value]), input("size", "f32", [n])])];
        const program = { inputs, outputs: [{ name: "y", value }], updates: [] };
        const { artifact } = compileProgram(program, { target });
        for (const k of artifact.kernels)
          assert.ok(k.text.length < 100_000, `${use}: ${k.name} has ${k.text.length} characters`);
      }
    });

test.run();
