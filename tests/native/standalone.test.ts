/**
 * Standalone programs of C: built by GCC and Clang with all warnings as errors, in vectors of 4, 8
 * and 16 lanes, and compared with the reference; their weights, errors and interface.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Artifact } from "@kiln-ml/artifact";
import { hostDataOf, type Tensor, toHost, type Value } from "@kiln-ml/ir";
import fc from "fast-check";
import { compile, exportArtifact, nn, optim, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { randomFlow } from "../control-flow/random.ts";
import { randomProgram } from "../support/graphs.ts";
import { nativeHere } from "../support/native.ts";
import { evaluateProgram, printProgram } from "../support/reference.ts";
import { runs } from "../support/setup.ts";
import { skip } from "../support/skip.ts";
import { type Built, compilersHere, StandaloneModel } from "./standalone-library.ts";

const absent = typeof nativeHere === "string" ? nativeHere : undefined;

/** For each compiler; without koffi, or where one is not here, counted by name. */
function eachCompiler(name: string, body: (cc: string) => Promise<void>): void {
  for (const cc of ["gcc", "clang"]) {
    const why = absent ?? (compilersHere.includes(cc) ? undefined : `${cc} is not here`);
    if (why) skip(`${name}, ${cc}`, why);
    else test(`${name}, ${cc}`, () => body(cc));
  }
}

/** A library for several programs takes the compiler once. */
function joined(sample: readonly { program: Program; feeds(): Map<Tensor, Value> }[]) {
  const feeds = new Map<Tensor, Value>();
  for (const { feeds: of } of sample) for (const [t, v] of of()) feeds.set(t, v);
  const parts = sample.map(({ program }) => program);
  const program: Program = {
    inputs: [...new Set(parts.flatMap((p) => p.inputs))],
    outputs: parts.flatMap((p, i) => p.outputs.map((o) => ({ ...o, name: `${o.name}_${i}` }))),
    updates: [],
  };
  return { program, feeds };
}

/** What a leaf holds; of one that is only written any value will do. */
const hostOf = (t: Tensor, value: Value | undefined) => {
  if (t.op === "data") return hostDataOf(t);
  const zeros = () => new Array<number>((t.shape as number[]).reduce((a, b) => a * b, 1)).fill(0);
  return toHost(t.dtype, value?.data ?? zeros());
};

/** The artifact of a program with what its states are fed as weights. */
function artifactOf(program: Program, feeds: ReadonlyMap<Tensor, Value>, lanes: number): Artifact {
  const options = { target: "native", features: [`lanes-${lanes}`] } as const;
  const { artifact, states } = compileProgram(program, options);
  const weights = states.map((t, i) => {
    const { dtype, shape } = artifact.signature.states[i]!;
    const host = hostOf(t, feeds.get(t)) as ArrayBufferView;
    const data = new Uint8Array(host.buffer, host.byteOffset, host.byteLength);
    return [artifact.signature.states[i]!.name, { dtype, shape, data }] as const;
  });
  return { ...artifact, weights: Object.fromEntries(weights) };
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
  refused(() => built.run(model, batch(1), [[]], [-1]), "dim N is from 1 to 2147483647");
  refused(() => built.run(model, batch(1), [[]], [2 ** 31 - 1]), "a run needs more than 4 GiB");
  built.calls.free(model);
});

test.run();
