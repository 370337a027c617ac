/**
 * Standalone programs of C: built by GCC and Clang with all warnings as errors, in vectors of 4, 8
 * and 16 lanes, and compared with the reference; their weights, errors and interface.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Artifact } from "@kiln-ml/artifact";
import { input, type Tensor, type Value } from "@kiln-ml/ir";
import fc from "fast-check";
import { compile, exportArtifact, nn, optim, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { standaloneOf } from "../../packages/kiln/src/cli/standalone/files.ts";
import { randomFlow } from "../control-flow/random.ts";
import { randomProgram } from "../support/graphs.ts";
import { nativeHere } from "../support/native.ts";
import { evaluateProgram, printProgram } from "../support/reference.ts";
import { runs } from "../support/setup.ts";
import { skip } from "../support/skip.ts";
import {
  artifactOf,
  type Built,
  compilersHere,
  joined,
  StandaloneModel,
  scratch,
  strict,
  writeFiles,
} from "./standalone-library.ts";

const absent = typeof nativeHere === "string" ? nativeHere : undefined;

/** For each compiler; without koffi, or where one is not here, counted by name. */
function eachCompiler(name: string, body: (cc: string) => Promise<void>): void {
  for (const cc of ["gcc", "clang"]) {
    const why = absent ?? (compilersHere.includes(cc) ? undefined : `${cc} is not here`);
    if (why) skip(`${name}, ${cc}`, why);
    else test(`${name}, ${cc}`, () => body(cc));
  }
}

const near = (got: number, want: number, scale: number): boolean =>
  Object.is(got, want) ||
  got === want ||
  Math.abs(got - want) <= scale * Math.max(1, Math.abs(want));

async function agrees(
  { program, feeds }: ReturnType<typeof joined>,
  how: Built,
  dims: Readonly<Record<string, number>> = {},
): Promise<void> {
  const want = evaluateProgram(program, feeds, dims);
  const artifact = artifactOf(program, feeds, how.lanes);
  const built = await StandaloneModel.build(artifact, how);
  const model = built.open();
  const shapes = want.map(({ shape }) => shape as number[]);
  const given = artifact.signature.dims.map(({ name }) => dims[name]!);
  const inputs = program.inputs.map((t) => feeds.get(t)!);
  const values = built.run(model, inputs, shapes, given);
  built.calls.free(model);
  for (const [i, v] of values.entries()) {
    const scale = v.dtype === "f32" ? 2e-5 : v.dtype === "f64" ? 1e-12 : 0;
    const k = [...v.data].findIndex((x, at) => !near(x, want[i]!.data[at]!, scale));
    assert.is(
      k,
      -1,
      `result ${i}, ${how.lanes} lanes: ${v.data}, want ${want[i]!.data}\n${printProgram(program)}`,
    );
  }
}

const dtypes = ["f32", "f32", "i32", "u32", "bool", "f64", "i8", "u8"] as const;

/** Programs of every dtype, other ones for each seed. */
const sampled = (seed: number) =>
  joined(
    fc
      .sample(randomProgram({ maxDepth: 6, dtypes }), { numRuns: runs(16), seed })
      .map(({ program, feeds }) => ({ program, feeds: () => feeds() })),
  );

for (const lanes of [4, 8, 16])
  eachCompiler(`standalone programs of ${lanes} lanes agree with the reference`, (cc) =>
    agrees(sampled(lanes), { cc, lanes }),
  );

eachCompiler("vectors are cut to what any processor of the kind has", (cc) =>
  agrees(sampled(5), { cc, lanes: 16, march: "" }),
);

eachCompiler("loops and branches of a standalone program are those of its plan", async (cc) => {
  const samples = (["f32", "f64"] as const).flatMap((dtype) =>
    fc.sample(randomFlow(dtype), { numRuns: runs(8), seed: 3 }),
  );
  const three = samples.map(({ program, feeds }) => ({ program, feeds: () => feeds(3) }));
  await agrees(joined(three), { cc, lanes: 8 }, { T: 3 });
});

function training() {
  nn.seed(1);
  const net = new nn.Sequential(
    new nn.Linear(20, 33),
    (x: Tensor) => x.tanh(),
    new nn.Linear(33, 7),
  );
  const optimizer = new optim.Adam((net as nn.Layer).parameters(), { lr: 0.01 });
  const step = (x: Tensor, y: Tensor) => {
    const error = (net as nn.Layer).forward(x).softmax(-1).sub(y);
    const loss = error.mul(error).mean();
    optimizer.step(loss);
    return loss;
  };
  return {
    step,
    inputs: [
      ["N", 20],
      ["N", 7],
    ] as const,
  };
}

const wave = (n: number, by: number): Float64Array =>
  Float64Array.from({ length: n }, (_, i) => Math.fround(Math.sin(i * by)));

const batch = (n: number): Value[] => [
  { dtype: "f32", shape: [n, 20], data: wave(20 * n, 0.37) },
  { dtype: "f32", shape: [n, 7], data: wave(7 * n, 0.11) },
];

async function exported(lanes: number): Promise<Artifact> {
  const { step, inputs } = training();
  const features = [`lanes-${lanes}`];
  return exportArtifact(step as never, { inputs: inputs as never, target: "native", features });
}

eachCompiler("a training step keeps its states, for any batch, as js does", async (cc) => {
  const { step } = training();
  const js = compile(step as never, { target: "js" }) as (...x: Tensor[]) => Promise<Tensor>;
  const built = await StandaloneModel.build(await exported(8), { cc, lanes: 8, embed: true });
  const model = built.open(null);
  for (const n of [5, 37, 200, 3]) {
    const values = batch(n);
    const [loss] = built.run(model, values, [[]], [n]);
    const given = values.map((v) =>
      tensor(Float32Array.from(v.data), { shape: v.shape as number[] }),
    );
    const [wanted] = await (await js(...given)).data();
    assert.ok(
      Math.abs(loss!.data[0]! - Number(wanted)) < 1e-5,
      `${n}: ${loss!.data[0]}, ${wanted}`,
    );
  }
  built.calls.free(model);
});

eachCompiler("what goes wrong is said, and nothing runs", async (cc) => {
  const built = await StandaloneModel.build(await exported(4), { cc, lanes: 4 });
  const refused = (body: () => unknown, why: string): void => {
    assert.throws(body, (e: Error) => e.message === why, why);
  };
  const path = join(built.folder, "other.weights");
  const bytes = readFileSync(built.weights);
  writeFileSync(path, bytes.subarray(0, bytes.length - 1));
  refused(() => built.open(path), "the weights are not whole");
  bytes[20] = bytes[20]! ^ 1;
  writeFileSync(path, bytes);
  refused(() => built.open(path), "the weights are not those of this program");
  refused(() => built.open(null), "the weights cannot be opened");
  const model = built.open();
  // Zeros, which as a table are pointers to nothing.
  const [none, one] = [new Uint8Array(4096), new Uint8Array(4096).fill(1, 0, 1)];
  const told = (dims: number): string => {
    const nothing = built.address(none);
    assert.is(built.calls.run(model, dims, nothing, nothing), -1);
    return built.calls.error();
  };
  assert.is(told(0), "no dims are given");
  assert.is(told(built.address(one)), "input arg0 is NULL");
  refused(() => built.run(model, batch(1), [[]], [-1]), "dim N is from 1 to 2147483647");
  refused(() => built.run(model, batch(1), [[]], [2 ** 31 - 1]), "a run needs more than 4 GiB");
  built.calls.free(model);
});

eachCompiler("a program may be called as a header is, and lie in a path of headers", async (cc) => {
  const artifact = await exported(8);
  for (const name of ["kiln", "math", "String", "limits", "int", "k0", "netz é"]) {
    const program = standaloneOf(artifact, { name, lanes: 8, embed: true });
    const folder = join(scratch, `named-${cc}-${program.prefix}`);
    writeFiles(folder, program);
    const flags = `${strict} -std=c11 -pedantic -fwrapv -I. -fsyntax-only ${program.prefix}.c`;
    const { status, stderr } = spawnSync(cc, flags.split(" "), { cwd: folder, encoding: "utf8" });
    assert.is(status, 0, `${name}: ${stderr}`);
  }
});

eachCompiler("weights may be part of a program that has none", async (cc) => {
  const x = input("x", "f32", [3]);
  const program: Program = { inputs: [x], outputs: [{ name: "y", value: x.add(1) }], updates: [] };
  const artifact = artifactOf(program, new Map(), 8);
  const flags = `${strict} -pedantic`;
  const built = await StandaloneModel.build(artifact, { cc, lanes: 8, embed: true, flags });
  const model = built.open(null);
  const value = { dtype: "f32", shape: [3], data: Float64Array.of(1, 2, 3) } as const;
  assert.equal([...built.run(model, [value], [[3]])[0]!.data], [2, 3, 4]);
  built.calls.free(model);
});

test.run();
