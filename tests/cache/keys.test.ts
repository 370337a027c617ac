/**
 * The keys of kept programs: equal for what is compiled alike, and different for whatever differs,
 * however little.
 */
import { createHash } from "node:crypto";
import type { Artifact } from "@kiln-ml/artifact";
import type { Program } from "@kiln-ml/compiler";
import {
  compileProgram,
  nodesOf,
  rewriteProgram,
  sameProgram,
  targetNames,
} from "@kiln-ml/compiler/all";
import {
  constant,
  dataLeaf,
  dim,
  input,
  iota,
  param,
  random,
  scan,
  type Tensor,
  tensor,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { decodeEntry, encodeEntry } from "../../packages/kiln/src/cache/entry.ts";
import { type KeyOptions, programKey } from "../../packages/kiln/src/cache/key.ts";
import type { Store } from "../../packages/kiln/src/cache/store.ts";
import { randomProgram } from "../support/graphs.ts";
import { runs } from "../support/setup.ts";

const hashOf = (what: string | Uint8Array) => createHash("sha256").update(what).digest("hex");
const js: KeyOptions = { target: "js" };
const programOf = (inputs: readonly Tensor[], ...values: readonly Tensor[]): Program => ({
  inputs,
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});
const of = (make: (x: Tensor) => Tensor): Program => {
  const x = input("x", "f32", [4, 6]);
  return programOf([x], make(x));
};

/** Programs of which each differs from all others in one place. */
function neighbours(): Record<string, Program> {
  const x = input("x", "f32", [4, 6]);
  const z = input("z", "f32", [4, 6]);
  const [a, b] = ["a", "b"].map((name) => param(tensor([[1], [2]]), { name }));
  const still = param(tensor([[1], [2]]), { name: "a", trainable: false });
  const sized = (min: number, max?: number) => {
    const n = input("n", "f32", [dim("N", max === undefined ? { min } : { min, max })]);
    return programOf([n], n.mul(2));
  };
  const y = x.add(1);
  const loop = (reverse: boolean, by: number) =>
    of((t) => {
      const start = t.sum(0);
      return scan([start], [t], ([c], [r]) => ({ carry: [c!.add(r!.mul(by))], ys: [] }), {
        reverse,
      }).carry[0]!;
    });
  return {
    plain: of((t) => t.add(1)),
    "another constant": of((t) => t.add(2)),
    "the next constant": of((t) => t.add(1 + 2 ** -23)),
    zero: of((t) => t.mul(0)),
    "minus zero": of((t) => t.mul(-0)),
    "not a number": of((t) => t.mul(Number.NaN)),
    "an axis": of((t) => t.sum(0)),
    "the other axis": of((t) => t.sum(1)),
    dtype: programOf([input("x", "i32", [4, 6])].slice(0, 0), iota([4, 6], 0, "i32")),
    "another dtype": programOf([], iota([4, 6], 0, "u32")),
    "one less the other": programOf([x, z], x.sub(z)),
    "the other less the one": programOf([x, z], z.sub(x)),
    "inputs the other way": programOf([z, x], x.sub(z)),
    "an input that nobody reads": programOf([x, z], y),
    "twice the same": programOf([x], y, y),
    "one and the other": programOf([x], y, x.add(3)),
    "the other and the one": programOf([x], x.add(3), y),
    "another name": { ...programOf([x], y), outputs: [{ name: "loss", value: y }] },
    "a parameter": programOf([], a!.mul(2)),
    "another parameter": programOf([], b!.mul(2)),
    "a parameter that is not trained": programOf([], still.mul(2)),
    "an update": { inputs: [], outputs: [], updates: [[a!, a!.add(b!)]] },
    "an update of the other": { inputs: [], outputs: [], updates: [[b!, a!.add(b!)]] },
    "two updates": {
      inputs: [],
      outputs: [],
      updates: [
        [a!, a!.add(1)],
        [b!, b!.add(1)],
      ],
    },
    "two updates, exchanged": {
      inputs: [],
      outputs: [],
      updates: [
        [a!, b!.add(1)],
        [b!, a!.add(1)],
      ],
    },
    "one or more": sized(1),
    "none or more": sized(0),
    "at most eight": sized(1, 8),
    "a requirement": {
      ...programOf([x], y),
      requirements: [{ value: dim("N"), text: "N is too small" }],
    },
    "another text of it": {
      ...programOf([x], y),
      requirements: [{ value: dim("N"), text: "N is small" }],
    },
    "a loop": loop(false, 1),
    "a loop from the end": loop(true, 1),
    "a loop with another body": loop(false, 2),
    "random numbers": programOf([], random.uniform(random.key(1), [4])),
    others: programOf([], random.uniform(random.key(2), [5])),
    "a value": programOf([], constant(1).add(tensor(2))),
    "a value of another type": programOf([], constant(1, "i32").add(tensor(2, { dtype: "i32" }))),
  };
}

test("programs that differ in one place have different keys", () => {
  const names = new Map<string, string>();
  for (const [name, program] of Object.entries(neighbours())) {
    const key = programKey(program, js)!;
    assert.is(names.get(key), undefined, `${name} is taken for ${names.get(key)}`);
    names.set(key, name);
  }
});

test("options that decide the text of kernels are in the key", () => {
  const program = of((t) => t.exp().sum(1));
  const all: KeyOptions[] = [
    js,
    { target: "wasm" },
    { target: "webgpu" },
    { target: "js", fusion: false },
    { target: "js", rounding: "each-op" },
    { target: "webgpu", limits: { maxBufferSize: 1024 } },
    { target: "webgpu", limits: { maxBufferSize: 2048 } },
    { target: "webgpu", features: ["shader-f16"] },
    { target: "webgpu", features: ["subgroups"] },
    { target: "js", tuning: {} },
    { target: "js", tuning: { sum: "16" } },
    { target: "js", tuning: { sum: "32" } },
  ];
  const keys = new Set(all.map((options) => programKey(program, options)));
  assert.is(keys.size, all.length);
  const said = programKey(program, { target: "js", fusion: true, rounding: "on-store" });
  assert.is(said, programKey(program, js), "what is the default need not be said");
});

test("what was built before does not change a key", () => {
  const make = () => of((t) => t.mul(3.25).tanh().add(t.mul(1.75)).sum(0));
  const first = programKey(make(), js);
  // The same nodes in another order of making, and with others between them.
  constant(1.75);
  const x = input("x", "f32", [4, 6]);
  const right = x.mul(1.75);
  const left = x.mul(3.25).tanh();
  assert.is(programKey(programOf([x], left.add(right).sum(0)), js), first);
});

test("what is read from an entry is what was compiled, byte for byte, for random programs", async () => {
  const encoder = { digest: (what: string | Uint8Array) => hashOf(what) } as Store;
  const textOf = ({ signature, kernels, modules, plan }: Artifact) => {
    const texts = kernels.map((k) => (modules ? { ...k, text: "" } : k));
    const bytes = modules && [...modules.plain, -1, ...modules.relaxed];
    return JSON.stringify({ signature, texts, plan, bytes });
  };
  await fc.assert(
    fc.asyncProperty(randomProgram(), fc.constantFrom(...targetNames), async (random, target) => {
      const { program } = random;
      const { artifact } = compileProgram(program, { target });
      const key = hashOf(programKey(program, { target })!);
      const entry = await encodeEntry(key, artifact, encoder);
      assert.is(textOf(await decodeEntry(key, entry, encoder)), textOf(artifact));
    }),
    { numRuns: runs(40) },
  );
});

test("other values of data and parameters leave the key and the artifact of a program", () => {
  const made = (scale: number, target: (typeof targetNames)[number]) => {
    const values = [0, 1, -0, Number.NaN, 2].map((v) => (v + 1) * scale);
    const w = param(tensor(values), { name: "w" });
    const table = dataLeaf("i32", [3], Int32Array.of(0, scale, 2 * scale));
    const program: Program = {
      inputs: [],
      outputs: [{ name: "y", value: w.mul(2).sum(0).add(table.mul(2).sum(0).convert("f32")) }],
      updates: [[w, w.mul(dataLeaf("f32", [5], new Float32Array(5).fill(scale)))]],
    };
    const { weights: _, modules, ...rest } = compileProgram(program, { target }).artifact;
    const bytes = modules && [...modules.plain, -1, ...modules.relaxed];
    return { key: programKey(program, { target }), text: JSON.stringify({ rest, bytes }) };
  };
  for (const target of targetNames) {
    const zeros = made(0, target);
    for (const scale of [1, 7]) assert.equal(made(scale, target), zeros);
  }
});

test("random programs that differ by one node have different keys", () => {
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), ({ program }) => {
      const seen = [program];
      const keys = new Set([programKey(program, js)]);
      const nodes = nodesOf(program);
      const changed = nodes.map((at) => {
        if (at.op === "input" || at.dtype === "bool") return program;
        return rewriteProgram(program, (node, before) => (before === at ? node.abs() : node));
      });
      for (const other of changed) {
        if (seen.some((p) => sameProgram(p, other))) continue;
        seen.push(other);
        const key = programKey(other, js);
        assert.not.ok(keys.has(key));
        keys.add(key);
      }
    }),
    { numRuns: runs(60) },
  );
});

test.run();
